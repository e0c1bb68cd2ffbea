import type { Market } from '../../core/model/market.js'
import type { PositionFacts, MarketObservation } from '../../core/model/observation.js'
import type { BlockPlace } from '../reads/blocks.js'
import { createHeadReads, type HeadReadsOptions } from './head-reads.js'
import { accountCalls } from './observe-account.js'
import { chainContractOf } from './registry.js'

/** What an account holds in a market, both as of one block. */
export interface MarketPosition {
  readonly market: Market
  readonly observed: MarketObservation
  readonly facts: PositionFacts
}

/** Reads what accounts hold, for readers (REA-037). */
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

/** Accounts of markets whose contract type has positions; others are left out. */
export function createPositionsReader(options: HeadReadsOptions): PositionsReader {
  const reads = createHeadReads<readonly MarketPosition[]>(options)

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
      const observed = await reads.observe(market, head)
      if (observed === undefined) return undefined
      return { market, observed, facts: await readPosition(market, account, observed.facts) }
    })
    return (await Promise.all(positions)).filter((position) => position !== undefined)
  }

  return {
    async readPositions(markets, subaccountId) {
      const names = markets.map(({ market }) => market)
      return reads.read([subaccountId, ...names].join(' '), (head) =>
        readAll(markets, subaccountId, head),
      )
    },
  }
}
