import type { Market } from '../model/market.js'
import { E18 } from '../money.js'
import {
  sumClaims,
  type CapacityClaim,
  type ClaimKey,
  type FillTerms,
  type MatchTerms,
} from './claims.js'
import type { PerpetualAccount, PerpetualFacts } from './perpetual-facts.js'
import { linearRate, marginOf, requirementOf, sizeOf } from './perpetual-margin.js'

/**
 * Claims of a perpetual match, at the market's facts of one block. An account has three capacities: what it has beyond
 * the initial margin of its position if that ends long, the same if it ends short, and its cash. So a match that reduces
 * claims nothing of the margin that it releases, and claims add up whichever of their matches the chain carries out.
 */
type PerpetualCapacity = 'long' | 'short' | 'cash'

/**
 * The claims of both accounts: the initial margin of the contracts, what a fill is worse than the mark, and the fees, each
 * rounded up; no gain is set off. Undefined while the market has no prices, because nothing is known then.
 */
export function perpClaims(
  market: Market,
  { takerAccount, takerIsBuyer, takerFee, fillDetails }: MatchTerms,
  facts: PerpetualFacts,
): CapacityClaim[] | undefined {
  if (facts.pricesStale) return undefined
  const claims = fillDetails.flatMap((fill, i) => {
    const fee = i === 0 ? takerFee : 0n
    const taker = { ...fill, account: takerAccount, buys: takerIsBuyer, fee }
    const maker = { ...fill, account: fill.filledAccount, buys: !takerIsBuyer }
    return [...legClaims(market, facts, taker), ...legClaims(market, facts, maker)]
  })
  return sumClaims(claims)
}

/** A fill as one of its accounts sees it. */
interface PerpetualFillLeg extends Pick<FillTerms, 'amountFilled' | 'price'> {
  readonly account: bigint
  readonly buys: boolean
  readonly fee: bigint
}

function legClaims(market: Market, facts: PerpetualFacts, leg: PerpetualFillLeg): CapacityClaim[] {
  const { account, buys, amountFilled, price, fee } = leg
  const worse = buys ? price - facts.mark : facts.mark - price
  const cost = (worse > 0n ? ceilDiv(worse * amountFilled, E18) : 0n) + fee
  const margin = linearRate(facts) * amountFilled
  const uncovered = cost - margin / E36
  const key = (capacity: PerpetualCapacity) => partKey(market, account, capacity)
  return [
    { key: key(buys ? 'long' : 'short'), debit: cost + ceilDiv(margin, E36) },
    { key: key(buys ? 'short' : 'long'), debit: uncovered > 0n ? uncovered : 0n },
    { key: key('cash'), debit: cost },
  ]
}

/** What the account has of a capacity that a key of perpClaims names; 0 while the chain cannot value it. */
export function perpCapacity(
  facts: PerpetualFacts,
  { position, cash, collateral, valued }: PerpetualAccount,
  capacity: string,
): bigint {
  if (facts.pricesStale || valued === undefined) return 0n
  const { unsettled, elsewhere } = valued
  // A trade settles profit into cash. Where cash may become negative, margin alone is the limit.
  if (capacity === 'cash') {
    return facts.borrowing ? UNBOUNDED : cash + (position === 0n ? 0n : unsettled)
  }
  const surplus = marginOf(facts, { position, cash, unsettled, collateral }, 'initial') + elsewhere
  const equity = surplus + requirementOf(facts, position, 'initial')
  const margin = linearRate(facts) * sizeOf(position)
  const isOwnSide = position > 0n === (capacity === 'long')
  return isOwnSide ? equity - ceilDiv(margin, E36) : equity + margin / E36
}

const E36 = E18 * E18
const UNBOUNDED = 2n ** 255n

/** Rounded up; nothing here is negative. */
const ceilDiv = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

function partKey(market: Market, accountId: bigint, part: PerpetualCapacity): ClaimKey {
  const { marginManagerAddress: manager, assetAddress, subId } = market
  const id = `${manager} ${accountId} ${assetAddress} ${subId} ${part}`
  return { id, accountId, of: { market, part } }
}
