import type { MarketEntry } from '../../client/index.js'
import { parseDecimal } from '../../core/decimal.js'
import { E18, mulDivCeil, mulDivFloor } from '../../core/money.js'
import { START_PRICES } from '../chain/perp-parameters.js'
import type { QuoteCentre, Grid } from './quotes.js'

/** What the venue shows of a market, and of the markets besides it. */
export interface ShownMarkets {
  readonly market: MarketEntry
  readonly all: readonly MarketEntry[]
  /** How far the price of a USDC in cNGN is from its anchor now, in parts per million. */
  readonly walkPpm: bigint
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** How markets of a contract type are quoted. */
export interface QuotePricing extends Grid {
  /** The price to quote around; undefined while the market would refuse orders. */
  readonly around: (shown: ShownMarkets) => QuoteCentre | undefined
}

const MILLION = 1_000_000n
/** Quotes stay so far inside of a fill band, which narrows and moves while they rest. */
const INSIDE_PPM = 1_000n
/** Nothing is quoted so long before the last trade time. */
const BEFORE_LAST_TRADE_SEC = 120

const spot: QuotePricing = {
  decimals: 2,
  firstSize: 250n,
  lot: 5n,
  around: ({ all, walkPpm }) => ({ price: moved(toUnits(usdcInCngn(all), 2), walkPpm) }),
}

const perpetual: QuotePricing = {
  decimals: 10,
  firstSize: 100_000n,
  lot: 1_000n,
  around({ market: { perp }, walkPpm }) {
    if (perp === undefined || perp.paused || perp.price_status !== 'ok') return undefined
    const mark = priceOf(perp.mark_price)
    return mark === undefined ? undefined : { price: moved(toUnits(mark, 10), -walkPpm) }
  },
}

const future: QuotePricing = {
  decimals: 2,
  firstSize: 3_000n,
  lot: 1_000n,
  around({ market: { future: shown }, walkPpm, nowMs }) {
    if (shown?.band_status !== 'ok' || shown.paused !== false) return undefined
    if (nowMs / 1_000 > shown.last_trade_time - BEFORE_LAST_TRADE_SEC) return undefined
    const [mark, low, high] = [shown.mark_price, shown.fill_band_low, shown.fill_band_high].map(
      priceOf,
    )
    if (mark === undefined || low === undefined || high === undefined) return undefined
    const bounds = {
      low: toUnits(mulDivCeil(low, MILLION + INSIDE_PPM, MILLION), 2) + 1n,
      high: toUnits(mulDivFloor(high, MILLION - INSIDE_PPM, MILLION), 2),
    }
    const price = moved(toUnits(mark, 2), walkPpm)
    return { price: clamp(price, bounds.low, bounds.high), ...bounds }
  },
}

/** By contract type; a market of another one is not quoted. */
export const PRICINGS = { spot, perpetual, future } as const

/** Price of a USDC in cNGN at 1e18: the index of a listed market, else that with which a devnet starts. */
function usdcInCngn(all: readonly MarketEntry[]): bigint {
  const ofPerp = all.map(({ perp }) => priceOf(perp?.index_price)).find((price) => price)
  const ofFuture = all.map((market) => priceOf(market.future?.index_price)).find((price) => price)
  return ofFuture ?? (E18 * E18) / (ofPerp ?? START_PRICES.index)
}

/** At 1e18; undefined for no price and for zero, which means an unreadable one. */
function priceOf(text: string | undefined): bigint | undefined {
  const price = text === undefined ? undefined : parseDecimal(text, 18)
  return price === 0n ? undefined : price
}

/** Rounded down. */
const toUnits = (price: bigint, decimals: number): bigint => price / 10n ** BigInt(18 - decimals)

const moved = (price: bigint, ppm: bigint): bigint => mulDivFloor(price, MILLION + ppm, MILLION)

const clamp = (value: bigint, low: bigint, high: bigint): bigint =>
  value < low ? low : value > high ? high : value
