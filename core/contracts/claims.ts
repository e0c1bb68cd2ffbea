import type { Address } from '../action.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'
import { notionalFloor } from './fees.js'
import type { Market } from './market.js'

/**
 * What a settlement takes out of the accounts that it touches. Settlements may be in flight together while the sum of
 * their claims fits the capacity that the chain shows at one block.
 */

/** The capacity that a claim draws on: a balance of an account, or headroom that its manager grants. */
export interface ClaimKey {
  /** Equal for equal keys, so that claims can be summed in a map. */
  readonly id: string
  readonly manager: Address
  readonly accountId: bigint
  /** The balance that is drawn on. */
  readonly balance?: { readonly asset: Address; readonly subId: bigint }
  /**
   * What the market's contract type makes of the account's facts (`capacityOf`). Without it and without a balance, the
   * account's initial margin headroom is drawn on.
   */
  readonly of?: { readonly market: Market; readonly part: string }
}

export interface Claim {
  readonly key: ClaimKey
  /** In 1e-18 units, more than zero. */
  readonly debit: bigint
}

/** The key of a balance. Addresses are in lower case. */
export function balanceClaim(
  manager: Address,
  accountId: bigint,
  asset: Address,
  subId: bigint,
): ClaimKey {
  const id = `${manager} ${accountId} ${asset} ${subId}`
  return { id, manager, accountId, balance: { asset, subId } }
}

/** The key of an account's margin headroom. The address is in lower case. */
export function marginClaim(manager: Address, accountId: bigint): ClaimKey {
  return { id: `${manager} ${accountId} margin`, manager, accountId }
}

/** One taker against one or more makers, as the trade module settles them. */
export interface MatchTerms {
  readonly takerAccount: bigint
  readonly takerIsBuyer: boolean
  /** The taker's fee over all fills. */
  readonly takerFee: QuoteE18
  readonly fillDetails: readonly FillTerms[]
}

/** One maker's part of a match; `fee` is what the maker pays for all of it. */
export interface FillTerms {
  readonly filledAccount: bigint
  readonly amountFilled: AmountE18
  readonly price: PriceE18
  readonly fee: QuoteE18
}

export type MatchSide = 'maker' | 'taker'

/** What a reverted match is blamed on: a side, both, or the venue, whose matches the chain refuses whatever the order. */
export type Blame = MatchSide | 'both' | 'venue'

/** What a spot match moves, and where its accounts are. */
export type SpotAssets = Pick<
  Market,
  'assetAddress' | 'subId' | 'quoteAssetAddress' | 'marginManagerAddress'
>

/**
 * The claims of a spot match, one for each balance: base from the seller, quote from the buyer, and the fees of both.
 * Nothing that an account receives is set off. The notional is rounded down, as the trade module does.
 */
export function spotClaims(market: SpotAssets, terms: MatchTerms): Claim[] {
  const { assetAddress, subId, quoteAssetAddress, marginManagerAddress: manager } = market
  const base = (account: bigint) => balanceClaim(manager, account, assetAddress, subId)
  const quote = (account: bigint) => balanceClaim(manager, account, quoteAssetAddress, 0n)
  const { takerAccount, takerIsBuyer, takerFee, fillDetails } = terms
  const claims = fillDetails.flatMap(({ filledAccount, amountFilled, price, fee }) => {
    const [buyer, seller] = takerIsBuyer
      ? [takerAccount, filledAccount]
      : [filledAccount, takerAccount]
    return [
      { key: base(seller), debit: amountFilled },
      { key: quote(buyer), debit: notionalFloor(price, amountFilled) },
      { key: quote(filledAccount), debit: fee },
    ]
  })
  return sumClaims([...claims, { key: quote(takerAccount), debit: takerFee }])
}

/** One claim for each key, without those that draw nothing. */
export function sumClaims(claims: readonly Claim[]): Claim[] {
  const sums = new Map<string, Claim>()
  for (const { key, debit } of claims) {
    sums.set(key.id, { key, debit: (sums.get(key.id)?.debit ?? 0n) + debit })
  }
  return [...sums.values()].filter(({ debit }) => debit > 0n)
}

/**
 * What one side of a spot match with a single maker has to hold by itself: the buyer quote with its fee, the seller
 * base, since a seller's fee comes out of what it receives.
 */
export function spotOwed(market: SpotAssets, terms: MatchTerms, side: MatchSide): Claim[] {
  const isBuyer = (side === 'taker') === terms.takerIsBuyer
  const asset = isBuyer ? market.quoteAssetAddress : market.assetAddress
  const account = side === 'taker' ? terms.takerAccount : terms.fillDetails[0]?.filledAccount
  return spotClaims(market, terms).filter(
    ({ key }) => key.accountId === account && key.balance?.asset === asset,
  )
}
