import type { Market } from '../../core/model/market.js'
import type { MarketObservation } from '../../core/model/observation.js'
import type { BlockPlace } from '../reads/blocks.js'
import { createCircuitBreaker, type CircuitBreaker } from '../reads/client.js'
import { createExpiringCache, type CacheAnswer } from '../reads/expiring-cache.js'
import { unlessUnreadable } from '../reads/read-account.js'
import { observeMarket, type ObservingDeps } from './observe-account.js'

export interface HeadReadsOptions extends ObservingDeps {
  /** Skips reads while the node does not answer. */
  readonly breaker?: CircuitBreaker
  /** How long an answer may take. */
  readonly timeoutMs?: number
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs?: () => number
}

/** Reads of accounts for readers: each of the newest block, bounded in number and in time, shared for a moment. */
interface HeadReads<Value> {
  /**
   * Reads at a block that was the newest at most half a second ago, or gives what was read for the same key as lately.
   * Undefined when the chain gives no whole answer in time, or too many reads run.
   */
  read(key: string, ask: (head: BlockPlace) => Promise<Value>): CacheAnswer<Value | undefined>
  /** The facts of a market at the block; undefined where its contract type has none. */
  observe(market: Market, head: BlockPlace): CacheAnswer<MarketObservation | undefined>
}

/** How long a block counts as the newest, and how long an answer is shared. */
const SHARED_MS = 500
const TIMEOUT_MS = 5_000
const ACCOUNTS_MAX = 1_000
const MARKETS_MAX = 64
const RUNNING_MAX = 16
const WAITING_MAX = 256

export function createHeadReads<Value>(options: HeadReadsOptions): HeadReads<Value> {
  const { client, nowMs, timeoutMs = TIMEOUT_MS, breaker = createCircuitBreaker() } = options
  const { elapsedMs } = options
  const bounds = { ttlMs: SHARED_MS, ...(elapsedMs !== undefined && { nowMs: elapsedMs }) }
  const heads = createExpiringCache<BlockPlace>({ ...bounds, maxEntries: 1 })
  const observations = createExpiringCache<MarketObservation>({
    ...bounds,
    maxEntries: MARKETS_MAX,
  })
  const accounts = createExpiringCache<Value>({ ...bounds, maxEntries: ACCOUNTS_MAX })
  const bounded = createBoundedReads({ running: RUNNING_MAX, waiting: WAITING_MAX })
  return {
    read(key, ask) {
      const atHead = async (): Promise<Value | undefined> => {
        const head = await heads.get('', () => client.getBlock())
        return head && (await ask(head))
      }
      const load = () =>
        bounded(() => breaker.ask(() => withinTime(timeoutMs, () => unlessUnreadable(atHead))))
      return accounts.get(key, load)
    },
    observe: (market, head) =>
      observations.get(`${head.hash} ${market.market}`, () =>
        observeMarket(options, market, head, nowMs()),
      ),
  }
}

/** The answer, or undefined when it takes longer. */
async function withinTime<Value>(
  timeoutMs: number,
  ask: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs)
  })
  try {
    return await Promise.race([ask(), late])
  } finally {
    clearTimeout(timer)
  }
}

interface BoundedReadsOptions {
  /** Reads that run at the same time. */
  readonly running: number
  /** Reads that wait for one of them to end; beyond it a read is not made. */
  readonly waiting: number
}

/** Makes a read when there is room for it; undefined when too many wait. */
type BoundedReads = <Value>(read: () => Promise<Value | undefined>) => Promise<Value | undefined>

/** In the order in which they come. */
export function createBoundedReads({ running, waiting }: BoundedReadsOptions): BoundedReads {
  const queue: (() => void)[] = []
  let active = 0
  return async (read) => {
    if (active >= running) {
      if (queue.length >= waiting) return undefined
      await new Promise<void>((resolve) => queue.push(resolve))
    } else active += 1
    try {
      return await read()
    } finally {
      const next = queue.shift()
      // The next one takes over this one's place.
      if (next === undefined) active -= 1
      else next()
    }
  }
}
