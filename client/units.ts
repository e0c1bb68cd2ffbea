import { engineToIntent } from '../core/contracts/translation.js'
import { parseDecimal } from '../core/decimal.js'
import { amountE18, priceE18 } from '../core/money.js'
import type { MarketEntry } from '../interface/market.js'
import { BadOrderTerms, translate, type EngineTerms, type TraderTerms } from './sign-order.js'

/**
 * Trader units and engine units of a market, both ways. On the spot market a trader buys or sells USDC at a price in cNGN,
 * the engine sells or buys cNGN at a price in USDC; elsewhere both are the same.
 */

/**
 * What the venue makes of trader terms: the price to the nearest tick, half up; the amount down to the step. Throws
 * BadOrderTerms on a market that takes engine terms only, and for what is no positive decimal.
 */
export const toEngineTerms: (market: MarketEntry, terms: TraderTerms) => EngineTerms = translate

/**
 * How the venue presents engine terms to a trader. Where units differ, the price has at most 10 decimals and the size 6, half
 * up. Throws BadOrderTerms for what is no positive decimal.
 */
export function toTraderTerms(
  market: MarketEntry,
  { side, price, amount }: EngineTerms,
): TraderTerms {
  const inverted = market.engine_side_policy === 'invert_ui_side'
  return engineToIntent(inverted ? 'inverted' : 'identity', {
    side,
    price: priceE18(positive('price', price)),
    amount: amountE18(positive('amount', amount)),
  })
}

function positive(field: string, text: string): bigint {
  const value = parseDecimal(text, 18)
  if (value !== undefined && value > 0n) return value
  throw new BadOrderTerms(`${field} must be a positive decimal, not ${JSON.stringify(text)}`)
}
