import type { AccountObservation } from '../core/account.js'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.js'
import { type Answer, createExpiringCache } from './expiring-cache.js'
import {
  type BlockPlace,
  type MarketAssets,
  type Observing,
  observeAccount,
} from './observe-account.js'

/** Reads what accounts can pay with, for whoever can do without an answer. */
export interface FundsReader {
  /** The account's observation, at most a block's time old; undefined when the chain cannot be read. */
  readFunds(subaccountId: bigint, assets: MarketAssets): Answer<AccountObservation | undefined>
}

export interface FundsReaderOptions extends Omit<Observing, 'assets'> {
  /** Turns questions away while the node is silent. */
  readonly breaker?: CircuitBreaker
  /** How long an observation is kept; at most a block's time. */
  readonly cacheMs: number
}

const CACHE_ENTRIES = 10_000
/** How long a block counts as the newest, so that orders that come together share the question. */
const HEAD_MS = 500

/** Observations of one account are all of one block, whose number they carry. */
export function createFundsReader(options: FundsReaderOptions): FundsReader {
  const { client, cacheMs, breaker = createCircuitBreaker() } = options
  const observations = createExpiringCache<AccountObservation>({
    ttlMs: cacheMs,
    maxEntries: CACHE_ENTRIES,
  })
  const heads = createExpiringCache<BlockPlace>({ ttlMs: HEAD_MS, maxEntries: 1 })
  const readHead = async () => heads.get('', () => unlessUnreadable(() => client.getBlock()))
  return {
    readFunds: (subaccountId, assets) =>
      observations.get(`${subaccountId} ${assets.assetAddress} ${assets.subId}`, () =>
        breaker.ask(async () => {
          const head = await readHead()
          if (head === undefined) return undefined
          return unlessUnreadable(() => observeAccount({ ...options, assets }, subaccountId, head))
        }),
      ),
  }
}

async function unlessUnreadable<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read()
  } catch {
    // No answer, or none that can be understood: either way nothing is known of the account.
    return undefined
  }
}
