import type { Market } from '../model/market.js'
import { E18 } from '../money.js'
import {
  balanceClaim,
  sharedMargin,
  sumClaims,
  type CapacityClaim,
  type ClaimKey,
  type MatchTerms,
} from './claims.js'
import type { FutureAccountFacts, FutureFacts } from './future-facts.js'
import { CONTRACT_MULTIPLIER, cngnValue, lowerCngn, variationOf } from './future-margin.js'

/**
 * Claims of a match in dated futures, at the market's facts of one block. An account has two margin capacities: what it
 * has beyond the initial margin of its positions if that of the series ends long, and the same if it ends short. So a
 * match that reduces claims nothing of the margin that it releases. The fee is a claim on USDC as well, a loss against the
 * mark one on cNGN. Other series, and spot, draw on the same margin.
 */
type FutureCapacity = 'long' | 'short'

/**
 * The claims of both accounts: the initial margin of the contracts, what a fill is worse than the mark or the index, the
 * more of both, counted as a debt in cNGN, and the fees, each rounded up; no gain is set off. Undefined while the index is stale.
 */
export function futureClaims(
  market: Market,
  { takerAccount, takerIsBuyer, takerFee, fillDetails }: MatchTerms,
  facts: FutureFacts,
): CapacityClaim[] | undefined {
  if (facts.indexStale) return undefined
  const claims = fillDetails.flatMap(({ filledAccount, amountFilled, price, fee: makerFee }, i) => {
    const size = takerIsBuyer ? amountFilled : 0n - amountFilled
    const fee = i === 0 ? takerFee : 0n
    return [
      ...legClaims(market, facts, { account: takerAccount, size, price, fee }),
      ...legClaims(market, facts, { account: filledAccount, size: -size, price, fee: makerFee }),
    ]
  })
  return sumClaims(claims)
}

/** A fill as one of its accounts sees it: signed contracts, cNGN per USDC, USDC. */
interface FutureFillLeg {
  readonly account: bigint
  readonly size: bigint
  readonly price: bigint
  readonly fee: bigint
}

function legClaims(
  market: Market,
  facts: FutureFacts,
  { account, size, price, fee }: FutureFillLeg,
): CapacityClaim[] {
  const variation = variationOf(size, price, facts.mark)
  const paid = variation < 0n ? -variation : 0n
  const atIndex = variationOf(size, price, facts.index)
  const worse = atIndex < variation ? atIndex : variation
  const loss = worse < 0n ? -cngnValue(worse, facts.index, facts.initialFactor) : 0n
  const cost = loss + fee
  const buys = size > 0n
  const contracts = buys ? size : -size
  // The other side is left with less margin to keep, rounded down.
  const uncovered = cost + marginOf(facts, -contracts)
  const key = (capacity: FutureCapacity) => partKey(market, account, capacity)
  return [
    { key: key(buys ? 'long' : 'short'), debit: cost + marginOf(facts, contracts) },
    { key: key(buys ? 'short' : 'long'), debit: uncovered > 0n ? uncovered : 0n },
    { key: balanceClaim(account, market.quoteAssetAddress, 0n), debit: fee },
    // Paid at once as far as there is any; what is left is a debt, which margin covers.
    { key: balanceClaim(account, facts.cngnAsset, 0n), debit: paid, isSoft: true },
  ]
}

/** What the account has of a capacity that a key of futureClaims names; 0 while the index is stale. */
export function futureCapacity(
  facts: FutureFacts,
  account: FutureAccountFacts,
  capacity: string,
): bigint {
  if (facts.indexStale) return 0n
  const { position, usdc, otherSize } = account
  const value = usdc + cngnValue(lowerCngn(account, facts), facts.index, facts.initialFactor)
  return value - marginOf(facts, otherSize + (capacity === 'long' ? position : -position))
}

/** Initial margin of so many contracts, below zero as well; rounded up. */
function marginOf({ initialRate }: FutureFacts, contracts: bigint): bigint {
  const margin = contracts * CONTRACT_MULTIPLIER * initialRate
  return margin / E18 + (margin > 0n && margin % E18 !== 0n ? 1n : 0n)
}

function partKey(market: Market, accountId: bigint, part: FutureCapacity): ClaimKey {
  const margin = sharedMargin(market, accountId)
  const branch = `${market.assetAddress} ${market.subId}`
  const id = `${margin} ${branch} ${part}`
  return { id, accountId, of: { market, part }, shares: { margin, branch } }
}
