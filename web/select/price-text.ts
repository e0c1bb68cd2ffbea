import { parseDecimal } from '../../core/decimal.js'
import type { Side } from '../../core/model/order.js'
import { traderPrice } from './book-rows.js'
import { formatE18, type DisplayRounding } from './format.js'
import type { MarketArithmetic } from './market-terms.js'
import { limitOf } from './ticket.js'

const ROUNDINGS: readonly DisplayRounding[] = ['nearest', 'down', 'up']

/**
 * The shortest price in trader terms, with at least so many decimals, that a ticket of this engine side turns into exactly this engine
 * price: a click on a level asks for that level, and not for the tick beside it.
 */
export function priceText(
  terms: MarketArithmetic,
  engineSide: Side,
  engineE18: bigint,
  leastDecimals: number,
): string {
  const exact = traderPrice(terms, engineE18)
  for (let decimals = leastDecimals; decimals <= 18; decimals += 1) {
    for (const rounding of ROUNDINGS) {
      const text = plainText(exact, decimals, rounding)
      const typed = parseDecimal(text, 18)
      if (typed !== undefined && typed > 0n && limitOf(terms, engineSide, typed) === engineE18)
        return text
    }
  }
  return plainText(exact, 18, 'nearest')
}

/** A number as an input shows it: no grouping, and the zeros kept. */
export const plainText = (valueE18: bigint, decimals: number, rounding: DisplayRounding): string =>
  formatE18(valueE18, decimals, rounding).replaceAll(',', '').replace('<', '')
