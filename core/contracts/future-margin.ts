import { E18, mulDivCeil, mulDivFloor, type PriceE18 } from '../money.js'
import { int, priceE18, uint } from '../wire/codec.js'
import { struct } from '../wire/compound.js'
import type { FutureAccount, FutureFacts } from './future-facts.js'
import { legOf, type MarginModel } from './margin-purse.js'
import { floorE18, sizeOf } from './perpetual-margin.js'

/** Margin of the futures manager, equal to its `getMargin` to the last unit; USD and cNGN at 1e18. */

/** USDC per contract. */
export const CONTRACT_MULTIPLIER = 1_000n
/** Positions are multiples of it, contracts at 1e18: a move of the price is exact in cNGN. */
export const POSITION_STEP = 10n ** 15n

/** What margin is computed from. */
export interface FuturesPortfolio {
  readonly usdc: bigint
  /** Wrapped cNGN with all variation margin, accrued or not; negative when the account owes. */
  readonly cngn: bigint
  /** Sum of the sizes of all positions that are not settled, in contracts at 1e18. */
  readonly size: bigint
}

/** A rate of the notional and a factor of cNGN at 1e18, for initial or for maintenance margin. */
interface MarginTerms {
  readonly rate: bigint
  readonly factor: bigint
}

/** Variation margin in cNGN, 1e18, of a signed position in contracts when its price moves; exact for whole steps. */
export const variationOf = (position: bigint, from: bigint, to: bigint): bigint =>
  (position / POSITION_STEP) * (to - from)

/**
 * What an amount of cNGN counts as, in USD. What the account has counts with the factor and is rounded down twice; what
 * it owes counts divided by the factor and is rounded up twice.
 */
export function cngnValue(cngn: bigint, index: bigint, factor: bigint): bigint {
  if (cngn >= 0n) return mulDivFloor(mulDivFloor(cngn, E18, index), factor, E18)
  return -mulDivCeil(mulDivCeil(-cngn, E18, index), E18, factor)
}

/** Margin in USD that positions of this size require, rounded up. */
export const requirementOf = (size: bigint, rate: bigint): bigint =>
  mulDivCeil(size * CONTRACT_MULTIPLIER, rate, E18)

/** Surplus over the margin; the index is needed only where there is cNGN. */
export function surplusOf(
  { usdc, cngn, size }: FuturesPortfolio,
  index: bigint,
  { rate, factor }: MarginTerms,
): bigint {
  const value = usdc - requirementOf(size, rate)
  return cngn === 0n ? value : value + cngnValue(cngn, index, factor)
}

/** One side of a fill as the manager judges it: signed contracts at 1e18, cNGN per USDC, and its fee in USDC. */
interface ManagedFill {
  readonly size: bigint
  readonly price: bigint
  readonly fee: bigint
}

/** An account before a fill: its signed position in the series, and the sizes of its positions in others. */
export interface FillBearer extends Omit<FuturesPortfolio, 'size'> {
  readonly position: bigint
  readonly otherSize: bigint
}

/**
 * Whether the chain lets an account bear a fill, at a fresh index: it holds the fee, and where the fill may weaken it and
 * leaves a position or a debt, it keeps initial margin.
 */
export function isFillAccepted(
  { position, otherSize, usdc, cngn }: FillBearer,
  { size, price, fee }: ManagedFill,
  { mark, index }: { readonly mark: bigint; readonly index: bigint },
  terms: MarginTerms,
): boolean {
  if (usdc < fee) return false
  const variation = variationOf(size, price, mark)
  const after = position + size
  const sizeAfter = after < 0n ? -after : after
  const reduces = after === 0n || (after > 0n === position > 0n && after > 0n !== size > 0n)
  const portfolio = { usdc: usdc - fee, cngn: cngn + variation, size: sizeAfter + otherSize }
  if (portfolio.size === 0n && portfolio.cngn >= 0n) return true
  if (reduces && variation >= 0n && fee === 0n) return true
  return surplusOf(portfolio, index, terms) >= 0n
}

/** Rate and factor of initial margin. */
export const initialTerms = ({ initialRate, initialFactor }: FutureFacts): MarginTerms => ({
  rate: initialRate,
  factor: initialFactor,
})

/**
 * Initial margin as the futures manager computes it, at the market's newest prices. The engine counts sizes in USDC, a
 * thousand to the contract. What a trade gains in cNGN counts as an asset, what it loses as a debt: the account may have
 * both, and then the estimate is below what the manager says.
 */
export const futureModel: MarginModel<FutureAccount, FutureFacts> = {
  positionOf: ({ position }) => position * CONTRACT_MULTIPLIER,
  isFrozen: () => false,
  standing({ usdc, cngn, position, mark, otherSize }, market) {
    if (market.indexStale) return undefined
    const { rate, factor } = initialTerms(market)
    const owned = cngn + variationOf(position, mark, market.mark)
    const equity = usdc + cngnValue(owned, market.index, factor) - requirementOf(otherSize, rate)
    return { cash: usdc, equity }
  },
  requirement: ({ initialRate }, position) => mulDivCeil(sizeOf(position), initialRate, E18),
  resultOf({ mark, index, initialFactor }, { size, worth, fee }) {
    // Without any price nothing is judged; a leg in flight counts with its fee until there is one.
    if (index === 0n) return -fee
    return cngnValue(floorE18(mark * size - worth), index, initialFactor) - fee
  },
  legAtBest({ mark }, { side, limitPrice }, amount) {
    const isBetter = side === 'buy' ? limitPrice < mark : limitPrice > mark
    return legOf(side, isBetter ? limitPrice : mark, amount)
  },
  // Variation margin may be owed, a fee is paid in USDC.
  cashOf: (_, { fee }) => -fee,
  mayBorrow: () => false,
  // One that pays anything has to leave initial margin.
  reducesFreely: ({ mark }, { size, worth, fee }) => fee === 0n && mark * size >= worth,
}

/**
 * What binds the balances of a trading account that has a position in futures or owes cNGN, at one block. An account
 * without either has none, and spends what it holds (FUT-039).
 */
export interface Exposure {
  /** Wrapped cNGN with all variation margin, accrued or not, at 1e18; negative when the account owes. */
  readonly cngn: bigint
  /** Initial margin of all its positions, in USD at 1e18. */
  readonly required: bigint
  /** cNGN per USDC; 0 while the index is stale. */
  readonly index: PriceE18
  /** The share with which cNGN counts as initial margin, at 1e18. */
  readonly factor: bigint
}

export const exposureCodec = struct<Exposure>({
  cngn: int,
  required: uint,
  index: priceE18,
  factor: uint,
})

/** Initial margin surplus in USD at 1e18; undefined where it depends on an index that is stale. */
export function exposedSurplus(
  { required, index, factor }: Omit<Exposure, 'cngn'>,
  { usdc, cngn }: { readonly usdc: bigint; readonly cngn: bigint },
): bigint | undefined {
  if (cngn === 0n) return usdc - required
  return index === 0n ? undefined : usdc - required + cngnValue(cngn, index, factor)
}

/** Whether the manager accepts that the account is left with this: flat without a debt, or with its initial margin. */
export function isMarginKept(
  exposure: Exposure,
  left: { readonly usdc: bigint; readonly cngn: bigint },
): boolean {
  if (exposure.required === 0n && left.cngn >= 0n) return true
  const surplus = exposedSurplus(exposure, left)
  return surplus !== undefined && surplus >= 0n
}
