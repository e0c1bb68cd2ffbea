import { E18 } from '../money.js'
import { outlookAt, type LiquidationOutlook } from './liquidation-outlook.js'
import { legOf, type Leg, type MarginModel } from './margin-risk.js'
import type { PerpetualAccount, PerpetualFacts } from './perpetual-facts.js'

/**
 * The manager's margin of one account in one perpetual market, to the last unit: each product of two values at 1e18 is
 * truncated toward zero, in the manager's own order.
 */

/** What the margin of an account is computed from; signed, at 1e18. */
export interface MarginBasis {
  readonly position: bigint
  readonly cash: bigint
  /** Profit and funding not settled into cash; counts only while there is a position. */
  readonly unsettled: bigint
  readonly collateral: bigint
}

export type MarginKind = 'initial' | 'maintenance'

/** x × y / 1e18, truncated toward zero. */
const times = (x: bigint, y: bigint): bigint => (x * y) / E18

export const sizeOf = (position: bigint): bigint => (position < 0n ? -position : position)

/** `getMargin` of an account that holds nothing besides this market: positive is headroom. */
export function marginOf(facts: PerpetualFacts, account: MarginBasis, kind: MarginKind): bigint {
  const { position, cash, unsettled, collateral } = account
  const profit = position === 0n ? 0n : unsettled
  return cash + profit + creditOf(facts, collateral, kind) - requirementOf(facts, position, kind)
}

/** Margin that a position requires. */
export function requirementOf(facts: PerpetualFacts, position: bigint, kind: MarginKind): bigint {
  const { mark, index, initialRate, maintenanceRate } = facts
  const size = sizeOf(position)
  const notional = times(size, mark)
  if (kind === 'maintenance') return times(notional, maintenanceRate)
  const { unsure, depeg } = surchargesOf(facts)
  const surcharge = times(times(unsure, index), size) + times(times(size, depeg), index)
  return times(notional, initialRate) + surcharge
}

/** Initial margin of 1.0 of a position at 1e36, before the manager truncates anything: never less than it requires. */
export function linearRate(facts: PerpetualFacts): bigint {
  const { unsure, depeg } = surchargesOf(facts)
  return facts.mark * facts.initialRate + (unsure + depeg) * facts.index
}

/** Surcharges on initial margin, as shares of the index value: unsure prices, and a stable price below its threshold. */
function surchargesOf(facts: PerpetualFacts): Readonly<Record<'unsure' | 'depeg', bigint>> {
  const { markConfidence, indexConfidence, contingency, stable } = facts
  const confidence = markConfidence < indexConfidence ? markConfidence : indexConfidence
  const { perpThreshold, depegThreshold, depegFactor } = contingency
  return {
    unsure: confidence < perpThreshold ? unsureShare(facts, confidence) : 0n,
    depeg: stable < depegThreshold ? times(depegThreshold - stable, depegFactor) : 0n,
  }
}

/** Margin that posted collateral counts for. */
export function creditOf(facts: PerpetualFacts, posted: bigint, kind: MarginKind): bigint {
  const { collateral, index, indexConfidence, contingency } = facts
  if (collateral === undefined || posted === 0n) return 0n
  const notional = times(posted, index)
  const credit = times(notional, collateral.marginFactor)
  if (kind === 'maintenance') return credit
  const scaled = times(credit, collateral.initialScale)
  if (indexConfidence >= contingency.baseThreshold) return scaled
  return scaled - times(unsureShare(facts, indexConfidence), notional)
}

/** The surcharge at a confidence below its threshold, as a share of the index value. */
const unsureShare = ({ contingency }: PerpetualFacts, confidence: bigint): bigint =>
  times(E18 - confidence, contingency.factor)

/** A trade as the manager sees it: its signed size, and what it moves on cash, fee included. */
interface ManagedTrade {
  readonly size: bigint
  readonly cashDelta: bigint
}

/**
 * Whether the manager accepts a trade of the account by itself: one that adds no risk always, another if cash does not
 * become negative for it and initial margin stays. True as well while the account cannot be valued.
 */
export function isAccepted(
  facts: PerpetualFacts,
  { position, cash, collateral, valued }: PerpetualAccount,
  { size, cashDelta }: ManagedTrade,
): boolean {
  const after = position + size
  const grows = after !== 0n && after > 0n === size > 0n
  if (valued === undefined || (cashDelta >= 0n && !grows)) return true
  const settled = cash + (position === 0n ? 0n : valued.unsettled) + cashDelta
  if (!facts.borrowing && cashDelta < 0n && settled < 0n) return false
  const left = { position: after, cash: settled, unsettled: 0n, collateral }
  return marginOf(facts, left, 'initial') + valued.elsewhere >= 0n
}

