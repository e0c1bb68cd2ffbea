import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isoTime } from '../../core/time.js'
import { writeFileDurably } from '../../data/durable-file.js'
import { inProject } from '../launcher/binaries.js'
import type { CalendarVenue } from './keep-calendar.js'

/** `./venue market` did not do it; the message is what it printed. */
export class NotOperated extends Error {
  override readonly name = 'NotOperated'
}

export interface VenueCommands extends Pick<CalendarVenue, 'add' | 'disable'> {
  /** Ends a command that runs; none is begun from then on. */
  readonly stop: () => void
}

export interface VenueCommandsOptions {
  readonly dataDir: string
  /** The settings of the venue, without keys. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The operator's commands, each a process of its own, as they are typed on this machine. Both throw NotOperated. */
export function venueCommands({ dataDir, env }: VenueCommandsOptions): VenueCommands {
  let running: ChildProcess | undefined
  let isOver = false
  /** Resolves with what it printed. */
  const operate = async (...words: readonly string[]): Promise<string> => {
    if (isOver) throw new NotOperated(`./venue market ${words.join(' ')}: the feeder stops`)
    const child = spawn(inProject('venue'), ['market', ...words], { cwd: inProject('.'), env })
    running = child
    let [output, problem] = ['', '']
    child.stdout.on('data', (part: Buffer) => (output += part.toString()))
    child.stderr.on('data', (part: Buffer) => (problem += part.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    running = undefined
    if (code !== 0)
      throw new NotOperated(`./venue market ${words.join(' ')}: ${(problem || output).trim()}`)
    return output
  }
  return {
    async add(expirySec) {
      const file = join(dataDir, 'next-series.json')
      await writeFileDurably(
        file,
        await operate('row', isoTime(expirySec * 1_000).replace('.000Z', 'Z')),
      )
      await operate('add', file, '--reason', 'calendar')
    },
    disable: async (market, reason) => void (await operate('disable', market, '--reason', reason)),
    stop: () => {
      isOver = true
      running?.kill()
    },
  }
}
