import { z } from 'zod'
import { MarketEntry } from './market.js'
import { nextBefore, SpotContract } from './order.js'
import {
  address,
  decimal,
  engineAmount,
  enginePrice,
  engineQuote,
  hash,
  integer,
  orderId,
  pageLimit,
  rangeInQuery,
  type Shape,
  Side,
  signedDecimal,
  time,
  wholeInQuery,
} from './values.js'

/** Trades, fills, candles and tickers. Prices and sizes are the engine's, except in tickers. */

/** Most candles of one answer. */
export const MAX_CANDLES_LIMIT = 1000
const DEFAULT_CANDLES_LIMIT = 200

export const tradeId = z
  .int()
  .min(1)
  .describe('Unique across the venue, increasing within a market.')

export const markPrice = decimal.describe(
  'Futures: the mark at the fill, in cNGN per USDC; absent when it is not known.',
)

const makersPrice =
  'Engine price, the maker’s: USDC per cNGN on spot and perpetuals, cNGN per USDC on futures.'

const reversed = z
  .literal(true)
  .optional()
  .describe('The chain has lost the settlement for good: it counts no longer.')

/** A settled match as everyone sees it. */
export const TradeRecord = z
  .object({
    trade_id: tradeId,
    market: z.string(),
    asset_address: address,
    sub_id: integer,
    price: decimal.describe(makersPrice),
    size: engineAmount,
    aggressor_side: Side.describe('Engine side of the taker.'),
    taker_order_id: orderId,
    maker_order_id: orderId,
    created_at: time,
    contract_type: z.string(),
    settlement_type: z.string().describe('As on the market entry.'),
    spot_contract: SpotContract.optional().describe('The taker’s side in both languages.'),
    tx_hash: hash.describe('The transaction that settled it.'),
    mark_price: markPrice.optional(),
    reversed,
  })
  .meta({ id: 'Trade', description: 'A settled match.' })
export type TradeRecord = Shape<typeof TradeRecord>

/** The trailing 24 hours of a market. */
export const Stats24h = z
  .object({
    change: signedDecimal.optional().describe('Last less first, engine prices.'),
    high: enginePrice.optional(),
    low: enginePrice.optional(),
    last: enginePrice.optional(),
    volume: engineAmount.optional(),
    quote_volume: engineQuote.optional(),
  })
  .meta({ id: 'Stats24h', description: 'The trailing 24 hours; empty when nothing traded.' })
export type Stats24h = Shape<typeof Stats24h>

/** The body of `GET /v1/trades`. */
export const TradesPage = z
  .object({
    market_presentation: MarketEntry,
    stats_24h: Stats24h,
    trades: z.array(TradeRecord).describe('Newest first.'),
    next_before_trade_id: tradeId.optional().describe('Of the next page; absent on the last.'),
  })
  .meta({ id: 'Trades', description: 'A page of trades and the day before now.' })
export type TradesPage = Shape<typeof TradesPage>

/** Query of trades besides their market. */
export const TradesQuery = z.object({
  limit: pageLimit,
  before_trade_id: wholeInQuery(z.int().min(1).optional()).describe(
    'Only trades older than this one.',
  ),
  ...rangeInQuery,
})

/** One order's leg of a settled match, as its owner sees it. */
export const FillRecord = z
  .object({
    trade_id: z.int().min(1).describe('The same for both orders of a trade.'),
    order_id: orderId,
    liquidity: z.enum(['maker', 'taker']),
    side: Side.describe('Engine side of one’s own order.'),
    price: decimal.describe(makersPrice),
    size: engineAmount,
    asset_address: address,
    sub_id: integer,
    market: z.string(),
    display_name: z.string(),
    created_at: time,
    fee: decimal.describe('What this order paid, in USDC.'),
    tx_hash: hash.describe('The transaction that settled it.'),
    reversed,
    spot_contract: SpotContract.optional().describe('The fill in trader terms.'),
    mark_price: markPrice.optional(),
    vm_cngn: signedDecimal
      .optional()
      .describe(
        'Futures: variation margin of the fill in cNGN; positive when this order received it.',
      ),
  })
  .meta({ id: 'Fill', description: 'One order’s leg of a settled match.' })
export type FillRecord = Shape<typeof FillRecord>

/** The body of `GET /v1/fills`. */
export const FillsPage = z
  .object({ fills: z.array(FillRecord), next_before: nextBefore })
  .meta({ id: 'Fills', description: 'A page of fills.' })
export type FillsPage = Shape<typeof FillsPage>

/** The length of a candle. */
export const CandleInterval = z
  .enum(['1m', '5m', '15m', '1h', '4h', '1d'])
  .meta({ id: 'CandleInterval' })
export type CandleInterval = Shape<typeof CandleInterval>

/** The trades of one interval. */
export const CandleRecord = z
  .object({
    bucket_start: time,
    open: enginePrice,
    high: enginePrice,
    low: enginePrice,
    close: enginePrice,
    volume: engineAmount,
    quote_volume: engineQuote,
    trade_count: z.int().min(1),
  })
  .meta({ id: 'Candle', description: 'The trades of one interval, engine values.' })
export type CandleRecord = Shape<typeof CandleRecord>

/** The body of `GET /v1/candles`. */
export const CandlesPage = z
  .object({
    market_presentation: MarketEntry,
    interval: CandleInterval,
    candles: z.array(CandleRecord),
  })
  .meta({ id: 'Candles', description: 'Candles of one market.' })
export type CandlesPage = Shape<typeof CandlesPage>

/** Query of candles besides their market. */
export const CandlesQuery = z.object({
  interval: CandleInterval.default('1h'),
  limit: wholeInQuery(z.int().min(1).max(MAX_CANDLES_LIMIT).default(DEFAULT_CANDLES_LIMIT)),
  start: z.string().optional().describe('RFC 3339: only buckets from here on.'),
  end: z.string().optional().describe('RFC 3339: only buckets before this.'),
})

const unknownOrDecimal = z.union([z.literal(''), decimal])

/** An item of `GET /v1/integrations/tickers`; a price that is not known is empty text. */
export const TickerRecord = z
  .object({
    ticker_id: z.string(),
    base_currency: z.string().describe('What is priced.'),
    target_currency: z.string().describe('What it is priced in.'),
    last_price: unknownOrDecimal.describe('Of the newest fill at any age; empty before the first.'),
    base_volume: decimal.describe('Trailing 24 hours.'),
    target_volume: decimal.describe('Trailing 24 hours.'),
    bid: unknownOrDecimal,
    ask: unknownOrDecimal,
    high: unknownOrDecimal.describe('Trailing 24 hours.'),
    low: unknownOrDecimal.describe('Trailing 24 hours.'),
  })
  .meta({ id: 'Ticker', description: 'A market as listings show it: USDC priced in cNGN.' })
export type TickerRecord = Shape<typeof TickerRecord>

/** Query of tickers. */
export const TickersQuery = z.object({
  ticker_id: z.string().optional().describe('Only this market.'),
})
