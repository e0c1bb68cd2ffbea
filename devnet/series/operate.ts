import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { writeJsonDurably } from '../../data/durable-file.js'
import { readRows } from '../../data/markets.js'
import { inProject } from '../launcher/binaries.js'
import type { CalendarVenue } from './keep-calendar.js'

/** `./venue market` did not do it; the message is what it printed. */
export class NotOperated extends Error {
  override readonly name = 'NotOperated'
}

export interface VenueCommands extends CalendarVenue {
  /** Ends a command that runs; none is begun from then on. */
  stop(): void
}

export interface VenueCommandsOptions {
  readonly dataDir: string
  readonly marketsFile: string
  /** The settings of the venue, without keys. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The operator's commands, each a process of its own, as they are typed on this machine. Both throw NotOperated. */
export function venueCommands({ dataDir, marketsFile, env }: VenueCommandsOptions): VenueCommands {
  let running: ChildProcess | undefined
  let isOver = false
  const operate = async (...words: readonly string[]): Promise<void> => {
    if (isOver) throw new NotOperated(`./venue market ${words.join(' ')}: the feeder stops`)
    const child = spawn(inProject('venue'), ['market', ...words], { cwd: inProject('.'), env })
    running = child
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => (output += part.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    running = undefined
    if (code !== 0) throw new NotOperated(`./venue market ${words.join(' ')}: ${output.trim()}`)
  }
  return {
    rows: () => readRows(marketsFile),
    async add(row) {
      const file = join(dataDir, 'next-series.json')
      await writeJsonDurably(file, [row])
      await operate('add', file)
    },
    disable: (market, reason) => operate('disable', market, '--reason', reason),
    stop: () => {
      isOver = true
      running?.kill()
    },
  }
}
