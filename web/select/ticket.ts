import type { Side } from '../../core/model/order.js'
import { E18, mulDivCeil, mulDivFloor } from '../../core/money.js'
import { engineSide, type MarketArithmetic } from './market-terms.js'
import { floorTo, guardPrice, isWithin, walkBook, type BookLevel, type Walk } from './walk-book.js'

/** What a trader asks for, read. Prices and sizes are positive, in trader terms at 1e18. */
export interface Ticket {
  readonly side: Side
  /** A market order has none: it is an IOC order with the limit of its guard. */
  readonly priceE18: bigint | undefined
  readonly sizeE18: bigint
  /** How far from the best price a market order may go, in basis points. */
  readonly guardBps: bigint
}

/** The two sides of the book in engine terms, best first. */
export interface TicketBook {
  readonly bids: readonly BookLevel[]
  readonly asks: readonly BookLevel[]
}

/** What will be signed. */
export interface Plan {
  readonly side: Side
  /** Limit in quote per base, on the grid. */
  readonly limitE18: bigint
  /** Whole steps. */
  readonly amountE18: bigint
  /** Bound of the fee for SigningFrame.worstFeeBps: basis points of the limit, or of a contract. */
  readonly worstFeeBps: number
  /** The signed bound itself: quote per signed unit, as the client derives it of `worstFeeBps`. */
  readonly worstFeeE18: bigint
  /** What it would meet now. */
  readonly walk: Walk
}

/** Why there is no plan. */
export type NoPlan = 'no_book' | 'below_step'

/** The side of the book that an order meets. */
export const otherSide = (book: TicketBook, side: Side): readonly BookLevel[] =>
  side === 'buy' ? book.asks : book.bids

/**
 * What to sign for a ticket. The limit is on the grid and never worse than what was typed. On an inverted market the size is in quote:
 * what crosses is found by a walk of the book, so that the trader gets the size that was asked for at the prices that are there; the
 * rest counts at the limit. `no_book`: a market order finds no price; `below_step`: nothing is left of the size in whole steps.
 */
export function planOf(terms: MarketArithmetic, ticket: Ticket, book: TicketBook): Plan | NoPlan {
  const side = engineSide(terms, ticket.side)
  const levels = otherSide(book, side)
  const best = levels[0]?.priceE18
  const limitE18 =
    ticket.priceE18 === undefined
      ? guardPrice(side, best, ticket.guardBps, terms.tickE18)
      : limitOf(terms, side, ticket.priceE18)
  if (limitE18 === undefined) return 'no_book'
  const perBaseE18 = ticket.priceE18 ?? (E18 * E18) / limitE18
  const sizing = { side, limitE18, perBaseE18, sizeE18: ticket.sizeE18 }
  const { amountE18, walk } = sized(terms, sizing, levels)
  if (amountE18 === 0n) return 'below_step'
  const worstFeeBps = feeBoundBps(terms, limitE18, best)
  const base = terms.feeBaseE18 ?? limitE18
  const worstFeeE18 = mulDivCeil(base, BigInt(worstFeeBps), 10_000n)
  return { side, limitE18, amountE18, worstFeeBps, worstFeeE18, walk }
}

/** The tick next to a typed price on the side that is better for the trader; at least one tick. */
export function limitOf(
  { isInverted, tickE18 }: MarketArithmetic,
  side: Side,
  typed: bigint,
): bigint {
  const [numerator, denominator] = isInverted ? [E18 * E18, typed * tickE18] : [typed, tickE18]
  const ticks = side === 'buy' ? numerator / denominator : mulDivCeil(numerator, 1n, denominator)
  return (ticks === 0n ? 1n : ticks) * tickE18
}

interface TicketSize {
  readonly side: Side
  readonly limitE18: bigint
  /** The trader's price: what the rest counts at. */
  readonly perBaseE18: bigint
  readonly sizeE18: bigint
}

function sized(
  { isInverted, stepE18 }: MarketArithmetic,
  { side, limitE18, perBaseE18, sizeE18 }: TicketSize,
  levels: readonly BookLevel[],
): { readonly amountE18: bigint; readonly walk: Walk } {
  if (!isInverted) {
    const amountE18 = floorTo(sizeE18, stepE18)
    return { amountE18, walk: walkBook(levels, side, { amountE18 }, { stepE18, limitE18 }) }
  }
  const walk = walkBook(levels, side, { quoteE18: sizeE18 }, { stepE18, limitE18 })
  const hasMore = walk.amountE18 < within(levels, side, limitE18)
  // What the book has at these prices is more than was asked for: the rest of a step stays.
  if (hasMore) return { amountE18: walk.amountE18, walk }
  const rest = floorTo(mulDivFloor(walk.leftE18, perBaseE18, E18), stepE18)
  return { amountE18: walk.amountE18 + rest, walk }
}

const within = (levels: readonly BookLevel[], side: Side, limitE18: bigint): bigint =>
  levels
    .filter(({ priceE18 }) => isWithin(side, priceE18, limitE18))
    .reduce((sum, { amountE18 }) => sum + amountE18, 0n)

/** Basis points of its base that an order's fee may be; a taker's are fewer. */
const FEE_BOUND_BPS = 30n
/** An engine sale may execute so far above the best price that was seen, in basis points, before its fee bound breaks. */
const HEADROOM_BPS = 500n

/**
 * The bound of the fee. The chain counts the fee at the price of execution, which for an engine sale is above its limit: a bound of the
 * limit alone would cancel one far through the book.
 */
function feeBoundBps(
  { feeBaseE18, takerFeeBps }: MarketArithmetic,
  limitE18: bigint,
  bestE18: bigint | undefined,
): number {
  const bps = takerFeeBps > FEE_BOUND_BPS ? takerFeeBps : FEE_BOUND_BPS
  if (feeBaseE18 !== undefined || bestE18 === undefined) return Number(bps)
  const highest = mulDivCeil(bestE18, 10_000n + HEADROOM_BPS, 10_000n)
  return Number(highest > limitE18 ? mulDivCeil(bps * highest, 1n, limitE18) : bps)
}
