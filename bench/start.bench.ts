import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, BenchContext, Report, Size } from './bench.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { memoryKibOf, type Memory } from './process-usage.js'
import { median, ratio } from './rounds.js'

export const start: Bench = {
  name: 'start',
  title:
    'Start of a built venue with everything that it has, until it is ready: in an empty directory, where the contracts are deployed, and once more; and the memory that it takes without orders.',
  versionsOf: ['anvil', 'nats-server', 'viem'],
  run,
}

/** How long the venue is left alone before its memory is read. */
const IDLE_MS = { tiny: 500, usual: 15_000, full: 60_000 }
/** Everything that a venue can have. */
const WHOLE = {
  markets: ['cNGN-USDC', 'cNGN-PERP'],
  env: { DEMO_MAKER: '1', DEVNET_FEEDER: '1' },
}
/** Not a process of the venue. */
const CHAIN = 'chain'
const KIB_PER_MIB = 1024

interface Started {
  readonly firstSec: number
  readonly againSec: number
  /** By process. */
  readonly memory: Readonly<Record<string, Memory>>
}

async function run({ size, rounds, dir }: BenchContext): Promise<Report> {
  const started: Started[] = []
  // No round warms anything up: each is a new venue. One shows that the bench runs.
  const starts = size === 'tiny' ? 1 : rounds
  for (let round = 0; round < starts; round += 1) {
    const place = join(dir, `venue-${round}`)
    const first = await timed(place, size)
    await delay(IDLE_MS[size])
    const memory = await memoryOf(first.venue)
    await first.venue.stop()
    const again = await timed(place, size)
    await again.venue.stop()
    started.push({ firstSec: first.sec, againSec: again.sec, memory })
  }
  return reportOf(started, IDLE_MS[size])
}

async function timed(
  dir: string,
  size: Size,
): Promise<{ readonly venue: OwnVenue; readonly sec: number }> {
  const from = performance.now()
  const venue = await startOwnVenue({ dir, ...(size !== 'tiny' && WHOLE) })
  return { venue, sec: (performance.now() - from) / 1000 }
}

async function memoryOf(venue: OwnVenue): Promise<Record<string, Memory>> {
  const pids = Object.entries(await venue.pids())
  return Object.fromEntries(pids.map(([name, pid]) => [name, memoryKibOf(pid)]))
}

function reportOf(started: readonly Started[], idleMs: number): Report {
  const first = started.map(({ firstSec }) => firstSec)
  const again = started.map(({ againSec }) => againSec)
  const names = Object.keys(started[0]?.memory ?? {})
  const mib = (kind: keyof Memory, name: string) =>
    started.map(({ memory }) => (memory[name]?.[kind] ?? 0) / KIB_PER_MIB)
  const whole = (kind: keyof Memory) =>
    started.map((_, round) =>
      names
        .filter((name) => name !== CHAIN)
        .reduce((sum, name) => sum + (mib(kind, name)[round] ?? 0), 0),
    )
  const each = names
    .map((name) => `${name} ${Math.round(median(mib('proportional', name)))}`)
    .join(', ')
  return {
    rows: [
      { what: 'first start', unit: 's', values: first, goal: { atMost: 15 } },
      { what: 'a start after it', unit: 's', values: again, goal: { atMost: 15 } },
      ratio('first start / one after it', [first, again]),
      {
        what: 'memory of all processes but the chain, idle, shared pages counted once',
        unit: 'MiB',
        values: whole('proportional'),
        goal: { atMost: 1024 },
      },
      {
        what: 'the same with shared pages counted for each process',
        unit: 'MiB',
        values: whole('resident'),
        goal: { atMost: 1024 },
      },
    ],
    notes: [
      `With both markets of the market file, the feeder and the demo maker, from the start of the launcher until it prints that the venue is ready. Memory is read ${idleMs / 1000} s later, from smaps_rollup: the program of node and its libraries are mapped by every process, and are one copy in memory. The launcher is not among them. By process, MiB, shared pages counted once: ${each}.`,
    ],
  }
}
