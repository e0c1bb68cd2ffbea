import { z } from 'zod'
import { TradingStatus } from './market.js'
import { CandleRecord, Stats24h } from './trade.js'
import { decimal, enginePrice, type Shape, signedDecimal, time, wholeInQuery } from './values.js'

/** What the public channels `levels`, `ticker`, `candles` and `status` carry. Additive to the interface. */

/** Levels of each side that a client may ask for. */
export const LEVEL_DEPTHS = [10, 25, 100, 500] as const
export const LevelDepth = z
  .literal(LEVEL_DEPTHS)
  .describe('Levels of each side; 25 when the subscription names none.')
export type LevelDepth = Shape<typeof LevelDepth>
export const DEFAULT_LEVEL_DEPTH: LevelDepth = 25

/** The open orders of one price. */
export const LevelRecord = z
  .object({
    price: enginePrice,
    size: decimal.describe(
      'Sum of what is open, engine amount (cNGN on spot and perpetuals, USDC on futures); `0` when the level is gone.',
    ),
    ui_price: decimal.describe('The price in trader terms, rounded half up at 10 decimals.'),
    ui_size: decimal.describe('The size in trader terms, rounded half up at 6 decimals.'),
  })
  .meta({ id: 'Level', description: 'The open orders of one price, in both languages.' })
export type LevelRecord = Shape<typeof LevelRecord>

const checksum = z
  .int()
  .min(0)
  .max(2 ** 32 - 1)
  .describe(
    'CRC-32 of the best ten bids and then the best ten asks after this frame: `price:size` of each in engine units, best first, joined by commas.',
  )

/** `data` of a `levels` snapshot: the best levels of both engine sides. */
export const LevelsSnapshot = z.object({
  bids: z.array(LevelRecord).describe('Engine buys, best first.'),
  asks: z.array(LevelRecord).describe('Engine sells, best first.'),
  checksum,
})
export type LevelsSnapshot = Shape<typeof LevelsSnapshot>

/** `data` of a `levels` update: every level of the depth that is another than before, by its absolute size. */
export const LevelsUpdate = z.object({
  bids: z.array(LevelRecord).describe('In no order; size `0`: no longer among the best.'),
  asks: z.array(LevelRecord).describe('The same of engine sells.'),
  checksum,
})
export type LevelsUpdate = Shape<typeof LevelsUpdate>

/** `data` of a `ticker` frame; what is not known is absent. */
export const TickerState = z.object({
  best_bid: LevelRecord.optional().describe('Highest engine buy.'),
  best_ask: LevelRecord.optional().describe('Lowest engine sell.'),
  last_price: enginePrice
    .optional()
    .describe('Engine price of the newest trade that stands, at any age.'),
  last_trade_at: time.optional(),
  stats_24h: Stats24h.describe('Since the minute in which the last 24 hours began.'),
  mark_price: decimal.optional().describe('Perpetuals and futures.'),
  index_price: decimal.optional().describe('Perpetuals and futures.'),
  funding_rate_1h: signedDecimal.optional().describe('Perpetuals.'),
})
export type TickerState = Shape<typeof TickerState>

const ofMarket = {
  market: z.string(),
  seq: z
    .int()
    .min(0)
    .describe('Number of the newest change of the market that it includes: `seq` of `book`.'),
  ts: time.describe('When it was read.'),
}

/** The body of `GET /v1/levels`: a `levels` snapshot, numbered as its channel is. */
export const MarketLevels = z
  .object({ ...ofMarket, ...LevelsSnapshot.shape })
  .meta({ id: 'MarketLevels', description: 'The best price levels of a market.' })
export type MarketLevels = Shape<typeof MarketLevels>

/** Query of levels besides their market. */
export const LevelsQuery = z.object({
  depth: wholeInQuery(LevelDepth.default(DEFAULT_LEVEL_DEPTH), 3).describe(
    'Levels of each side: 10, 25, 100 or 500.',
  ),
})

/** An item of `GET /v1/tickers`: the ticker of a market of any kind, as its channel has it. */
export const MarketTicker = z
  .object({ ...ofMarket, ...TickerState.shape })
  .meta({ id: 'MarketTicker', description: 'The ticker of a market, engine values.' })
export type MarketTicker = Shape<typeof MarketTicker>

/** A candle of the `candles` channel. */
export const CandleState = z
  .object({
    ...CandleRecord.shape,
    trade_count: z
      .int()
      .min(0)
      .describe('`0` when every trade of the interval was reversed: there is no such candle.'),
    closed: z
      .boolean()
      .describe('Its time is over. A trade that the chain loses later still changes it.'),
  })
  .meta({ id: 'CandleState', description: 'The trades of one interval so far, engine values.' })
export type CandleState = Shape<typeof CandleState>

/** `data` of a `status` frame. */
export const StatusState = z.object({
  ...TradingStatus.shape,
  enabled: z.boolean().describe('False: the market takes no orders and is not listed.'),
  since: time
    .optional()
    .describe('When the market got this status; absent where that is not known.'),
})
export type StatusState = Shape<typeof StatusState>
