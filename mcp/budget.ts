import { BID_HEADROOM_BPS, type EngineTerms, type MarketEntry } from '../client/index.js'
import { formatDecimal, parseDecimal } from '../core/decimal.js'
import { E18, mulDivCeil } from '../core/money.js'
import type { MarketTicker } from '../interface/market-data.js'
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

/** Prices of a market now, in engine terms; what is not known is absent. */
export type KnownPrices = Pick<
  MarketTicker,
  'best_bid' | 'last_price' | 'mark_price' | 'index_price'
>

/**
 * What an order is worth at its worst price, in 1e-18 USDC, rounded up: where USDC is the engine's base its amount, else its amount at its
 * limit. A sell executes at any price above its limit, and its limit may lie far below what its base is worth. It counts with the
 * highest of its limit, BID_HEADROOM_BPS above the best bid, last price, mark and index. Throws ToolRefused where the market has no
 * USDC, and for a sell where none of those prices is known.
 */
export function worthOf(market: MarketEntry, terms: EngineTerms, prices: KnownPrices = {}): bigint {
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
  const paid = terms.side === 'sell' ? highestOf(market, prices) : 0n
  return mulDivCeil(amount, paid > limit ? paid : limit, E18)
}

/** The highest price at which a market shows that its base is worth something. */
function highestOf({ market }: MarketEntry, prices: KnownPrices): bigint {
  const { best_bid: best, last_price: last, mark_price: mark, index_price: index } = prices
  const read = (text: string | undefined): bigint => parseDecimal(text, 18) ?? 0n
  const bid = mulDivCeil(read(best?.price), 10_000n + BID_HEADROOM_BPS, 10_000n)
  const highest = [bid, read(last), read(mark), read(index)].reduce((a, b) => (a > b ? a : b))
  if (highest > 0n) return highest
  throw new ToolRefused(
    'worth_unknown',
    `${market} has no bid, no trade and no mark, so an order that sells there cannot be bounded`,
    'Wait for a bid or a trade.',
  )
}
