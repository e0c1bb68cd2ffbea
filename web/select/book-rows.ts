import type { Side } from '../../core/model/order.js'
import { E18, mulDivCeil, mulDivFloor } from '../../core/money.js'
import { engineSide, type MarketArithmetic } from './market-terms.js'
import type { BookLevel } from './walk-book.js'
import type { TicketBook } from './ticket.js'

/** A row of the book as a trader sees it; prices, sizes and sums in trader terms at 1e18. */
export interface BookRow {
  readonly priceE18: bigint
  /** Rounded down. */
  readonly sizeE18: bigint
  /** Size of this row and of all better ones. */
  readonly sumE18: bigint
  /** Size of own orders in it. */
  readonly ownE18: bigint
  /** What is hit before the first own order at its price; absent where there is none, or it is not known. */
  readonly aheadE18?: bigint
  /** The best and the worst engine price in it: what a click fills in, and how far a sweep of the row goes. */
  readonly bestEngineE18: bigint
  readonly worstEngineE18: bigint
}

export interface RowOptions {
  /** Step of trader prices that share a row; 0n: one row for each level. */
  readonly groupE18: bigint
  /** At most so many rows. */
  readonly rows: number
  /** Own orders by engine price. */
  readonly own?: ReadonlyMap<bigint, OwnLevel>
}

/** What is one's own of a level. */
export interface OwnLevel {
  /** Open, in base of the engine. */
  readonly amountE18: bigint
  /** What is hit before the first of them, in the trader's size; absent where it is not known. */
  readonly aheadE18?: bigint
}

/** The rows of a side of the trader's book, best first. Bids are grouped down and asks up: no row shows a better price than it has. */
export function bookRows(
  terms: MarketArithmetic,
  book: TicketBook,
  side: Side,
  { groupE18, rows, own }: RowOptions,
): readonly BookRow[] {
  const levels = engineSide(terms, side) === 'buy' ? book.bids : book.asks
  const made: BookRow[] = []
  let sumE18 = 0n
  for (const level of levels) {
    const priceE18 = grouped(traderPrice(terms, level.priceE18), side, groupE18)
    const sizeE18 = traderSize(terms, level)
    const mine = own?.get(level.priceE18)
    const ownE18 = traderSize(terms, { ...level, amountE18: mine?.amountE18 ?? 0n })
    const last = made.at(-1)
    const isSame = last?.priceE18 === priceE18
    const aheadE18 = (isSame ? last.aheadE18 : undefined) ?? mine?.aheadE18
    if (!isSame && made.length === rows) break
    sumE18 += sizeE18
    const row = {
      priceE18,
      sumE18,
      worstEngineE18: level.priceE18,
      sizeE18: (isSame ? last.sizeE18 : 0n) + sizeE18,
      ownE18: (isSame ? last.ownE18 : 0n) + ownE18,
      bestEngineE18: isSame ? last.bestEngineE18 : level.priceE18,
      ...(aheadE18 !== undefined && { aheadE18 }),
    }
    if (isSame) made[made.length - 1] = row
    else made.push(row)
  }
  return made
}

/** A trader's price of an engine price: on inverted markets its inverse, rounded to the nearest unit of 1e-18. */
export const traderPrice = ({ isInverted }: MarketArithmetic, priceE18: bigint): bigint =>
  isInverted && priceE18 > 0n ? (2n * E18 * E18 + priceE18) / (2n * priceE18) : priceE18

/** A trader's size: on inverted markets the quote, rounded down. */
export const traderSize = (
  { isInverted }: MarketArithmetic,
  { priceE18, amountE18 }: BookLevel,
): bigint => (isInverted ? mulDivFloor(priceE18, amountE18, E18) : amountE18)

function grouped(priceE18: bigint, side: Side, groupE18: bigint): bigint {
  if (groupE18 === 0n) return priceE18
  const groups = side === 'buy' ? priceE18 / groupE18 : mulDivCeil(priceE18, 1n, groupE18)
  return groups * groupE18
}

/** Spread between the best rows: absolute, and in basis points of the middle rounded to the nearest. */
export interface Spread {
  readonly absoluteE18: bigint
  readonly bps: bigint
  readonly middleE18: bigint
}

/** Undefined while a side is empty. A book that is crossed for a moment has a negative spread. */
export function spreadOf(
  bestBid: BookRow | undefined,
  bestAsk: BookRow | undefined,
): Spread | undefined {
  if (bestBid === undefined || bestAsk === undefined) return undefined
  const absoluteE18 = bestAsk.priceE18 - bestBid.priceE18
  const middleE18 = (bestAsk.priceE18 + bestBid.priceE18) / 2n
  if (middleE18 === 0n) return undefined
  return { absoluteE18, middleE18, bps: (absoluteE18 * 10_000n + middleE18 / 2n) / middleE18 }
}
