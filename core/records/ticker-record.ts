import type { TickerRecord } from '../../interface/trade.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import { E18, type PriceE18 } from '../money.js'
import { inversePrice, listedVolume, type Rounding } from './listed-numbers.js'
import type { TradeStats } from './trade-record.js'

/** What a ticker is made of, engine values. */
export interface TickerFacts {
  /** Price of the newest fill at any age. */
  readonly last?: PriceE18 | undefined
  readonly bid?: PriceE18 | undefined
  readonly ask?: PriceE18 | undefined
  readonly stats?: TradeStats | undefined
}

/**
 * Presents a spot market as a ticker (REA-021, REA-022): the base asset priced in the quote asset, which on spot is
 * the inverse of engine values. Unknown prices are empty text. The bid is rounded down and the
 * ask up, so that neither is better than the book; the rest is rounded half up.
 */
export function tickerRecord(market: Market, facts: TickerFacts): TickerRecord {
  const { last, bid, ask, stats } = facts
  return {
    ticker_id: market.market,
    base_currency: market.presentation.baseAssetSymbol,
    target_currency: market.presentation.quoteAssetSymbol,
    last_price: inverse(last, 'half up'),
    base_volume: listedVolume((stats?.quoteVolume ?? 0n) * E18, 'half up'),
    target_volume: formatDecimal(stats?.volume ?? 0n, 18),
    bid: inverse(ask, 'down'),
    ask: inverse(bid, 'up'),
    high: inverse(stats?.low, 'half up'),
    low: inverse(stats?.high, 'half up'),
  }
}

const inverse = (price: PriceE18 | undefined, rounding: Rounding): string =>
  price === undefined ? '' : inversePrice(price, rounding)
