import type { Market } from '../../core/model/market.js'
import type { MarketFacts, MarketObservation } from '../../core/model/observation.js'
import { createSharedRead } from '../reads/blocks.js'
import { createCircuitBreaker, type CircuitBreaker } from '../reads/client.js'
import { createExpiringCache } from '../reads/expiring-cache.js'
import { unlessUnreadable } from '../reads/read-account.js'
import { newestCalls, observeMarket, type ObservingDeps } from './observe-account.js'
import { chainContractOf } from './registry.js'

/** Reads what the chain shows of markets, for callers that can do without an answer. */
export interface MarketReader {
  /**
   * An observation at most as old as the cache allows; what may not be cached (PER-001) is of a read that began after
   * the call. Undefined when the chain cannot be read, or the contract type has no facts of a market.
   */
  readMarket(market: Market): Promise<MarketObservation | undefined>
}

export interface MarketReaderOptions extends ObservingDeps {
  /** Skips calls while the node does not answer. */
  readonly breaker?: CircuitBreaker
  readonly cacheMs: number
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

const MARKETS_MAX = 256

/** Keeps one observation of each market. */
export function createMarketReader(options: MarketReaderOptions): MarketReader {
  const { client, cacheMs, nowMs, breaker = createCircuitBreaker() } = options
  const observations = createExpiringCache<MarketObservation>({
    ttlMs: cacheMs,
    maxEntries: MARKETS_MAX,
  })
  const refreshers = new Map<string, () => Promise<Refresh | undefined>>()

  const ask = <Answer>(read: () => Promise<Answer | undefined>) =>
    breaker.ask(() => unlessUnreadable(read))
  const observe = (market: Market) =>
    ask(async () => {
      const readAtMs = nowMs()
      return observeMarket(options, market, await client.getBlock(), readAtMs)
    })
  /** The shared read of what may not be cached. */
  function refresherOf(market: Market): () => Promise<Refresh | undefined> {
    const known = refreshers.get(market.market)
    if (known !== undefined) return known
    const read = chainContractOf(market)?.readUncached ?? (() => Promise.resolve(UNCHANGED))
    const refresher = createSharedRead(() => ask(() => read(market, newestCalls(options))))
    refreshers.set(market.market, refresher)
    return refresher
  }

  return {
    async readMarket(market) {
      if (chainContractOf(market)?.readMarketFacts === undefined) return undefined
      const [observation, refresh] = await Promise.all([
        observations.get(market.market, () => observe(market)),
        refresherOf(market)(),
      ])
      if (observation === undefined || refresh === undefined) return undefined
      return { ...observation, facts: refresh(observation.facts) }
    },
  }
}

/** Puts what was read anew in place of what is cached. */
type Refresh = (facts: MarketFacts) => MarketFacts

const UNCHANGED: Refresh = (facts) => facts
