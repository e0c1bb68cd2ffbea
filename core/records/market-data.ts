import type {
  CandleState,
  LevelRecord,
  LevelsUpdate,
  StatusState,
  TickerState,
} from '../../interface/market-data.js'
import type { FundingRecord, MarkRecord } from '../../interface/prices.js'
import type { PricesAt } from '../contracts/contract.js'
import { inTraderTerms } from '../contracts/translation.js'
import { formatDecimal } from '../decimal.js'
import type { HeldCandle } from '../market-data/candle-series.js'
import type { Market } from '../model/market.js'
import type { PriceE18 } from '../money.js'
import { isoTime } from '../time.js'
import { candleRecord } from './candle-record.js'
import type { BookLevels, PriceLevel } from './listing-record.js'
import { statsRecord, type TradeStats } from './trade-record.js'

/** A level in engine and in trader terms. */
function levelRecord(market: Market, { price, open }: PriceLevel): LevelRecord {
  const ui = inTraderTerms(market, { price, amount: open })
  return {
    price: formatDecimal(price, 18),
    size: formatDecimal(open, 18),
    ui_price: ui.price,
    ui_size: ui.size,
  }
}

/** Levels as the `levels` channel carries them, with the checksum of the book that they lead to. */
export const levelsRecord = (
  market: Market,
  { bids, asks }: BookLevels,
  checksum: number,
): LevelsUpdate => ({
  bids: bids.map((level) => levelRecord(market, level)),
  asks: asks.map((level) => levelRecord(market, level)),
  checksum,
})

/** What a ticker of the `ticker` channel is made of. */
interface TickerParts {
  readonly bid: PriceLevel | undefined
  readonly ask: PriceLevel | undefined
  readonly last: { readonly price: PriceE18; readonly atMs: number } | undefined
  readonly stats: TradeStats | undefined
  readonly prices: PricesAt | undefined
}

/** Presents the ticker of any market, engine values and levels in both terms; what is not known is left out. */
export function tickerState(market: Market, parts: TickerParts): TickerState {
  const { bid, ask, last, stats, prices } = parts
  return {
    ...(bid && { best_bid: levelRecord(market, bid) }),
    ...(ask && { best_ask: levelRecord(market, ask) }),
    ...(last && {
      last_price: formatDecimal(last.price, 18),
      last_trade_at: isoTime(last.atMs),
    }),
    stats_24h: stats === undefined ? {} : statsRecord(stats),
    ...(prices && pricesRecord(prices)),
  }
}

const pricesRecord = ({ mark, index, fundingRate }: PricesAt) => ({
  mark_price: formatDecimal(mark, 18),
  ...(index !== undefined && { index_price: formatDecimal(index, 18) }),
  ...(fundingRate !== undefined && { funding_rate_1h: formatDecimal(fundingRate, 18) }),
})

/** Presents a candle of the `candles` channel. */
export const candleState = (candle: HeldCandle): CandleState => ({
  ...candleRecord(candle),
  closed: candle.closed,
})

/** Presents how a market trades, and since when in unix milliseconds, if that is known. */
export const statusState = (
  { standing: { status, reason }, enabled }: Pick<Market, 'standing' | 'enabled'>,
  sinceMs: number | undefined,
): StatusState => ({
  trading_status: status,
  ...(reason === undefined ? {} : { trading_status_reason: reason }),
  enabled,
  ...(sinceMs === undefined ? {} : { since: isoTime(sinceMs) }),
})

/** Prices of a market as one block of the chain showed them. */
export interface ObservedPrices extends PricesAt {
  /** Time of the block, unix seconds. */
  readonly observedSec: number
  readonly blockNumber: number
}

/** Presents a mark; the index is left out while there is none. */
export function markRecord({ observedSec, blockNumber, mark, index }: ObservedPrices): MarkRecord {
  return {
    observed_at: isoTime(observedSec * 1000),
    block_number: blockNumber,
    mark_price: formatDecimal(mark, 18),
    ...(index !== undefined && { index_price: formatDecimal(index, 18) }),
  }
}

/** Presents a funding rate with the prices that it was computed from. */
export const fundingRecord = (observed: ObservedPrices): FundingRecord => ({
  ...markRecord(observed),
  funding_rate_1h: formatDecimal(observed.fundingRate ?? 0n, 18),
})
