import { decodeBlock } from '../bus-schemas/blocks.js'
import { decodeGasStanding, decodePingAnswer } from '../bus-schemas/operations.js'
import { askGasStanding, askPing, feedStream } from '../bus-schemas/subjects.js'
import type { Market } from '../core/model/market.js'
import { isoTime } from '../core/time.js'
import type { GasStanding, TransferKind } from '../core/transfer.js'
import type { ReadModel } from '../data/history/read-model.js'
import type { ChainHealth, MarketHealth } from '../interface/venue.js'
import { BusUnavailable, NoAnswer, StreamMissing, type Bus } from '../runtime/bus/bus.js'

/** What `/readyz` and `/v1/health` report. Each part is asked at most once a second, however often it is requested. */

const CACHED_MS = 1_000
const ASK_TIMEOUT_MS = 1_000
const NO_BODY = new Uint8Array()

/** Keeps one answer per key for CACHED_MS. Keys are markets and transfer kinds, so the map is bounded by the venue. */
export function cached<Key, Value>(
  read: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const kept = new Map<Key, { readonly atMs: number; readonly value: Promise<Value> }>()
  return (key) => {
    const nowMs = performance.now()
    const last = kept.get(key)
    if (last !== undefined && nowMs - last.atMs < CACHED_MS) return last.value
    const value = read(key)
    kept.set(key, { atMs: nowMs, value })
    return value
  }
}

/** Parts that are not ready, by name, with the reason; empty when the venue is ready. */
export type MissingParts = Readonly<Record<string, string>>

export interface Readiness {
  /** At most a second old; never rejects. */
  missing(): Promise<MissingParts>
}

/** Resolves when a part is ready; rejects with the reason. */
type Probe = () => Promise<void>

export interface ReadinessOptions {
  readonly bus: Pick<Bus, 'ask' | 'isConnected'>
  readonly readModel: Pick<ReadModel, 'projectedSeq' | 'allTerms'>
  /** Always the same array. */
  readonly markets: readonly Market[]
  /** One of them leads. */
  readonly executorUrls: readonly URL[]
}

/** Probes every part of the venue that an order or a transfer needs, in parallel, at most once a second. */
export function createReadiness(options: ReadinessOptions): Readiness {
  const missing = cached(async (): Promise<MissingParts> => {
    const reasons = await Promise.all(
      Object.entries(probesOf(options)).map(
        async ([name, probe]) => [name, await reasonOf(probe)] as const,
      ),
    )
    return Object.fromEntries(reasons.filter(([, reason]) => reason !== ''))
  })
  return { missing: () => missing('all') }
}

async function reasonOf(probe: Probe): Promise<string> {
  try {
    await probe()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function probesOf({
  bus,
  readModel,
  markets,
  executorUrls,
}: ReadinessOptions): Record<string, Probe> {
  const enabled = markets.filter((market) => market.enabled)
  const processes = [
    'order-intake',
    ...enabled.map(({ market }) => `matcher-${market}`),
    'chain-reader',
    'projector',
    'ws-fanout',
    'deposit-submitter',
    'withdrawal-submitter',
  ]
  return {
    bus: () => (bus.isConnected() ? Promise.resolve() : Promise.reject(new Error('not connected'))),
    projection: async () => {
      for (const { market } of enabled) readModel.projectedSeq(market)
      await Promise.resolve()
    },
    ...Object.fromEntries(processes.map((name) => [name, () => ping(bus, name)])),
    markets: async () => {
      const lines = unregistered(readModel, markets)
      if (lines.length > 0) throw new Error(lines.join(', '))
      await Promise.resolve()
    },
    executor: () => probeAny(executorUrls.map((url) => new URL('/readyz', url))),
  }
}

/**
 * Markets that were opened, are not disabled, and are not in the register, which was deleted or rolled back: nothing matches,
 * settles or cancels their orders.
 */
const unregistered = (
  readModel: Pick<ReadModel, 'allTerms'>,
  markets: readonly Market[],
): string[] =>
  readModel.allTerms().flatMap(({ identity, enabled }) => {
    if (!enabled || markets.some(({ market }) => market === identity.market)) return []
    return [`${identity.market} has a log and is not registered: restore the stream MARKETS`]
  })

async function ping(bus: Pick<Bus, 'ask'>, name: string): Promise<void> {
  const answer = decodePingAnswer(await bus.ask(askPing(name), NO_BODY, ASK_TIMEOUT_MS))
  if (!answer.ready) throw new Error(answer.detail)
}

/** Rejects as the first one does when all do. */
async function probeAny(urls: readonly URL[]): Promise<void> {
  const looks = await Promise.allSettled(urls.map(probeHttp))
  const failed = looks.flatMap((look) => (look.status === 'rejected' ? [look.reason as Error] : []))
  if (failed.length === looks.length && failed[0] !== undefined) throw failed[0]
}

async function probeHttp(url: URL): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
  const text = await response.text()
  if (!response.ok) throw new Error(reasonIn(text) ?? `answered ${response.status}`)
}

/** The reason in the part's own `{error}`. */
function reasonIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}

