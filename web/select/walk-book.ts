import type { Side } from '../../core/model/order.js'
import { E18, mulDivFloor } from '../../core/money.js'

/** A level of the book in engine terms: price in quote per base, amount in base, both at 1e18. */
export interface BookLevel {
  readonly priceE18: bigint
  readonly amountE18: bigint
}

/** What an order would meet now. */
export interface Walk {
  /** Base that would match at once. */
  readonly amountE18: bigint
  /** What that is in quote, rounded down at each level as the chain does. */
  readonly quoteE18: bigint
  /** The last price that is met; undefined when nothing is. */
  readonly worstE18: bigint | undefined
  /** How many levels are met. */
  readonly levels: number
  /** What is asked for and is not there within the limit: base, or quote, as it was asked. */
  readonly leftE18: bigint
}

/** What is asked for: so much base, or so much quote. */
export type WalkAmount = { readonly amountE18: bigint } | { readonly quoteE18: bigint }

/** What bounds a walk; without a limit it takes any price. */
export interface Within {
  readonly stepE18: bigint
  readonly limitE18?: bigint
}

/** Whether an order with this limit may take this price; without a limit it may take any. */
export const isWithin = (side: Side, priceE18: bigint, limitE18: bigint | undefined): boolean =>
  limitE18 === undefined || (side === 'buy' ? priceE18 <= limitE18 : priceE18 >= limitE18)

/**
 * Walks the other side of the book, best level first, until what is asked for is met or the limit is reached; no level beyond the
 * limit is met. Amounts are whole steps, each rounded down, so that of a quote up to the worth of one step stays.
 */
export function walkBook(
  levels: readonly BookLevel[],
  side: Side,
  asked: WalkAmount,
  { stepE18, limitE18 }: Within,
): Walk {
  const isQuote = 'quoteE18' in asked
  let left = isQuote ? asked.quoteE18 : asked.amountE18
  let [amountE18, quoteE18, met] = [0n, 0n, 0]
  let worstE18: bigint | undefined
  for (const { priceE18, amountE18: resting } of levels) {
    if (left === 0n || priceE18 === 0n || !isWithin(side, priceE18, limitE18)) break
    const wanted = isQuote ? mulDivFloor(left, E18, priceE18) : left
    const taken = floorTo(wanted < resting ? wanted : resting, stepE18)
    if (taken === 0n) break
    const worth = mulDivFloor(priceE18, taken, E18)
    amountE18 += taken
    quoteE18 += worth
    met += 1
    worstE18 = priceE18
    left -= isQuote ? worth : taken
    if (taken < resting) break
  }
  return { amountE18, quoteE18, worstE18, levels: met, leftE18: left }
}

/** The average price of a walk in quote per base at 1e18, rounded down; undefined when nothing is met. */
export const averageOf = ({ amountE18, quoteE18 }: Walk): bigint | undefined =>
  amountE18 === 0n ? undefined : mulDivFloor(quoteE18, E18, amountE18)

export const floorTo = (value: bigint, step: bigint): bigint => value - (value % step)

/**
 * The worst price that a market order takes: so many basis points beyond the best one, on the tick next to it on the better side.
 * Never 0. Undefined without a best price.
 */
export function guardPrice(
  side: Side,
  bestE18: bigint | undefined,
  guardBps: bigint,
  tickE18: bigint,
): bigint | undefined {
  if (bestE18 === undefined) return undefined
  const factor = side === 'buy' ? 10_000n + guardBps : 10_000n - guardBps
  const product = bestE18 * factor
  const inTicks =
    side === 'buy'
      ? product / (10_000n * tickE18)
      : (product + 10_000n * tickE18 - 1n) / (10_000n * tickE18)
  const price = inTicks * tickE18
  return price === 0n ? tickE18 : price
}
