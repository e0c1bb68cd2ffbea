import type { MarketEntry } from '../client/index.js'
import { formatDecimal, parseDecimal } from '../core/decimal.js'

/** What is shown of prices and sizes. Money that is signed never passes here: these are texts for eyes. */

/** In which words a market's numbers are shown. */
export type Units = 'trader' | 'engine'

export interface Shown {
  readonly price: string
  readonly size: string
}

const E18 = 10n ** 18n
const E36 = 10n ** 36n

/** Whether trader terms differ from the engine's: USDC priced in cNGN, the sides exchanged. */
export const isInverted = ({ engine_side_policy }: MarketEntry): boolean =>
  engine_side_policy === 'invert_ui_side'

/** An engine price and size in the words that are asked for; trader prices have four decimals, sizes two. */
export function shown(market: MarketEntry, units: Units, price: string, size: string): Shown {
  const [priceE18, sizeE18] = [read(price), read(size)]
  if (units === 'engine' || !isInverted(market)) return { price: trim(price), size: trim(size) }
  return {
    price: priceE18 === 0n ? '' : fixed(E36 / priceE18, 4),
    size: fixed((sizeE18 * priceE18) / E18, 2),
  }
}

/** A candle's or a chart's number; for drawing only. */
export const toNumber = (market: MarketEntry, units: Units, price: string): number => {
  const value = Number(price)
  return units === 'trader' && isInverted(market) && value > 0 ? 1 / value : value
}

/** The side as the words name it. */
export const sideShown = (market: MarketEntry, units: Units, side: 'buy' | 'sell') =>
  units === 'trader' && isInverted(market) ? (side === 'buy' ? 'sell' : 'buy') : side

const SHOWN_DECIMALS = 6

/** An amount without the decimals that a trader does not count in, cut off; what is not known is empty. */
export function amount(text = ''): string {
  const [whole = '', fraction = ''] = text.split('.')
  const kept = fraction.slice(0, SHOWN_DECIMALS).replace(/0+$/, '')
  return trim(kept === '' ? whole : `${whole}.${kept}`)
}

export const time = (iso: string): string => new Date(iso).toLocaleTimeString()

const read = (text: string): bigint => parseDecimal(text, 18) ?? 0n

/** Decimal text rounded half up to so many decimals. */
function fixed(valueE18: bigint, decimals: number): string {
  const unit = 10n ** BigInt(18 - decimals)
  return trim(formatDecimal((valueE18 + unit / 2n) / unit, decimals))
}

/** Digits in groups before the point. */
function trim(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ' ')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}
