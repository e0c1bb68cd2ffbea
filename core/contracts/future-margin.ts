import { E18, mulDivCeil, mulDivFloor, type PriceE18 } from '../money.js'
import { int, priceE18, uint } from '../wire/codec.js'
import { struct } from '../wire/compound.js'
import type { FutureAccountFacts, FutureFacts } from './future-facts.js'
import { outlookAt, type LiquidationOutlook } from './liquidation-outlook.js'
import { legOf, type Leg, type MarginModel } from './margin-risk.js'
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

/** No price of the contracts is above it. */
const MAX_PRICE = 2n ** 96n

/**
 * How far an account is from its liquidation by the index, with all its positions: the last index towards it at which the manager's
 * maintenance margin is not below zero, to the last unit.
 */
export function futureOutlook(
  market: FutureFacts,
  account: FutureAccountFacts,
): LiquidationOutlook {
  const { index, indexStale, maintenanceRate: rate, maintenanceFactor: factor } = market
  const { usdc, position, otherSize, others } = account
  const size = sizeOf(position) + otherSize
  if (size === 0n) return { status: 'no_position' }
  if (indexStale || index === 0n) return { status: 'stale' }
  const { atIndex } = cngnAtBoth(account, market)
  const net = position + (others?.net ?? 0n)
  const surplusAt = (at: bigint): bigint =>
    surplusOf({ usdc, cngn: atIndex + variationOf(net, index, at), size }, at, { rate, factor })
  if (surplusAt(index) < 0n) return { status: 'due' }
  // cNGN in USD is net + pull / index, so that it moves in one direction all the way.
  const pull = atIndex - variationOf(net, 0n, index)
  if (pull === 0n) return { status: 'none' }
  const end = pull < 0n ? 1n : MAX_PRICE
  if (surplusAt(end) >= 0n) return { status: 'none' }
  let [safe, lost]: [bigint, bigint] = [index, end]
  while (safe - lost > 1n || lost - safe > 1n) {
    const middle = (safe + lost) / 2n
    if (surplusAt(middle) < 0n) lost = middle
    else safe = middle
  }
  return outlookAt(index, safe)
}

/** What the account's positions that are not settled are worth at the index beyond their marks, in cNGN at 1e18; exact. */
export function shiftOf(
  { position, others }: Pick<FutureAccountFacts, 'position' | 'others'>,
  { mark, index }: Pick<FutureFacts, 'mark' | 'index'>,
): bigint {
  const own = variationOf(position, mark, index)
  return others === undefined ? own : own + variationOf(others.net, 0n, index) - others.worth
}

/** cNGN of an account with all its positions at their marks, and at the index. */
export interface CngnAtBoth {
  readonly atMark: bigint
  readonly atIndex: bigint
}

/** Both, of an account at the market's newest prices. */
export function cngnAtBoth(account: FutureAccountFacts, market: FutureFacts): CngnAtBoth {
  const atMark = account.cngn + variationOf(account.position, account.mark, market.mark)
  return { atMark, atIndex: atMark + shiftOf(account, market) }
}

/** The one with which initial margin counts. */
export function lowerCngn(account: FutureAccountFacts, market: FutureFacts): bigint {
  const { atMark, atIndex } = cngnAtBoth(account, market)
  return lower(atMark, atIndex)
}

/** What a trade is worth beyond what it pays, in cNGN at 1e36, at the mark or the index, whichever is lower. */
const gainOf = (
  { mark, index }: Pick<FutureFacts, 'mark' | 'index'>,
  { size, worth }: Pick<Leg, 'size' | 'worth'>,
): bigint => lower(mark * size, index * size) - worth

/** The price at which the account has less after a trade: the index where it is so for both. */
export function judgingPrice(
  account: FutureAccountFacts,
  market: FutureFacts,
  { size }: Pick<Leg, 'size'>,
): 'mark' | 'index' {
  const { atMark, atIndex } = cngnAtBoth(account, market)
  const isMark = atMark * E18 + market.mark * size < atIndex * E18 + market.index * size
  return isMark ? 'mark' : 'index'
}

