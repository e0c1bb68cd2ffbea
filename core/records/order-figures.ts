import { formatDecimal } from '../decimal.js'
import { averagePrice, type OrderSums } from '../engine/order-sums.js'
import type { AmountE18 } from '../money.js'

/** Shared, because most orders have no fill. */
const NO_FILL = { fee_paid: '0' } as const

/** The sums where they are those of own fills that amount to `filled`; undefined where there are none, or not all are known. */
export const countedSums = (
  filled: AmountE18,
  sums: OrderSums | undefined,
): OrderSums | undefined => (filled !== 0n && sums?.amount === filled ? sums : undefined)

/** `average_price`: rounded half up at 18 decimals. */
export const averageText = (sums: OrderSums | undefined): string | undefined =>
  sums === undefined ? undefined : formatDecimal(averagePrice(sums), 18)

/** `fee_paid`: `0` without fills, undefined where not all of them are known. */
export function feePaidText(filled: AmountE18, sums: OrderSums | undefined): string | undefined {
  if (filled === 0n) return NO_FILL.fee_paid
  const counted = countedSums(filled, sums)
  return counted === undefined ? undefined : formatDecimal(counted.fee, 18)
}

/**
 * The figures of an order's own fills, which amount to `filled`: of none the fee alone. Empty where `sums` are those of other
 * fills, or absent.
 */
export function figuresRecord(
  filled: AmountE18,
  sums: OrderSums | undefined,
): Readonly<Partial<Record<'filled_quote' | 'average_price' | 'fee_paid', string>>> {
  if (filled === 0n) return NO_FILL
  const counted = countedSums(filled, sums)
  if (counted === undefined) return {}
  return {
    filled_quote: formatDecimal(counted.quote, 18),
    average_price: formatDecimal(averagePrice(counted), 18),
    fee_paid: formatDecimal(counted.fee, 18),
  }
}