/** What a trade at this price moves on cash against the mark, its fee paid; truncated as the trade module does. */
export const cashDeltaOf = (
  { mark }: PerpetualFacts,
  { size, price, fee }: { readonly size: bigint; readonly price: bigint; readonly fee: bigint },
): bigint => -times(price - mark, size) - fee

/** What the buyer of an amount pays against the mark, signed; truncated as the trade module does. */
export const quoteToMark = (price: bigint, amount: bigint, mark: bigint): bigint =>
  times(price - mark, amount)

/** a / 1e18 rounded down, also below zero. */
export const floorE18 = (a: bigint): bigint => (a < 0n && a % E18 !== 0n ? a / E18 - 1n : a / E18)

/** Profit and funding of the account at another mark than that of its observation: at most what the chain would say. */
export function unsettledAt({ position, valued }: PerpetualAccount, mark: bigint): bigint {
  if (valued === undefined) return 0n
  if (mark === valued.mark) return valued.unsettled
  // One unit more: the chain may have rounded up what was read, and may round down what it would say.
  return valued.unsettled + floorE18((mark - valued.mark) * position) - 1n
}

/**
 * The price at which maintenance margin is used up, at 1e10, half up, collateral not revalued: mark − surplus / (S − |S| × mm)
 * (PER-043). Undefined when there is none above zero.
 */
export function liquidationPrice(
  { mark, maintenanceRate }: Pick<PerpetualFacts, 'mark' | 'maintenanceRate'>,
  { position, surplus }: { readonly position: bigint; readonly surplus: bigint },
): bigint | undefined {
  // At 1e36.
  const slope = position * E18 - sizeOf(position) * maintenanceRate
  if (slope === 0n) return undefined
  const scaled = mark * slope - surplus * E18 * E18
  // Price = scaled / slope at 1e18; ten decimals are kept.
  const [numerator, denominator] = slope < 0n ? [-scaled, -slope] : [scaled, slope]
  if (numerator <= 0n) return undefined
  const price = (2n * numerator + denominator * E8) / (2n * denominator * E8)
  return price > 0n ? price : undefined
}

const E8 = 10n ** 8n

/**
 * How far an account is from its liquidation by the mark, when the index moves by the same share: `maintenanceSurplus` is the
 * manager's own answer. Every product that the manager truncates counts whole, so that the price is a few units beside the one at
 * which the manager's answer turns.
 */
export function perpetualOutlook(
  facts: PerpetualFacts,
  account: {
    readonly position: bigint
    readonly collateral: bigint
    readonly maintenanceSurplus?: bigint
  },
): LiquidationOutlook {
  const { mark, index, maintenanceRate, collateral, pricesStale } = facts
  const { position, maintenanceSurplus: surplus } = account
  if (position === 0n) return { status: 'no_position' }
  if (surplus === undefined || pricesStale || mark === 0n) return { status: 'stale' }
  if (surplus < 0n) return { status: 'due' }
  const bare = position * E18 - sizeOf(position) * maintenanceRate
  const posted = account.collateral * index * (collateral?.marginFactor ?? 0n)
  // What the surplus gains when the mark rises by 1.0, times the mark, at 1e54.
  const slope = bare * mark + posted
  if (slope === 0n) return { status: 'none' }
  const moved = (surplus * mark * E18 * E18) / (slope < 0n ? -slope : slope)
  return outlookAt(mark, slope < 0n ? mark + moved : mark - moved)
}

/** All that a leg gains or loses is settled into cash. */
function resultOf({ mark }: PerpetualFacts, { size, worth, fee }: Leg): bigint {
  return floorE18(mark * size - worth) - fee
}

/** Initial margin as the manager computes it, between two observations at the market's newest prices. */
export const perpetualModel: MarginModel<PerpetualAccount, PerpetualFacts> = {
  positionOf: ({ position }) => position,
  isFrozen: ({ inAuction }) => inAuction,
  isValued: ({ valued }) => valued !== undefined,
  standing(account, market) {
    if (market.pricesStale) return undefined
    const profit = account.position === 0n ? 0n : unsettledAt(account, market.mark)
    const cash = account.cash + profit
    const { elsewhere = 0n } = account.valued ?? {}
    const equity = cash + creditOf(market, account.collateral, 'initial') + elsewhere
    return { cash, equity }
  },
  requirement: (market, position) => requirementOf(market, position, 'initial'),
  resultOf,
  cashOf: resultOf,
  legAtBest({ mark }, { side, limitPrice }, amount) {
    const isBetter = side === 'buy' ? limitPrice < mark : limitPrice > mark
    return legOf(side, isBetter ? limitPrice : mark, amount)
  },
  mayBorrow: ({ borrowing }) => borrowing,
  // The chain may still refuse one that costs cash below initial margin (PER-031).
  reducesFreely: () => true,
}
