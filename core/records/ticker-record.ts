import type { TickerRecord } from '../../interface/trade.js'
import { traderTerms } from '../contracts/trader-terms.js'
import type { Market } from '../model/market.js'
import { E18, type PriceE18 } from '../money.js'
import type { TradeStats } from './trade-record.js'

/** What a ticker is made of, engine values. */
export interface TickerFacts {
  /** Price of the newest fill at any age. */
  readonly last?: PriceE18 | undefined
  readonly bid?: PriceE18 | undefined
  readonly ask?: PriceE18 | undefined
  readonly stats?: TradeStats | undefined
}

/** What listings show of a market, decimal texts in trader terms; a price that is not known is absent. */
export interface ListedPrices {
  /** What was traded in 24 hours, in the base and in the quote asset. */
  readonly base: string
  readonly quote: string
  readonly last?: string
  readonly bid?: string
  readonly ask?: string
  readonly high?: string
  readonly low?: string
  readonly changePercent?: string
}

/**
 * The base asset priced in the quote asset. The bid is rounded down and the ask up, so that neither is better than the book; the
 * rest is rounded half up. Volumes are 0 where nothing traded.
 */
export function listedPrices(market: Market, { last, bid, ask, stats }: TickerFacts): ListedPrices {
  const terms = traderTerms(market)
  const best = terms.sides(bid, ask)
  const range = stats && terms.highLow(stats.high, stats.low)
  const traded = { amount: stats?.volume ?? 0n, productE36: (stats?.quoteVolume ?? 0n) * E18 }
  return {
    base: terms.base(traded, 'half up'),
    quote: terms.quote(traded, 'half up'),
    ...(last !== undefined && { last: terms.price(last, 'half up') }),
    ...(best.bids !== undefined && { bid: terms.price(best.bids, 'down') }),
    ...(best.asks !== undefined && { ask: terms.price(best.asks, 'up') }),
    ...(range && {
      high: terms.price(range.high, 'half up'),
      low: terms.price(range.low, 'half up'),
    }),
    ...(stats && { changePercent: terms.changePercent(stats.first, stats.last) }),
  }
}

/** Presents a spot market as a ticker (REA-021, REA-022). Unknown prices are empty text. */
export function tickerRecord(market: Market, facts: TickerFacts): TickerRecord {
  const {
    base,
    quote,
    last = '',
    bid = '',
    ask = '',
    high = '',
    low = '',
  } = listedPrices(market, facts)
  return {
    ticker_id: market.market,
    base_currency: market.presentation.baseAssetSymbol,
    target_currency: market.presentation.quoteAssetSymbol,
    last_price: last,
    base_volume: base,
    target_volume: quote,
    bid,
    ask,
    high,
    low,
  }
}
