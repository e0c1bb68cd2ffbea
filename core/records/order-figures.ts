import { formatDecimal } from '../decimal.js'
import { averagePrice, type OrderSums } from '../engine/order-sums.js'
import type { AmountE18 } from '../money.js'

/** Shared, because most orders have no fill. */
const NO_FILL = { fee_paid: '0' } as const

/**
 * The figures of an order's own fills, which amount to `filled`: of none the fee alone. Empty where `sums` are those of other
 * fills, or absent.
 */
export function figuresRecord(
  filled: AmountE18,
  sums: OrderSums | undefined,
): Readonly<Partial<Record<'filled_quote' | 'average_price' | 'fee_paid', string>>> {
  if (filled === 0n) return NO_FILL
  if (sums?.amount !== filled) return {}
  return {
    filled_quote: formatDecimal(sums.quote, 18),
    average_price: formatDecimal(averagePrice(sums), 18),
    fee_paid: formatDecimal(sums.fee, 18),
  }
}

/** The same as members of a JSON object, each with the comma that parts it from the next. */
export function figureMembers(filled: AmountE18, sums: OrderSums | undefined): string {
  const { filled_quote: quote, average_price: price, fee_paid: fee } = figuresRecord(filled, sums)
  const traded = quote === undefined ? '' : `"filled_quote":"${quote}","average_price":"${price}",`
  return fee === undefined ? '' : `${traded}"fee_paid":"${fee}",`
}
