import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { Side } from '../model/order.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'
import { E18 } from '../money.js'
import { inversePrice, listedVolume, type Rounding } from './listed-numbers.js'
import { oppositeSide } from './translation.js'

/**
 * How charts and listings read a market: the base asset that its texts name, priced in its quote asset. On markets whose orders
 * are translated by inversion this is the inverse of the engine: its high is the low, its bids are the asks, its buyer
 * sells, and what it counts in the quote is the volume. On all others it is the engine's own reading.
 */
export interface PresentedTerms {
  /** Decimal text, more than 0. An inverse is rounded at ten decimals as `rounding` says; the engine's own price is exact. */
  readonly price: (price: PriceE18, rounding: Rounding) => string
  /** Decimal text. The engine's amount is exact; what the engine counts in its quote is rounded at six decimals. */
  readonly base: (engine: EngineVolume, rounding: VolumeRounding) => string
  /** The same of the quote asset. */
  readonly quote: (engine: EngineVolume, rounding: VolumeRounding) => string
  readonly side: (side: Side) => Side
  /** Two values that the engine tells apart by their price, the higher and the lower one. */
  readonly highLow: <Value>(
    high: Value,
    low: Value,
  ) => { readonly high: Value; readonly low: Value }
  /** The sides of a book, best first. */
  readonly sides: <Value>(
    bids: Value,
    asks: Value,
  ) => { readonly bids: Value; readonly asks: Value }
  /** How much the price has changed, in percent of the earlier one at four decimals, truncated toward zero. */
  readonly changePercent: (first: PriceE18, last: PriceE18) => string
}

/** A sum over orders or trades. */
export interface EngineVolume {
  /** Σ amount at 1e18. */
  readonly amount: bigint
  /** Σ price × amount at 1e36. */
  readonly productE36: bigint
}

type VolumeRounding = Exclude<Rounding, 'up'>

const exactAmount = ({ amount }: EngineVolume): string => formatDecimal(amount, 18)
const roundedProduct = ({ productE36 }: EngineVolume, rounding: VolumeRounding): string =>
  listedVolume(productE36, rounding)

const PERCENT_DECIMALS = 4
const WHOLE_IN_PERCENT = 100n * 10n ** BigInt(PERCENT_DECIMALS)

const percent = (gain: bigint, of: bigint): string =>
  formatDecimal((gain * WHOLE_IN_PERCENT) / of, PERCENT_DECIMALS)

const IDENTITY: PresentedTerms = Object.freeze<PresentedTerms>({
  price: (price) => formatDecimal(price, 18),
  base: exactAmount,
  quote: roundedProduct,
  side: (side) => side,
  highLow: (high, low) => ({ high, low }),
  sides: (bids, asks) => ({ bids, asks }),
  changePercent: (first, last) => percent(last - first, first),
})

const INVERTED: PresentedTerms = Object.freeze<PresentedTerms>({
  price: inversePrice,
  base: roundedProduct,
  quote: exactAmount,
  side: oppositeSide,
  highLow: (high, low) => ({ high: low, low: high }),
  sides: (bids, asks) => ({ bids: asks, asks: bids }),
  // (1 / last − 1 / first) ÷ (1 / first)
  changePercent: (first, last) => percent(first - last, last),
})

/** How charts and listings read this market. */
export const traderTerms = ({ orderEntry }: Pick<Market, 'orderEntry'>): PresentedTerms =>
  orderEntry?.orientation === 'inverted' ? INVERTED : IDENTITY

/** Prices and sums of the trades of some time, engine values. */
export interface EngineCandle {
  readonly open: PriceE18
  readonly high: PriceE18
  readonly low: PriceE18
  readonly close: PriceE18
  readonly volume: AmountE18
  readonly quoteVolume: QuoteE18
}

/** The same in trader terms, decimal texts; `volume` is of the base asset. */
export type TraderCandle = Readonly<Record<'open' | 'high' | 'low' | 'close' | 'volume', string>>

/** A candle as a chart shows it: each price rounded half up as `price` says, so that high stays the highest and low the lowest. */
export function traderCandle(
  market: Pick<Market, 'orderEntry'>,
  { open, high, low, close, volume, quoteVolume }: EngineCandle,
): TraderCandle {
  const terms = traderTerms(market)
  const shown = (price: PriceE18): string => terms.price(price, 'half up')
  const range = terms.highLow(high, low)
  return {
    open: shown(open),
    high: shown(range.high),
    low: shown(range.low),
    close: shown(close),
    volume: terms.base({ amount: volume, productE36: quoteVolume * E18 }, 'half up'),
  }
}
