import type { TickerRecord } from '../../interface/trade.js'
import type { Market } from '../contracts/market.js'
import { divHalfUp, formatDecimal } from '../decimal.js'
import { mulDivCeil, mulDivFloor, type PriceE18 } from '../money.js'
import type { TradeStats } from './trade-record.js'

/** What a ticker is made of, engine values. */
export interface TickerFacts {
  /** Price of the newest fill at any age. */
  readonly last?: PriceE18 | undefined
  readonly bid?: PriceE18 | undefined
  readonly ask?: PriceE18 | undefined
  readonly stats?: TradeStats | undefined
}

/** Decimals of a price in ticker terms. */
export const PRICE_DECIMALS = 10
const BASE_VOLUME_DECIMALS = 6
/** 1 / price at ten decimals is this over the price at 1e18. */
const INVERSE = 10n ** 28n

/**
 * Presents a spot market as a ticker (interface 2.8, decision D6): the base asset priced in the quote asset, which on spot is
 * the inverse of engine values. Unknown prices are empty text. The bid is rounded down and the
 * ask up, so that neither is better than the book; the rest is rounded half up.
 */
export function tickerRecord(market: Market, facts: TickerFacts): TickerRecord {
  const { last, bid, ask, stats } = facts
  return {
    ticker_id: market.market,
    base_currency: market.presentation.baseAssetSymbol,
    target_currency: market.presentation.quoteAssetSymbol,
    last_price: inverse(last, divHalfUp),
    base_volume: formatDecimal(
      // From 1e18 to the token's six decimals.
      divHalfUp(stats?.quoteVolume ?? 0n, 10n ** 12n),
      BASE_VOLUME_DECIMALS,
    ),
    target_volume: formatDecimal(stats?.volume ?? 0n, 18),
    bid: inverse(ask, (one, price) => mulDivFloor(one, 1n, price)),
    ask: inverse(bid, (one, price) => mulDivCeil(one, 1n, price)),
    high: inverse(stats?.low, divHalfUp),
    low: inverse(stats?.high, divHalfUp),
  }
}

/** 1 / price at ten decimals, of a price at 1e18; `divide` rounds. */
export const inverseE10 = (
  price: PriceE18,
  divide: (one: bigint, price: bigint) => bigint,
): bigint => divide(INVERSE, price)

function inverse(
  price: PriceE18 | undefined,
  divide: (one: bigint, price: bigint) => bigint,
): string {
  return price === undefined ? '' : formatDecimal(inverseE10(price, divide), PRICE_DECIMALS)
}
