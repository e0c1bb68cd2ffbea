import { tradingOf } from '../contracts/registry.js'
import { divHalfUp } from '../decimal.js'
import type { Change } from '../model/change.js'
import type { Market } from '../model/market.js'
import { isLiving, type Order, type OrderProgress, type OrderStatus } from '../model/order.js'
import {
  amountE18,
  priceE18,
  quoteE18,
  type AmountE18,
  type PriceE18,
  type QuoteE18,
} from '../money.js'

/**
 * The figures of one order: what its own fills that stand add up to. What it took over from the order that it replaced, or
 * was declared as filled elsewhere, is in none of them.
 */
export interface OrderSums {
  /** The amount of these fills: another one than what is filled of the order where not all of its fills are known. */
  readonly amount: AmountE18
  /** What the contract counts as exchanged, in quote, each fill rounded down. */
  readonly quote: QuoteE18
  /** Σ price × amount, exact, at 1e36. */
  readonly product: bigint
  /** What the order paid, in quote. */
  readonly fee: QuoteE18
}

/** What decides how a fill counts. */
type CountedBy = Pick<Market, 'contractType' | 'takerFeeBps'>

const NONE: OrderSums = {
  amount: amountE18(0n),
  quote: quoteE18(0n),
  product: 0n,
  fee: quoteE18(0n),
}

/** The sums after a change of the order; undefined while it never had a fill, or if it has had some and they are not known. */
export function sumsAfter(
  market: CountedBy,
  change: Change,
  before: OrderSums | undefined,
): OrderSums | undefined {
  if (change.kind !== 'OrderFilled' && change.kind !== 'FillReversed') return before
  const isTakenBack = change.kind === 'FillReversed'
  if (isTakenBack && before === undefined) return undefined
  const { price, amount, fee } = change.fill
  const sign = isTakenBack ? -1n : 1n
  const { amount: sum, quote, product, fee: paid } = before ?? NONE
  return {
    amount: amountE18(sum + sign * amount),
    quote: quoteE18(quote + sign * tradingOf(market).quoteOf(market, price, amount)),
    product: product + sign * price * amount,
    fee: quoteE18(paid + sign * fee),
  }
}

/** The amount of an order's own fills that stand. */
export const ownFilled = (
  { initialFilled }: Pick<Order, 'initialFilled'>,
  { filled }: Pick<OrderProgress, 'filled'>,
): AmountE18 => (initialFilled === 0n ? filled : amountE18(filled - initialFilled))

/** The average price of fills of an amount above 0, rounded half up: of equal prices the price itself. */
export const averagePrice = ({
  product,
  amount,
}: Pick<OrderSums, 'product' | 'amount'>): PriceE18 => priceE18(divHalfUp(product, amount))

/**
 * Whether no command changes the order any more: it has ended and nothing of it awaits settlement. Only a chain that changes its
 * answer about a match still takes a fill back, or fills it late.
 */
export const isFinal = ({
  status,
  pending,
}: {
  readonly status: OrderStatus
  readonly pending: AmountE18
}): boolean => !isLiving(status) && pending === 0n
