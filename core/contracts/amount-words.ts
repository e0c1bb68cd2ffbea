import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import { tradingOf } from './registry.js'

/** Amounts of a market as an operator reads them: decimal text and the unit. */

/** A base amount at 1e18. */
export const wordAmount = ({ presentation }: Market, e18: bigint): string =>
  `${formatDecimal(e18, 18)} ${presentation.engineAmountUnit}`

/** A price at 1e18. */
export const wordPrice = ({ presentation }: Market, e18: bigint): string =>
  `${formatDecimal(e18, 18)} ${presentation.enginePriceUnit}`

/** A quote amount at 1e18, such as a fee. */
export const wordQuote = (market: Market, e18: bigint): string =>
  `${formatDecimal(e18, 18)} ${tradingOf(market).quoteSymbol(market)}`
