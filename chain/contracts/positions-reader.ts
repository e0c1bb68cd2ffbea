import type { PositionFacts, MarketObservation } from '../../core/contracts/contract.js'
import type { Market } from '../../core/contracts/market.js'
import type { BlockPlace } from '../reads/blocks.js'
import { createBoundedReads } from '../reads/bounded-reads.js'
import { createCircuitBreaker, type CircuitBreaker } from '../reads/client.js'
import { createExpiringCache } from '../reads/expiring-cache.js'
import { unlessUnreadable } from '../reads/read-account.js'
import { accountCalls, observeMarket, type ObservingDeps } from './observe-account.js'
import { chainContractOf } from './registry.js'

/** What an account holds in a market, both as of one block. */
export interface MarketPosition {
  readonly market: Market
  readonly observed: MarketObservation
  readonly facts: PositionFacts
}

/** Reads what accounts hold, for readers (decision P12). */
export interface PositionsReader {
  /**
   * The account in each of these markets under whose manager it is, every read at the same block, which was the newest at
   * most a second ago. Undefined when the chain gives no whole answer in time, or too many accounts are being read.
   */
  readPositions(
    markets: readonly Market[],
    subaccountId: bigint,
  ): Promise<readonly MarketPosition[] | undefined>
}

export interface PositionsReaderOptions extends ObservingDeps {
  /** Skips reads while the node does not answer. */
  readonly breaker?: CircuitBreaker
  /** How long an answer may take. */
  readonly timeoutMs?: number
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs?: () => number
}

/** How long a block counts as the newest, and how long an answer is shared. */
const SHARED_MS = 500
const TIMEOUT_MS = 5_000
const ACCOUNTS_MAX = 1_000
const MARKETS_MAX = 64
const RUNNING_MAX = 16
const WAITING_MAX = 256

/** Accounts of markets whose contract type has positions; others are left out. */
export function createPositionsReader(options: PositionsReaderOptions): PositionsReader {
  const { client, nowMs, timeoutMs = TIMEOUT_MS, breaker = createCircuitBreaker() } = options
  const { elapsedMs } = options
  const bounds = { ttlMs: SHARED_MS, ...(elapsedMs !== undefined && { nowMs: elapsedMs }) }
  const heads = createExpiringCache<BlockPlace>({ ...bounds, maxEntries: 1 })
  const observations = createExpiringCache<MarketObservation>({
    ...bounds,
    maxEntries: MARKETS_MAX,
  })
  const accounts = createExpiringCache<readonly MarketPosition[]>({
    ...bounds,
    maxEntries: ACCOUNTS_MAX,
  })
  const bounded = createBoundedReads({ running: RUNNING_MAX, waiting: WAITING_MAX })

  async function readAll(
    markets: readonly Market[],
    subaccountId: bigint,
    head: BlockPlace,
  ): Promise<readonly MarketPosition[]> {
    const account = accountCalls(options, subaccountId, head)
    const manager = await account.manager()
    const held = markets.filter(({ marginManagerAddress }) => marginManagerAddress === manager)
    const positions = held.map(async (market) => {
      const readPosition = chainContractOf(market)?.readPosition
      if (readPosition === undefined) return undefined
      const observed = await observations.get(`${head.hash} ${market.market}`, () =>
        observeMarket(options, market, head, nowMs()),
      )
      if (observed === undefined) return undefined
      return { market, observed, facts: await readPosition(market, account, observed.facts) }
    })
    return (await Promise.all(positions)).filter((position) => position !== undefined)
  }

  return {
    async readPositions(markets, subaccountId) {
      const read = () =>
        bounded(() =>
          breaker.ask(() =>
            withinTime(timeoutMs, () =>
              unlessUnreadable(async () => {
                const head = await heads.get('', () => client.getBlock())
                return head && (await readAll(markets, subaccountId, head))
              }),
            ),
          ),
        )
      const names = markets.map(({ market }) => market)
      return accounts.get([subaccountId, ...names].join(' '), read)
    },
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
