import { z } from 'zod'
import { decimal, type Shape, wholeInQuery } from './values.js'

/**
 * What listing sites poll besides tickers: the base asset of the ticker priced in its target. On spot that is the inverse of
 * engine values, USDC in cNGN; on perpetuals and futures, which are read by a path alone, it is the engine's. Additive to the
 * interface.
 */

/** Most price levels of a listed book, both sides together. */
export const MAX_LISTED_LEVELS = 1_000
const DEFAULT_LISTED_LEVELS = 100
/** Most trades of a listing. */
export const MAX_LISTED_TRADES = 500
const DEFAULT_LISTED_TRADES = 100

const tickerId = z.string().optional().describe('The market’s identifier; required.')

/** Query of a listed book. */
export const ListedBookQuery = z.object({
  ticker_id: tickerId,
  depth: wholeInQuery(
    z.int().min(0).max(MAX_LISTED_LEVELS).default(DEFAULT_LISTED_LEVELS),
  ).describe(
    'Price levels of both sides together, half of them of each; 0 is as many as there may be.',
  ),
})

const ListedLevel = z
  .tuple([decimal, decimal])
  .describe(
    'Price in the target asset, amount of the base asset. On spot, where it is the inverse of the book, the price at ten decimals and the amount at six; what is smaller has all of its decimals. No price stands twice, and none is 0.',
  )
export type ListedLevel = Shape<typeof ListedLevel>

/** The body of `GET /v1/integrations/orderbook`. */
export const ListedBook = z
  .object({
    ticker_id: z.string(),
    timestamp: z.int().min(0).describe('Unix milliseconds.'),
    bids: z.array(ListedLevel).describe('Best first.'),
    asks: z.array(ListedLevel).describe('Best first.'),
  })
  .meta({ id: 'ListedBook', description: 'Price levels as listing sites poll them.' })
export type ListedBook = Shape<typeof ListedBook>

const ListedSide = z.enum(['buy', 'sell']).describe('What the taker did with the base asset.')
export type ListedSide = Shape<typeof ListedSide>

const listedTime = wholeInQuery(z.int().min(0).optional(), 15)

/** Query of listed trades. */
export const ListedTradesQuery = z.object({
  ticker_id: tickerId,
  type: ListedSide.optional(),
  limit: wholeInQuery(
    z.int().min(0).max(MAX_LISTED_TRADES).default(DEFAULT_LISTED_TRADES),
  ).describe(
    'The newest of the trades that the other parameters name; 0 is as many as there may be.',
  ),
  start_time: listedTime.describe('Only trades from this time on. Unix milliseconds, or seconds.'),
  end_time: listedTime.describe('Only trades before this time. Unix milliseconds, or seconds.'),
})

/** Below this a listed time counts seconds: as milliseconds it would be a day of 1973. */
export const LISTED_SECONDS_BELOW = 100_000_000_000

const ListedTrade = z
  .object({
    trade_id: z.int().min(1),
    price: decimal,
    base_volume: decimal,
    target_volume: decimal,
    trade_timestamp: z.int().min(0).describe('Unix milliseconds.'),
    type: ListedSide,
  })
  .meta({ id: 'ListedTrade', description: 'A trade as listing sites poll it.' })
export type ListedTrade = Shape<typeof ListedTrade>

/** The body of `GET /v1/integrations/historical_trades`. */
export const ListedTrades = z
  .object({
    buy: z
      .array(ListedTrade)
      .describe('Newest first; absent when only sells were asked for.')
      .optional(),
    sell: z
      .array(ListedTrade)
      .describe('Newest first; absent when only buys were asked for.')
      .optional(),
  })
  .meta({ id: 'ListedTrades', description: 'The newest trades by side.' })
export type ListedTrades = Shape<typeof ListedTrades>
