import { z } from 'zod'
import { MarketError } from './venue.js'
import { type Shape, unixSeconds, wholeInQuery } from './values.js'

/**
 * TradingView's datafeed, UDF: what its charting library, and programs that speak the same, ask for a chart. Prices and volumes are
 * numbers, as that protocol has them, and in trader terms: on spot USDC priced in cNGN, the inverse of engine values, with
 * volumes in USDC; on the perpetual cNGN priced in USDC, with volumes in cNGN; on futures USDC priced in cNGN, with volumes
 * in USDC. Additive to the interface.
 */

/** Most bars of one answer. */
export const MAX_CHART_BARS = 5_000
/** Most symbols of one search. */
export const MAX_CHART_SYMBOLS = 100
const DEFAULT_CHART_SYMBOLS = 30

const resolution = z.string()
const resolutions = z
  .array(resolution)
  .describe('Minutes, and `1D` for days; a chart makes others of these by itself.')

/** The body of `GET /udf/config`. */
export const ChartConfig = z
  .object({
    supports_search: z.literal(true),
    supports_group_request: z.literal(false),
    supports_marks: z.literal(false),
    supports_timescale_marks: z.literal(false),
    supports_time: z.literal(true),
    exchanges: z.array(z.object({ value: z.string(), name: z.string(), desc: z.string() })),
    symbols_types: z.array(z.object({ name: z.string(), value: z.string() })),
    supported_resolutions: resolutions,
  })
  .meta({ id: 'ChartConfig', description: 'What the datafeed can do.' })
export type ChartConfig = Shape<typeof ChartConfig>

const chartType = z
  .enum(['crypto', 'swap', 'futures'])
  .describe('`crypto` is spot, `swap` a perpetual, `futures` a dated future.')

/** The body of `GET /udf/symbols`. */
export const ChartSymbol = z
  .object({
    name: z.string().describe('The market’s identifier.'),
    ticker: z.string().describe('The same: what other requests name.'),
    description: z.string(),
    type: chartType,
    session: z.literal('24x7'),
    timezone: z.literal('Etc/UTC'),
    exchange: z.string(),
    listed_exchange: z.string(),
    minmov: z.literal(1),
    pricescale: z.int().min(1).describe('10 to the number of decimals that a chart shows.'),
    has_intraday: z.literal(true),
    has_daily: z.literal(true),
    has_weekly_and_monthly: z.literal(false),
    intraday_multipliers: z.array(z.string()),
    supported_resolutions: resolutions,
    has_empty_bars: z.literal(false).describe('Intervals without trades have no bar.'),
    volume_precision: z.int().min(0),
    data_status: z.literal('streaming'),
    currency_code: z.string().describe('Symbol of the asset that prices it.'),
    expired: z.boolean().optional().describe('Only of markets with an expiry.'),
    expiration_date: unixSeconds
      .optional()
      .describe('Unix seconds; only of markets with an expiry.'),
  })
  .meta({ id: 'ChartSymbol', description: 'A market as a symbol of a chart.' })
export type ChartSymbol = Shape<typeof ChartSymbol>

/** An item of `GET /udf/search`. */
export const ChartSearchResult = z
  .object({
    symbol: z.string(),
    full_name: z.string(),
    ticker: z.string(),
    description: z.string(),
    exchange: z.string(),
    type: chartType,
  })
  .meta({ id: 'ChartSearchResult', description: 'A market that a search has found.' })
export type ChartSearchResult = Shape<typeof ChartSearchResult>

const numbers = z.array(z.number())

const ChartBars = z.object({
  s: z.literal('ok'),
  t: z.array(unixSeconds).describe('Begin of each bar, unix seconds, ascending.'),
  o: numbers,
  h: numbers,
  l: numbers,
  c: numbers,
  v: numbers.describe('Of the asset that is priced.'),
})

const NoChartBars = z.object({
  s: z.literal('no_data'),
  nextTime: unixSeconds
    .optional()
    .describe('Begin of the newest bar before the range; absent when nothing is older.'),
})

/** The body of `GET /udf/history`. */
export const ChartHistory = z.union([ChartBars, NoChartBars]).meta({
  id: 'ChartHistory',
  description: 'Bars of a market, oldest first, or that there are none.',
})
export type ChartHistory = Shape<typeof ChartHistory>

/** The body of every refusal of the datafeed. */
export const ChartError = z
  .object({
    ...MarketError.shape,
    s: z.literal('error'),
    errmsg: z.string().describe('What is wrong, in words.'),
  })
  .meta({ id: 'ChartError', description: 'A refusal as the datafeed says it.' })

/** Whole seconds of a query, before 1970 too: a chart asks for whatever it scrolls to. */
const secondsInQuery = z.preprocess(
  (sent) => (typeof sent === 'string' && /^-?[0-9]{1,15}$/.test(sent) ? Number(sent) : sent),
  z.int().optional(),
)

const symbol = z.string().optional().describe('The market’s identifier; required.')

/** Query of a symbol. */
export const ChartSymbolQuery = z.object({ symbol })

/** Query of a search. */
export const ChartSearchQuery = z.object({
  query: z
    .string()
    .default('')
    .describe('Part of an identifier or of an asset’s symbol, in any case.'),
  type: z.string().default('').describe('Only symbols of this type; empty: of any.'),
  exchange: z.string().default('').describe('Only symbols of this exchange; empty: of any.'),
  limit: wholeInQuery(z.int().min(1).max(MAX_CHART_SYMBOLS).default(DEFAULT_CHART_SYMBOLS)),
})

/** Query of bars. */
export const ChartHistoryQuery = z.object({
  symbol,
  resolution: z.string().optional().describe('One of `supported_resolutions`; required.'),
  from: secondsInQuery.describe(
    'Only bars that begin from here on; not looked at with `countback`.',
  ),
  to: secondsInQuery.describe('Only bars that begin before this.'),
  countback: wholeInQuery(z.int().min(1).optional()).describe(
    `The newest so many bars before \`to\`, whatever \`from\` says. An answer has at most ${MAX_CHART_BARS}.`,
  ),
})
