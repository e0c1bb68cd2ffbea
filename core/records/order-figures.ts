import { formatDecimal } from '../decimal.js'
import { averagePrice, type OrderSums } from '../engine/order-sums.js'
import type { AmountE18 } from '../money.js'

/** The figures of an order's own fills, of the amount that stands; empty where they are not known. */
export function figuresRecord(
  filled: AmountE18,
  sums: OrderSums | undefined,
): Partial<Record<'filled_quote' | 'average_price' | 'fee_paid', string>> {
  if (sums === undefined) return filled === 0n ? { fee_paid: '0' } : {}
  return {
    filled_quote: formatDecimal(sums.quote, 18),
    ...(filled > 0n && { average_price: formatDecimal(averagePrice(sums, filled), 18) }),
    fee_paid: formatDecimal(sums.fee, 18),
  }
}

/** The same as members of a JSON object, each with the comma that parts it from the next. */
export function figureMembers(filled: AmountE18, sums: OrderSums | undefined): string {
  if (sums === undefined) return filled === 0n ? '"fee_paid":"0",' : ''
  const { filled_quote: quote, average_price: average, fee_paid: fee } = figuresRecord(filled, sums)
  const price = average === undefined ? '' : `"average_price":"${average}",`
  return `"filled_quote":"${quote}",${price}"fee_paid":"${fee}",`
}
