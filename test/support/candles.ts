import fc from 'fast-check'
import { parseDecimal } from '../../core/decimal.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import type { Candle } from '../../core/records/candle-record.js'

/** Prices between a thousandth of a millionth and ten thousand, which have an inverse above zero at ten decimals. */
const price = fc.bigInt({ min: 10n ** 9n, max: 10n ** 22n }).map(priceE18)
const sum = fc.bigInt({ min: 10n ** 12n, max: 10n ** 30n })

/** A candle with any prices, the highest and the lowest among them, of the first minute. */
export const anyCandle: fc.Arbitrary<Candle> = fc
  .record({
    prices: fc.array(price, { minLength: 1, maxLength: 6 }),
    volume: sum.map(amountE18),
    quoteVolume: sum.map(quoteE18),
  })
  .map(({ prices, ...sums }) => {
    const [open = priceE18(1n)] = prices
    return {
      startSec: 0,
      tradeCount: prices.length,
      ...sums,
      open,
      close: prices.at(-1) ?? open,
      high: prices.reduce((a, b) => (a > b ? a : b)),
      low: prices.reduce((a, b) => (a < b ? a : b)),
    }
  })

/** A decimal text as an integer at so many decimals; it must have no more. */
export function scaled(text: string, decimals: number): bigint {
  const value = parseDecimal(text, decimals)
  if (value === undefined) throw new Error(`${text} has more than ${decimals} decimals`)
  return value
}
