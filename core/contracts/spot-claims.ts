import type { Market } from '../model/market.js'
import type { AccountFacts, MarketFacts } from '../model/observation.js'
import type { PriceE18 } from '../money.js'
import { balancesOf } from './balances.js'
import {
  balanceClaim,
  sharedMargin,
  sumClaims,
  type CapacityClaim,
  type ClaimKey,
  type MatchTerms,
} from './claims.js'
import { notionalFloor } from './fees.js'
import { cngnValue, exposedSurplus } from './future-margin.js'

/** What a futures manager says at one block of the worth of cNGN as margin. */
export interface CngnTerms {
  /** cNGN per USDC; 0 while the index is stale. */
  readonly index: PriceE18
  /** The share that counts as initial margin, at 1e18. */
  readonly factor: bigint
}

/** Hides the terms as the facts of which claims are made, and the inverse. */
export const hideCngnTerms = (terms: CngnTerms): MarketFacts => terms as unknown as MarketFacts
const cngnTermsOf = (facts: MarketFacts): CngnTerms => facts as unknown as CngnTerms

type SpotCapacity = 'base' | 'quote' | 'margin'

/** A fill as one of its accounts sees it. */
interface SpotFillLeg {
  readonly account: bigint
  readonly buys: boolean
  readonly amount: bigint
  readonly notional: bigint
  readonly fee: bigint
}

/**
 * The claims of a spot match: base from the seller, quote from the buyer, the fees of both; nothing that an account
 * receives is set off. Under a futures manager, whose accounts may trade futures too, `seen` has its terms of cNGN, and a
 * fill also claims what it costs the account's initial margin. The notional is rounded down, as the trade module does.
 */
export function spotClaims(
  market: Market,
  { takerAccount, takerIsBuyer, takerFee, fillDetails }: MatchTerms,
  seen?: MarketFacts,
): CapacityClaim[] {
  const legs = fillDetails.flatMap(
    ({ filledAccount, amountFilled, price, fee }, i): SpotFillLeg[] => {
      const traded = { amount: amountFilled, notional: notionalFloor(price, amountFilled) }
      const ofTaker = i === 0 ? takerFee : 0n
      return [
        { ...traded, account: filledAccount, buys: !takerIsBuyer, fee },
        { ...traded, account: takerAccount, buys: takerIsBuyer, fee: ofTaker },
      ]
    },
  )
  const terms = seen && cngnTermsOf(seen)
  return sumClaims(
    legs.flatMap(({ account, buys, amount, notional, fee }) => {
      const key = (part: SpotCapacity) => keyOf(market, account, part, terms !== undefined)
      const loss = terms === undefined ? 0n : lossOf(terms, { buys, amount, notional, fee })
      return [
        { key: key('base'), debit: buys ? 0n : amount },
        { key: key('quote'), debit: buys ? notional + fee : fee },
        { key: key('margin'), debit: loss },
      ]
    }),
  )
}

/** What a fill takes of initial margin in USD, rounded up; at least one unit while the index is stale. */
function lossOf(
  { index, factor }: CngnTerms,
  { buys, amount, notional, fee }: Omit<SpotFillLeg, 'account'>,
): bigint {
  if (index === 0n) return 1n
  const worth = cngnValue(amount, index, factor)
  // Each of the two divisions in `worth` loses less than a unit.
  const loss = buys ? notional + fee - worth : worth + 2n + fee - notional
  return loss > 0n ? loss : 0n
}

/** `isShared`: the account may trade futures, and what it may spend is read as such. */
function keyOf(market: Market, accountId: bigint, part: SpotCapacity, isShared: boolean): ClaimKey {
  const { assetAddress, subId, quoteAssetAddress } = market
  const of = { market, part }
  if (part === 'margin') {
    const margin = sharedMargin(market, accountId)
    return { id: `${margin} spot`, accountId, of, shares: { margin, branch: 'spot' } }
  }
  const [asset, id] = part === 'base' ? [assetAddress, subId] : [quoteAssetAddress, 0n]
  const key = balanceClaim(accountId, asset, id)
  return isShared ? { id: key.id, accountId, of } : key
}

const UNBOUNDED = 2n ** 255n

/** What the account has of a part that a key of spotClaims names. Without position and debt margin does not bind. */
export function spotCapacity(account: AccountFacts, part: string): bigint {
  const { base, quote, exposure } = balancesOf(account)
  if (part === 'base') return base
  if (part === 'quote') return quote
  if (exposure === undefined) return UNBOUNDED
  return exposedSurplus(exposure, { usdc: quote, cngn: exposure.cngn }) ?? 0n
}
