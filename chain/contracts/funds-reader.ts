import type { Address } from '../../core/action.js'
import type { FundsFacts } from '../../core/contracts/funds.js'
import type { Market } from '../../core/model/market.js'
import type { MarketObservation } from '../../core/model/observation.js'
import { blockTimeSec } from '../../core/time.js'
import type { BlockPlace } from '../reads/blocks.js'
import type { AssetBalance } from './chain-contract.js'
import { createHeadReads, type HeadReadsOptions } from './head-reads.js'
import { accountCalls, readCustody } from './observe-account.js'
import { chainContractOf } from './registry.js'

/** What the chain shows of an account for its balances, every fact of one block. */
export interface AccountFunds {
  readonly subaccountId: bigint
  readonly manager: Address
  /** Absent while the matching contract does not hold the account. */
  readonly custodyOwner?: Address
  readonly holdings: readonly AssetBalance[]
  /** The markets under whose manager the account is. */
  readonly markets: readonly MarketFunds[]
  readonly blockNumber: bigint
  readonly blockTimeSec: number
  /** When the read began, unix milliseconds. */
  readonly readAtMs: number
}

export interface MarketFunds {
  readonly market: Market
  /** Absent where the contract type has no facts of a market. */
  readonly observed: MarketObservation | undefined
  readonly facts: FundsFacts
}

export interface FundsReader {
  /**
   * The account at a block that was the newest at most a second ago. Undefined when the chain gives no whole answer in
   * time, or too many accounts are being read.
   */
  readFunds(markets: readonly Market[], subaccountId: bigint): Promise<AccountFunds | undefined>
}

/** Reads accounts in markets whose contract type shows funds; others are left out. */
export function createFundsReader(options: HeadReadsOptions): FundsReader {
  const { nowMs } = options
  const reads = createHeadReads<AccountFunds>(options)

  async function readAll(
    markets: readonly Market[],
    subaccountId: bigint,
    head: BlockPlace,
  ): Promise<AccountFunds> {
    const readAtMs = nowMs()
    const account = accountCalls(options, subaccountId, head)
    const [manager, holdings, { custodyOwner }] = await Promise.all([
      account.manager(),
      account.holdings(),
      readCustody(options, account),
    ])
    const held = markets.filter(({ marginManagerAddress }) => marginManagerAddress === manager)
    const funds = held.map(async (market) => {
      const readFunds = chainContractOf(market)?.readFunds
      if (readFunds === undefined) return undefined
      const observed = await reads.observe(market, head)
      return { market, observed, facts: await readFunds(market, account, observed?.facts) }
    })
    return {
      subaccountId,
      manager,
      holdings,
      readAtMs,
      ...(custodyOwner !== undefined && { custodyOwner }),
      markets: (await Promise.all(funds)).filter((one) => one !== undefined),
      blockNumber: head.number,
      blockTimeSec: blockTimeSec(head.timestamp),
    }
  }

  return {
    async readFunds(markets, subaccountId) {
      const names = markets.map(({ market }) => market)
      return reads.read([subaccountId, ...names].join(' '), (head) =>
        readAll(markets, subaccountId, head),
      )
    },
  }
}
