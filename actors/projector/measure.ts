import { stat } from 'node:fs/promises'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import type { Market } from '../../core/model/market.js'
import { isReporting, readStreamSizes } from '../../runtime/bus/nats-monitor.js'
import type { Metrics } from '../../runtime/metrics/metrics.js'
import { databaseFiles } from '../../data/places.js'

export interface MeasuredDisk {
  readonly dataDir: string
  readonly monitorUrls: readonly string[]
  /** Read anew each time: a market that is added is measured from then on. */
  readonly markets: readonly Market[]
  /** The newest change in the history database, by market; undefined for one that is not projected. */
  readonly projectedSeq: (market: string) => number | undefined
}

/** Reads at each scrape how far the history is, and what the venue keeps on disk. */
export function sampleDisk(metrics: Metrics, deps: MeasuredDisk): void {
  const { dataDir, monitorUrls, markets } = deps
  const sizes = keptFor(SCRAPE_MS, () => readStreamSizes(monitorUrls))
  metrics.sample('venue_follower_seq', () =>
    markets.flatMap(({ market }) => {
      const seq = deps.projectedSeq(market)
      return seq === undefined ? [] : [[{ follower: 'history', market }, seq] as const]
    }),
  )
  metrics.sample('venue_stream_bytes', async () =>
    (await sizes()).streams.map(({ name, bytes }) => [{ stream: name }, bytes]),
  )
  metrics.sample('venue_stream_last_seq', async () =>
    (await sizes()).streams.map(({ name, lastSeq }) => [
      { stream: name, ...roleOf(markets, name) },
      lastSeq,
    ]),
  )
  metrics.sample('venue_bus_server_up', () =>
    Promise.all(
      monitorUrls.map(async (url) => {
        const server = new URL(url).host
        return [{ server }, (await isReporting(url)) ? 1 : 0] as const
      }),
    ),
  )
  metrics.sample('venue_bus_used_bytes', async () => [[{}, (await sizes()).usedBytes]])
  metrics.sample('venue_bus_max_bytes', async () => [[{}, (await sizes()).maxBytes]])
  metrics.sample('venue_database_bytes', () => databaseSizes(dataDir))
}

/** The metrics of one scrape share an answer. */
const SCRAPE_MS = 1_000

function keptFor<Value>(ms: number, read: () => Promise<Value>): () => Promise<Value> {
  let kept: { readonly atMs: number; readonly value: Promise<Value> } | undefined
  return () => {
    const nowMs = performance.now()
    if (kept === undefined || nowMs - kept.atMs > ms) kept = { atMs: nowMs, value: read() }
    return kept.value
  }
}

function roleOf(markets: readonly Market[], stream: string) {
  for (const { market } of markets) {
    if (stream === commandsStream(market)) return { market, role: 'commands' }
    if (stream === feedStream(market)) return { market, role: 'feed' }
  }
  return { market: '', role: 'other' }
}

/** Undefined where there is no such file. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** Each `<name>.db` of the directory with its log and index; those of directories that this user may not read are left out. */
async function databaseSizes(dir: string) {
  const sizes = new Map<string, number>()
  for (const [name, path] of databaseFiles(dir))
    for (const part of ['', '-wal', '-shm']) {
      const size = await sizeOf(`${path}${part}`)
      if (size !== undefined) sizes.set(name, (sizes.get(name) ?? 0) + size)
    }
  return Array.from(sizes, ([file, bytes]) => [{ file }, bytes] as const)
}
