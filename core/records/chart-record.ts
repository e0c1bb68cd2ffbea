import type {
  ChartConfig,
  ChartHistory,
  ChartSearchResult,
  ChartSymbol,
} from '../../interface/charts.js'
import type { CandleInterval } from '../../interface/trade.js'
import { contractOf } from '../contracts/registry.js'
import { traderCandle, type TraderCandle } from '../contracts/trader-terms.js'
import type { Market } from '../model/market.js'
import type { Candle } from './candle-record.js'

/** The resolutions of charts, each with the candles that are its bars. */
export const CHART_RESOLUTIONS = {
  '1': '1m',
  '5': '5m',
  '15': '15m',
  '60': '1h',
  '240': '4h',
  '1D': '1d',
} as const satisfies Readonly<Record<string, CandleInterval>>

const RESOLUTIONS = Object.keys(CHART_RESOLUTIONS)
const INTRADAY = RESOLUTIONS.filter((each) => each !== '1D')

/** The candles of a resolution as a request names it; the day is `D` too. Undefined: there are none. */
export function candlesOfResolution(text: string | undefined): CandleInterval | undefined {
  const name = text === 'D' ? '1D' : text
  const found = Object.entries(CHART_RESOLUTIONS).find(([resolution]) => resolution === name)
  return found?.[1]
}

/** Charts name every symbol by an exchange. */
const EXCHANGE = 'Venue'

/** What a chart calls the kinds of symbols. */
const TYPES: readonly { readonly name: string; readonly value: ChartSymbol['type'] | '' }[] = [
  { name: 'All', value: '' },
  { name: 'Spot', value: 'crypto' },
  { name: 'Perpetuals', value: 'swap' },
  { name: 'Futures', value: 'futures' },
]

/** Presents what the datafeed can do. */
export const chartConfig = (): ChartConfig => ({
  supports_search: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
  exchanges: [{ value: EXCHANGE, name: EXCHANGE, desc: EXCHANGE }],
  symbols_types: TYPES,
  supported_resolutions: RESOLUTIONS,
})

/** The identifier of a symbol that a chart may name with its exchange before it. */
export const identifierOf = (symbol: string): string =>
  symbol.startsWith(`${EXCHANGE}:`) ? symbol.slice(EXCHANGE.length + 1) : symbol

const descriptionOf = ({ presentation: { displayName, displayLabel } }: Market): string =>
  `${displayName}, ${displayLabel}`

/** Presents a market as a symbol. */
export function chartSymbol(market: Market, nowMs: number): ChartSymbol {
  const { chartType, uiDecimals, expirySec } = contractOf(market).present
  const expiry = expirySec?.(market)
  return {
    name: market.market,
    ticker: market.market,
    description: descriptionOf(market),
    type: chartType,
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange: EXCHANGE,
    listed_exchange: EXCHANGE,
    minmov: 1,
    pricescale: 10 ** uiDecimals.price,
    volume_precision: uiDecimals.size,
    has_intraday: true,
    has_daily: true,
    has_weekly_and_monthly: false,
    intraday_multipliers: INTRADAY,
    supported_resolutions: RESOLUTIONS,
    has_empty_bars: false,
    data_status: 'streaming',
    currency_code: market.presentation.quoteAssetSymbol,
    ...(expiry !== undefined && { expired: nowMs >= expiry * 1_000, expiration_date: expiry }),
  }
}

/** What a search asks for; empty texts ask for anything. */
export interface ChartSearch {
  readonly query: string
  readonly type: string
  readonly exchange: string
  readonly limit: number
}

/** The enabled markets that a search finds, by identifier. */
export const searchSymbols = (
  markets: readonly Market[],
  { query, type, exchange, limit }: ChartSearch,
): ChartSearchResult[] =>
  markets
    .filter((market) => market.enabled && isNamedLike(market, query.toLowerCase()))
    .map(searchResult)
    .filter((found) => ['', found.type].includes(type) && ['', found.exchange].includes(exchange))
    .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))
    .slice(0, limit)

const isNamedLike = ({ market, presentation }: Market, query: string): boolean =>
  [market, presentation.displayName, presentation.baseAssetSymbol, presentation.quoteAssetSymbol]
    .map((name) => name.toLowerCase())
    .some((name) => name.includes(query))

const searchResult = (market: Market): ChartSearchResult => ({
  symbol: market.market,
  ticker: market.market,
  full_name: `${EXCHANGE}:${market.market}`,
  description: descriptionOf(market),
  exchange: EXCHANGE,
  type: contractOf(market).present.chartType,
})

/**
 * Presents candles, oldest first, as bars: each price and volume of `traderCandle` as the nearest number. Of none it says where the
 * newest one before the range begins, in unix seconds.
 */
export function chartHistory(
  market: Market,
  candles: readonly Candle[],
  nextSec: number | undefined,
): ChartHistory {
  if (candles.length === 0) {
    return { s: 'no_data', ...(nextSec !== undefined && { nextTime: nextSec }) }
  }
  const bars = candles.map((candle) => traderCandle(market, candle))
  const column = (name: keyof TraderCandle): number[] => bars.map((bar) => Number(bar[name]))
  return {
    s: 'ok',
    t: candles.map(({ startSec }) => startSec),
    o: column('open'),
    h: column('high'),
    l: column('low'),
    c: column('close'),
    v: column('volume'),
  }
}
