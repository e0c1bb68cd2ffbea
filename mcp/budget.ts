import { BID_HEADROOM_BPS, type EngineTerms, type MarketEntry } from '../client/index.js'
import { formatDecimal, parseDecimal } from '../core/decimal.js'
import { E18, mulDivCeil } from '../core/money.js'
import type { OrderBounds } from './options.js'
import { ToolRefused } from './tool.js'

/** What the orders of this process may be worth. */
export interface Budget {
  /** Throws ToolRefused where an order of this worth may not be sent now. */
  check(worthE18: bigint): void
  /** Counts an order that is sent. Throws as `check` does, and then counts nothing. */
  take(worthE18: bigint): void
}

export function createBudget({ largestE18, totalE18 }: OrderBounds): Budget {
  let spentE18 = 0n
  const check = (worthE18: bigint): void => {
    const worth = `the order is worth ${formatDecimal(worthE18, 18)} USDC at its worst price`
    if (worthE18 > largestE18)
      throw new ToolRefused(
        'above_max_notional',
        `${worth}, more than --max-notional ${formatDecimal(largestE18, 18)}`,
        'Place less. The person who runs this server sets the bound; do not split an order to pass it.',
      )
    if (spentE18 + worthE18 > totalE18)
      throw new ToolRefused(
        'above_max_total',
        `${worth}, and ${formatDecimal(totalE18 - spentE18, 18)} of --max-total are left`,
        'Place less, or let the person who runs this server start it again.',
      )
  }
  return {
    check,
    take(worthE18) {
      check(worthE18)
      spentE18 += worthE18
    },
  }
}

/**
 * The most that an order moves, in 1e-18 USDC, rounded up: where USDC is the engine's base its amount, else its amount at its worst price. A sell
 * executes at any price above its limit, up to the headroom above `bestBid` that its signed fee allows. Throws ToolRefused where the
 * market has no USDC.
 */
export function worthOf(market: MarketEntry, terms: EngineTerms, bestBid?: string): bigint {
  const amount = parseDecimal(terms.amount, 18) ?? 0n
  const { base_asset_symbol: base, quote_asset_symbol: quote } = market
  // The symbols are a trader's, the terms are the engine's.
  const isInverted = market.engine_side_policy === 'invert_ui_side'
  if ((isInverted ? quote : base) === 'USDC') return amount
  if ((isInverted ? base : quote) !== 'USDC')
    throw new ToolRefused(
      'worth_unknown',
      `${market.market} has no USDC, so its orders cannot be bounded`,
      'Trade another market.',
    )
  const limit = parseDecimal(terms.price, 18) ?? 0n
  const bid = terms.side === 'sell' ? (parseDecimal(bestBid, 18) ?? 0n) : 0n
  const highest = mulDivCeil(bid, 10_000n + BID_HEADROOM_BPS, 10_000n)
  return mulDivCeil(amount, highest > limit ? highest : limit, E18)
}