const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** One side of a fill as the manager judges it: signed contracts at 1e18, cNGN per USDC, and its fee in USDC. */
interface ManagedFill {
  readonly size: bigint
  readonly price: bigint
  readonly fee: bigint
}

/** An account before a fill, its positions at the market's mark. */
export type FillBearer = Omit<FutureAccountFacts, 'mark'>

/**
 * Whether the chain lets an account bear a fill, at a fresh index: it holds the fee, and where the fill may weaken it and
 * leaves a position or a debt, it keeps initial margin, at the marks and at the index. A fill weakens that pays a fee or
 * more than it is worth, at the mark or at the index, or that does more than reduce.
 */
export function isFillAccepted(
  bearer: FillBearer,
  { size, price, fee }: ManagedFill,
  { mark, index }: Pick<FutureFacts, 'mark' | 'index'>,
  terms: MarginTerms,
): boolean {
  const { position, otherSize, usdc, cngn } = bearer
  if (usdc < fee) return false
  const gains = [variationOf(size, price, mark), variationOf(size, price, index)] as const
  const after = position + size
  const sizeAfter = after < 0n ? -after : after
  const reduces = after === 0n || (after > 0n === position > 0n && after > 0n !== size > 0n)
  const left = { usdc: usdc - fee, size: sizeAfter + otherSize }
  const atMark = cngn + gains[0]
  if (left.size === 0n && atMark >= 0n) return true
  if (reduces && gains[0] >= 0n && gains[1] >= 0n && fee === 0n) return true
  const atIndex = cngn + shiftOf(bearer, { mark, index }) + gains[1]
  return surplusOf({ ...left, cngn: lower(atMark, atIndex) }, index, terms) >= 0n
}

/** Rate and factor of initial margin. */
export const initialTerms = ({ initialRate, initialFactor }: FutureFacts): MarginTerms => ({
  rate: initialRate,
  factor: initialFactor,
})

/**
 * Initial margin as the futures manager computes it, at the market's newest prices. The engine counts sizes in USDC, a
 * thousand to the contract. What a trade gains in cNGN counts as an asset, what it loses as a debt, at the mark or the
 * index, whichever is worse for it: the account may have both, and then the estimate is below what the manager says.
 */
export const futureModel: MarginModel<FutureAccountFacts, FutureFacts> = {
  positionOf: ({ position }) => position * CONTRACT_MULTIPLIER,
  isFrozen: () => false,
  standing(account, market) {
    if (market.indexStale) return undefined
    const { usdc, otherSize } = account
    const { rate, factor } = initialTerms(market)
    const worth = cngnValue(lowerCngn(account, market), market.index, factor)
    return { cash: usdc, equity: usdc + worth - requirementOf(otherSize, rate) }
  },
  requirement: ({ initialRate }, position) => mulDivCeil(sizeOf(position), initialRate, E18),
  resultOf(market, leg) {
    const { index, initialFactor } = market
    // Without any price nothing is judged; a leg in flight counts with its fee until there is one.
    if (index === 0n) return -leg.fee
    return cngnValue(floorE18(gainOf(market, leg)), index, initialFactor) - leg.fee
  },
  legAtBest({ mark, index }, { side, limitPrice }, amount) {
    const best = [mark, index].reduce<bigint>((better, price) => {
      return (side === 'buy') === price < better ? price : better
    }, limitPrice)
    return legOf(side, best, amount)
  },
  // Variation margin may be owed, a fee is paid in USDC.
  cashOf: (_, { fee }) => -fee,
  mayBorrow: () => false,
  // One that pays anything has to leave initial margin.
  reducesFreely: (market, leg) => leg.fee === 0n && gainOf(market, leg) >= 0n,
}

/**
 * What binds the balances of a trading account that has a position in futures or owes cNGN, at one block. An account
 * without either has none, and spends what it holds (FUT-039).
 */
export interface Exposure {
  /**
   * Wrapped cNGN with all variation margin, accrued or not, with positions at their marks or at the index, whichever is
   * lower; at 1e18, negative when the account owes.
   */
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
  if (index === 0n) return cngn === 0n && required === 0n ? usdc : undefined
  return usdc - required + cngnValue(cngn, index, factor)
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
