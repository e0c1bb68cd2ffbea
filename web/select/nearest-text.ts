import type { MarketEntry } from '../../client/index.js'
import { traderSize } from './book-rows.js'
import type { TicketGuard } from './guards.js'
import type { MarketArithmetic } from './market-terms.js'
import { plainText, priceText } from './price-text.js'
import type { Plan } from './ticket.js'

/** The nearest value that passes a guard, as a field of the ticket takes it. */
export interface NearestText {
  readonly field: 'price' | 'size'
  readonly text: string
}

/** Undefined where the guard has none, or where no value helps. */
export function nearestText(
  entry: MarketEntry,
  terms: MarketArithmetic,
  plan: Plan,
  { code, nearestE18 }: TicketGuard,
): NearestText | undefined {
  if (nearestE18 === undefined || nearestE18 === 0n) return undefined
  const { ui_price_decimals: priceDecimals, ui_size_decimals: sizeDecimals } = entry
  if (code === 'below_min_notional') {
    // A unit above: what is typed is rounded down to a step.
    const amountE18 = nearestE18 + terms.stepE18
    const sizeE18 = traderSize(terms, { priceE18: plan.limitE18, amountE18 })
    return { field: 'size', text: plainText(sizeE18, sizeDecimals, 'up') }
  }
  if (code === 'outside_band' || code === 'far_from_book')
    return { field: 'price', text: priceText(terms, plan.side, nearestE18, priceDecimals) }
  if (code === 'own_order_met') {
    // The tick before it: an order that meets one's own is cancelled.
    const short = plan.side === 'buy' ? nearestE18 - terms.tickE18 : nearestE18 + terms.tickE18
    return short <= 0n
      ? undefined
      : { field: 'price', text: priceText(terms, plan.side, short, priceDecimals) }
  }
  if (code !== 'insufficient_balance') return undefined
  // What is free is in what is given: quote for an engine's buy, base for a sale; fees stay below one per cent.
  const kept = (nearestE18 * 99n) / 100n
  const atLimit = { priceE18: plan.limitE18, amountE18: kept }
  const sizeE18 =
    plan.side === 'sell' ? traderSize(terms, atLimit) : sizeOfQuote(terms, plan.limitE18, kept)
  return sizeE18 === 0n
    ? undefined
    : { field: 'size', text: plainText(sizeE18, sizeDecimals, 'down') }
}

/** The least size that the ticket's field takes; undefined where the engine counts the other side, of which any size is a step. */
export const leastText = (entry: MarketEntry, terms: MarketArithmetic): string | undefined =>
  terms.isInverted ? undefined : plainText(terms.stepE18, entry.ui_size_decimals, 'up')

/** A trader's size that so much quote of the engine pays for, rounded down. */
const sizeOfQuote = (
  { isInverted }: MarketArithmetic,
  limitE18: bigint,
  quoteE18: bigint,
): bigint => (isInverted ? quoteE18 : (quoteE18 * 10n ** 18n) / limitE18)
