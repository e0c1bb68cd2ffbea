import { encodeAbiParameters, encodeFunctionData, parseAbi, parseAbiParameters } from 'viem'
import { dutchAuctionAbi } from '../../chain/abi/contracts.js'
import { ONE, actionsCall, signAction, type ActionOverrides } from './devnet-actions.js'
import type { Call, Trader, World } from './devnet-world.js'

/** What the venue calls and reads of auctions, and the rest. */
export const auctionAbi = [
  ...dutchAuctionAbi,
  ...parseAbi([
    'function getMaxProportion(uint256 accountId, uint256 scenarioId) view returns (uint256)',
    'function totalInsolventMM() view returns (uint256)',
    'event Bid(uint256 accountId, uint256 bidderId, uint256 finalPercentage, uint256 cashFromBidder, uint256 cashToBidder)',
  ]),
] as const

/** A call of an auction's keeper, which every caller may send. */
export function auctionCall(
  world: World,
  functionName: 'startAuction' | 'convertToInsolventAuction' | 'terminateAuction',
  account: Trader,
): Call {
  const { subaccountId: id } = account
  const data =
    functionName === 'startAuction'
      ? encodeFunctionData({ abi: auctionAbi, functionName, args: [id, 0n] })
      : encodeFunctionData({ abi: auctionAbi, functionName, args: [id] })
  return { from: world.executor, to: world.at.dutch_auction, data }
}

const LIQUIDATION_DATA = parseAbiParameters([
  'LiquidationData data',
  'struct LiquidationData { uint256 liquidatedAccountId; uint256 cashTransfer; uint256 percentOfAcc; int256 priceLimit; uint256 lastSeenTradeId; bool mergeAccount; }',
])

export interface BidTerms {
  readonly bidder: Trader
  readonly account: Trader
  /** Cash of the account that bids, at 1e18. */
  readonly cash: bigint
  /** Portion of the account at 1e18; all of it by default. */
  readonly portion?: bigint
  readonly priceLimit?: bigint
  readonly lastSeenTradeId?: bigint
  readonly merge?: boolean
}

/** A signed bid, executed by the venue's executor. */
export async function bidCall(
  world: World,
  terms: BidTerms,
  overrides: ActionOverrides = {},
): Promise<Call> {
  const data = encodeAbiParameters(LIQUIDATION_DATA, [
    {
      liquidatedAccountId: terms.account.subaccountId,
      cashTransfer: terms.cash,
      percentOfAcc: terms.portion ?? ONE,
      priceLimit: terms.priceLimit ?? 0n,
      lastSeenTradeId: terms.lastSeenTradeId ?? 0n,
      mergeAccount: terms.merge ?? false,
    },
  ])
  const { subaccountId } = terms.bidder
  const module = world.at.liquidate_module
  const action = { module, subaccountId, ...overrides }
  return actionsCall(world, [await signAction(world, terms.bidder, data, action)])
}
