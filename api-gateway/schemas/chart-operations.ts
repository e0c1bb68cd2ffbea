import { z } from 'zod'
import { CANDLE_INTERVALS_SEC, type CandleInterval } from '../../core/candles.js'
import { DEFAULT_CANDLES_LIMIT, MAX_CANDLES_LIMIT } from '../../core/limits.js'
import { marketEntry } from './market-entry.js'
import { aliasHeaders, marketNaming, marketRefusals } from './market-naming.js'
import type { Operation } from './operation.js'
import { decimal, time } from './values.js'

const interval = z
  .enum(Object.keys(CANDLE_INTERVALS_SEC) as [CandleInterval, ...CandleInterval[]])
  .meta({ id: 'CandleInterval' })

const candle = z
  .object({
    bucket_start: time,
    open: decimal,
    high: decimal,
    low: decimal,
    close: decimal,
    volume: decimal.describe('Base of the engine, cNGN.'),
    quote_volume: decimal.describe('USDC.'),
    trade_count: z.int().min(1),
  })
  .meta({ id: 'Candle', description: 'The trades of one interval, engine values.' })

export const listCandles: Operation = {
  id: 'listCandles',
  tag: 'Market data',
  summary: 'List the candles of a market',
  query: z.object({
    ...marketNaming,
    interval: interval.default('1h'),
    limit: z.int().min(1).max(MAX_CANDLES_LIMIT).default(DEFAULT_CANDLES_LIMIT),
    start: z.string().optional().describe('RFC 3339: only buckets from here on.'),
    end: z.string().optional().describe('RFC 3339: only buckets before this.'),
  }),
  responses: {
    200: {
      description: 'The newest that fit, oldest first; intervals without trades are absent.',
      body: z
        .object({ market_presentation: marketEntry, interval, candles: z.array(candle) })
        .meta({ id: 'Candles', description: 'Candles of one market.' }),
      headers: aliasHeaders,
    },
    ...marketRefusals,
  },
}

const unknownOrDecimal = z.union([z.literal(''), decimal])

const ticker = z
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

export const listTickers: Operation = {
  id: 'listTickers',
  tag: 'Market data',
  summary: 'List a ticker for each spot market',
  query: z.object({ ticker_id: z.string().optional().describe('Only this market.') }),
  responses: {
    200: {
      description: 'By identifier; at most five seconds old.',
      body: z.array(ticker),
      headers: [...aliasHeaders, 'Cache-Control'],
    },
    ...marketRefusals,
  },
}
