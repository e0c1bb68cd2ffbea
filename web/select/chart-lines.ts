import type { MarketEntry, OrderRecord, PositionRecord, TickerState } from '../../client/index.js'
import { traderPrice } from './book-rows.js'
import type { OwnFillRow } from './fill-row.js'
import { formatDrawn } from './format.js'
import type { MarketArithmetic } from './market-terms.js'
import { readOrZero, readSigned, toDrawn } from './numbers.js'
import { traderSide } from './side-words.js'

/** A line across the chart, at a price in trader terms; a number for the eye alone. */
export interface PriceLine {
  readonly price: number
  readonly name: string
  readonly kind: 'buy' | 'sell' | 'mark' | 'index' | 'entry' | 'liquidation' | 'band'
}

/** The lines that a trader shows or hides together, by what they are called. */
export const LINE_GROUPS = [
  'own orders',
  'position',
  'mark and index',
  'band',
  'own fills',
] as const
export type LineGroup = (typeof LINE_GROUPS)[number]

const GROUP_OF: Readonly<Record<PriceLine['kind'], LineGroup>> = {
  buy: 'own orders',
  sell: 'own orders',
  entry: 'position',
  liquidation: 'position',
  mark: 'mark and index',
  index: 'mark and index',
  band: 'band',
}

/** The lines of the groups that are not hidden. */
export const visibleLines = (
  lines: readonly PriceLine[],
  hidden: readonly LineGroup[],
): readonly PriceLine[] => lines.filter(({ kind }) => !hidden.includes(GROUP_OF[kind]))

/** So far from the bars a line of one's own is still brought into view, as a share of the price. */
const REACH = 0.05
/** The least that a scale shows above and below a price that has hardly moved. */
const LEAST_REACH = 0.001

/** What the scale of prices shows: the bars, the lines of one's own near them, and never next to nothing. */
export function scaleOf(
  bars: { readonly minValue: number; readonly maxValue: number },
  lines: readonly PriceLine[],
): { readonly minValue: number; readonly maxValue: number } {
  const { minValue: low, maxValue: high } = bars
  const near = lines
    .filter(({ kind }) => kind === 'buy' || kind === 'sell' || kind === 'entry')
    .map(({ price }) => price)
    .filter((price) => price >= low * (1 - REACH) && price <= high * (1 + REACH))
  const middle = (low + high) / 2
  return {
    minValue: Math.min(low, middle * (1 - LEAST_REACH), ...near),
    maxValue: Math.max(high, middle * (1 + LEAST_REACH), ...near),
  }
}

/** What lies on the chart of a market. */
export interface ChartContext {
  readonly entry: MarketEntry
  readonly terms: MarketArithmetic
  readonly ticker: TickerState | undefined
  /** Open orders of the market. */
  readonly orders: readonly OrderRecord[]
  /** Positions of the account that trades. */
  readonly positions: readonly PositionRecord[]
}

/** Lines of own orders, mark and index, the band of a future, entry and liquidation of the position. */
export function chartLines({
  entry,
  terms,
  ticker,
  orders,
  positions,
}: ChartContext): readonly PriceLine[] {
  const { perp, future } = entry
  const line = (kind: PriceLine['kind'], text: string | undefined): readonly PriceLine[] => {
    const price = readSigned(text)
    return price === undefined || price <= 0n ? [] : [{ kind, name: kind, price: toDrawn(price) }]
  }
  return [
    ...orders.map((order) => orderLine(terms, order)),
    ...line('mark', ticker?.mark_price ?? perp?.mark_price ?? future?.mark_price),
    ...line('index', ticker?.index_price ?? perp?.index_price ?? future?.index_price),
    ...line('band', future?.fill_band_low),
    ...line('band', future?.fill_band_high),
    ...positions
      .filter(({ market }) => market === entry.market)
      .flatMap((position) => [
        ...line('entry', position.entry_price),
        ...line('liquidation', position.liquidation_price),
      ]),
  ]
}

function orderLine(terms: MarketArithmetic, { side, limit_price: limit }: OrderRecord): PriceLine {
  const kind = traderSide(terms, side)
  return { kind, name: kind, price: toDrawn(traderPrice(terms, readOrZero(limit))) }
}

/** A moment across the chart. */
export interface MomentLine {
  readonly name: string
  /** Unix seconds. */
  readonly atSec: number
}

/** The end of trading and the expiry of what has them. */
export function chartMoments({
  future,
  expiry_timestamp: expiry,
}: MarketEntry): readonly MomentLine[] {
  const moment = (name: string, atSec: number | undefined): readonly MomentLine[] =>
    atSec === undefined ? [] : [{ name, atSec }]
  return [...moment('last trade', future?.last_trade_time), ...moment('expiry', expiry)]
}

/**
 * Where a moment lies among bars, counted in bars of `widthSec` from the first: past the last bar each width is one more, and between
 * two bars it is at the later one, for a time without trades has no bar. Undefined without bars. `times` in Unix seconds, rising.
 */
export function barAt(
  times: readonly number[],
  widthSec: number,
  atSec: number,
): number | undefined {
  const last = times.at(-1)
  if (last === undefined) return undefined
  if (atSec > last) return times.length - 1 + (atSec - last) / widthSec
  return times.findIndex((time) => time >= atSec)
}

/** So many lines are named; those of own orders come first. */
const NAMED = 8

/** What the chart shows, in words: its lines by name and price. */
export function chartWords(lines: readonly PriceLine[], decimals: number): string {
  const named = lines
    .slice(0, NAMED)
    .map(({ name, price }) => `${name} ${formatDrawn(price, decimals)}`)
  return ['Candles with volume', ...named].join(', ')
}

/** A fill of one's own on the chart. */
export interface Mark {
  /** Unix seconds. */
  readonly time: number
  readonly side: 'buy' | 'sell'
  readonly text: string
}

/** More are slow to draw. */
const MARKED = 200

/** The newest settled fills of a market, oldest first; `fills` has the newest first. */
export const chartMarks = (market: string, fills: readonly OwnFillRow[]): readonly Mark[] =>
  fills
    .filter((fill) => fill.market === market && fill.state === 'settled')
    .slice(0, MARKED)
    .map(({ at, side, size }) => ({ time: Math.floor(Date.parse(at) / 1_000), side, text: size }))
    .reverse()
