import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import { atPace, createHttpLoad, saturate, type HttpLoad } from './http-load.js'
import { orderFlow, signersOf, type OrderFlow } from './order-flow.js'
import type { OwnVenue } from './own-venue.js'
import { residentKibOf } from './process-usage.js'
import { percentile } from './rounds.js'

export const soak: Bench = {
  name: 'soak',
  title:
    'Orders and cancels at a constant pace for a long time: the memory of each process and the disk.',
  versionsOf: ['nats-server', 'better-sqlite3'],
  run,
}

/** Without `--hours`. */
const HOURS = { tiny: 0.0003, usual: 0.05, full: 1 }
const WARM = { tiny: 60, usual: 15_000, full: 15_000 }
const PER_SECOND = { tiny: 60, usual: 400, full: 400 }
/** Looks at the venue, evenly over the time. */
const SAMPLES = { tiny: 3, usual: 12, full: 24 }
/** Orders that rest after each part. */
const KEPT = 5_000
const CONNECTIONS = 256
/** What an order leaves behind is written by then. */
const SETTLED_MS = 1_000
const MEBIBYTE = 1024 * 1024
const MS_PER_HOUR = 3_600_000

interface Sample {
  readonly requests: number
  readonly residentMib: Readonly<Record<string, number>>
  readonly diskMib: number
  /** By stream, database and the rest. */
  readonly storedMib: Readonly<Record<string, number>>
  readonly p99Ms: number
}

async function run({
  size,
  dir,
  hours = HOURS[size],
  say,
  startVenue,
}: BenchContext): Promise<Report> {
  const venue = await startVenue({ dir: join(dir, 'venue'), env: { DEVNET_SAVE_CHAIN: '0' } })
  try {
    const load = createHttpLoad(Number(new URL(venue.devnet.gateway_url).port), CONNECTIONS)
    const flow = orderFlow(await signersOf(venue.devnet))
    await saturate(load, await flow.next(WARM[size]), CONNECTIONS)
    const stand = { venue, load, flow }
    const part = Math.ceil((hours * MS_PER_HOUR * PER_SECOND[size]) / 1000 / SAMPLES[size])
    const samples = [await look(stand, 0, 0)]
    for (let requests = part; samples.length <= SAMPLES[size]; requests += part) {
      const { latenciesMs } = await atPace(load, await flow.next(part), PER_SECOND[size])
      samples.push(await look(stand, requests, percentile(latenciesMs, 0.99)))
      say(lineOf(samples.at(-1)))
    }
    return reportOf(samples, { hours, perSecond: PER_SECOND[size] })
  } finally {
    await venue.stop()
  }
}

interface Stand {
  readonly venue: OwnVenue
  readonly load: HttpLoad
  readonly flow: OrderFlow
}

/** Cancels all but the newest orders and reads what the venue takes then. */
async function look(
  { venue, load, flow }: Stand,
  requests: number,
  p99Ms: number,
): Promise<Sample> {
  await saturate(load, flow.cancelAllBut(KEPT), CONNECTIONS)
  await delay(SETTLED_MS)
  const pids = Object.entries(await venue.pids())
  const residentMib = Object.fromEntries(
    pids.map(([name, pid]) => [name, residentKibOf(pid) / 1024]),
  )
  const stored = storedIn(venue.dir)
  const storedMib = Object.fromEntries(Array.from(stored, ([part, it]) => [part, it / MEBIBYTE]))
  const diskMib = Object.values(storedMib).reduce((sum, mib) => sum + mib, 0)
  return { requests, residentMib, diskMib, storedMib, p99Ms }
}

/** Bytes of all files below the directory, by part of the venue; one that disappears meanwhile has none. */
function storedIn(dir: string): Map<string, number> {
  const stored = new Map<string, number>()
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const part = partOf(relative(dir, path))
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    stored.set(part, (stored.get(part) ?? 0) + bytes)
  }
  return stored
}

/** The stream, the database with its write-ahead log, or what else of the venue a file belongs to. */
function partOf(path: string): string {
  const [, stream] = /\/streams\/([^/]+)\//.exec(path) ?? []
  if (stream !== undefined) return stream
  const [, database] = /^([\w-]+\.db)(?:-wal|-shm)?$/.exec(path) ?? []
  if (database !== undefined) return database
  return path.startsWith('logs/') ? 'logs' : 'other files'
}

const lineOf = (sample: Sample | undefined): string =>
  sample === undefined
    ? ''
    : `${sample.requests} requests, ${Math.round(sample.diskMib)} MiB on disk, p99 ${sample.p99Ms.toFixed(1)} ms, MiB ${byProcess(sample)}`

const byProcess = ({ residentMib }: Sample): string =>
  Object.entries(residentMib)
    .map(([name, mib]) => `${name} ${Math.round(mib)}`)
    .join(', ')

/** The growth is counted from the middle of the run on: before, heaps grow to the size that their load needs. */
function reportOf(
  samples: readonly Sample[],
  { hours, perSecond }: { readonly hours: number; readonly perSecond: number },
): Report {
  const first = samples[0] as Sample
  const last = samples.at(-1) as Sample
  const middle = samples[Math.floor(samples.length / 2)] as Sample
  const millions = (last.requests - first.requests) / 1e6
  const total = ({ residentMib }: Sample): number =>
    Object.values(residentMib).reduce((sum, mib) => sum + mib, 0)
  const growth = (name: string): Row => {
    const from = middle.residentMib[name] ?? 0
    const to = last.residentMib[name] ?? 0
    return { what: `memory of ${name} at the end / in the middle`, unit: 'x', values: [to / from] }
  }
  return {
    rows: [
      { what: 'requests', unit: '', values: [last.requests] },
      {
        what: 'disk of a million requests',
        unit: 'MiB',
        values: [(last.diskMib - first.diskMib) / millions],
      },
      ...Object.keys(last.storedMib)
        .toSorted()
        .map((part) => ({
          what: `of it ${part}`,
          unit: 'MiB' as const,
          values: [((last.storedMib[part] ?? 0) - (first.storedMib[part] ?? 0)) / millions],
        })),
      { what: 'memory of all processes after the warm-up', unit: 'MiB', values: [total(first)] },
      { what: 'memory of all processes at the end', unit: 'MiB', values: [total(last)] },
      ...Object.keys(last.residentMib).map(growth),
      {
        what: 'p99 of the last part / the first',
        unit: 'x',
        values: [last.p99Ms / (samples[1] as Sample).p99Ms],
      },
    ],
    notes: [
      `${perSecond} requests a second for ${hours} hours: two orders and the cancel of an earlier one in turn. After each part all orders but the newest ${KEPT} are cancelled. The log of commands is kept for a week, the feed and the history for ever; what is on disk includes the venue's own log files, which are bounded.`,
      `Memory at the end, MiB: ${byProcess(last)}.`,
    ],
  }
}