/** Sequence of the newest change in a market's feed, at most a second old; undefined while the bus is down. */
export type FeedHeads = (market: string) => Promise<number | undefined>

/** Must be called with markets of the venue only. */
export const createFeedHeads = (bus: FeedBus): FeedHeads => cached(readFeedHeads(bus))

/** The same as they are now. */
export const readFeedHeads =
  (bus: FeedBus): FeedHeads =>
  (market) =>
    readFeedHead(bus, market)

type FeedBus = Pick<Bus, 'isConnected' | 'lastMessage'>

async function readFeedHead(bus: FeedBus, market: string): Promise<number | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    const newest = await bus.lastMessage(feedStream(market))
    if (newest === undefined) return 0
    const { firstSeq, changes } = decodeBlock(newest.data)
    return firstSeq + changes.length - 1
  } catch (error) {
    // The market's matcher has not created its feed yet.
    if (error instanceof StreamMissing) return 0
    if (error instanceof BusUnavailable) return undefined
    throw error
  }
}

/** What a market's matcher reports: matches whose outcome on chain is not known yet, and its trouble. */
type SettlementsHealth = Pick<
  MarketHealth,
  | 'pending_settlements'
  | 'oldest_pending_settlement_s'
  | 'late_settlements'
  | 'waiting_pairs'
  | 'trouble'
>

/** Pings a market's matcher; undefined while it does not answer. Never rejects. */
export function createSettlementsHealth(
  bus: Pick<Bus, 'ask'>,
): (market: string) => Promise<SettlementsHealth | undefined> {
  return cached(async (market) => {
    try {
      const answer = await bus.ask(askPing(`matcher-${market}`), NO_BODY, ASK_TIMEOUT_MS)
      const { ready, detail, positions } = decodePingAnswer(answer)
      const {
        pending_settlements: pending,
        oldest_pending_settlement_s: oldest,
        late_settlements: late,
        waiting_pairs: pairs,
      } = positions
      if (pending === undefined || oldest === undefined || late === undefined) return undefined
      return {
        pending_settlements: pending,
        oldest_pending_settlement_s: oldest,
        late_settlements: late,
        ...(pairs !== undefined && { waiting_pairs: pairs }),
        ...(!ready && { trouble: detail }),
      }
    } catch {
      // No matcher answers: readiness reports that, so health leaves the counts out.
      return undefined
    }
  })
}

/** State of a submitter's gas wallet, at most a second old; undefined while its submitter does not answer. */
export type GasStandings = (kind: TransferKind) => Promise<GasStanding | undefined>

export function createGasStandings(bus: Pick<Bus, 'ask' | 'isConnected'>): GasStandings {
  return cached(async (kind) => {
    if (!bus.isConnected()) return undefined
    try {
      return decodeGasStanding(await bus.ask(askGasStanding(kind), NO_BODY, ASK_TIMEOUT_MS))
    } catch (error) {
      if (error instanceof NoAnswer) return undefined
      throw error
    }
  })
}

/** Pings the chain reader; never rejects. */
export function createChainHealth(bus: Pick<Bus, 'ask'>): () => Promise<ChainHealth> {
  const read = cached(async (process: string): Promise<ChainHealth> => {
    try {
      const answer = await bus.ask(askPing(process), NO_BODY, ASK_TIMEOUT_MS)
      const { ready, detail, positions } = decodePingAnswer(answer)
      const { block_number: number, block_time_sec: sec } = positions
      return {
        status: ready ? 'ok' : 'degraded',
        detail,
        ...(number === undefined ? {} : { block_number: number }),
        ...(sec === undefined ? {} : { block_time: isoTime(sec * 1_000) }),
      }
    } catch {
      return { status: 'degraded', detail: 'the chain reader does not answer' }
    }
  })
  return () => read('chain-reader')
}
