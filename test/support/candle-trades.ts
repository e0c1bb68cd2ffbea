import type { Change } from '../../core/model/change.js'
import { amountE18, E18, priceE18 } from '../../core/money.js'
import {
  emptySeries,
  foldCandles,
  type CandleSeries,
  type HeldCandle,
} from '../../core/market-data/candle-series.js'
import type { Fill } from '../../core/model/match.js'
import type { Candle } from '../../core/records/candle-record.js'
import { aFill, anOrder } from './builders.js'
import { aChange } from './changes.js'

export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000
export const START_MS = 1_790_000_040_000 - (1_790_000_040_000 % DAY_MS)

/** A series holds at least so many of the newest trades. */
export const KEPT_TRADES = 16_384
/** How many more trades or candles than the kept ones it may hold. */
export const SLACK = 512

/** A time for each index, a minute apart. */
export const everyMinute = (index: number): number => START_MS + index * MINUTE_MS

const order = anOrder()

/** The fill of the trade with this number: one unit, at a price of its own. */
const fillOf = (tradeId: number): Fill =>
  aFill({ tradeId, price: priceE18(BigInt(100 + tradeId) * E18), amount: amountE18(E18) })

/** A change that completes a trade; its number in the market is its trade id. */
export function aTrade(seq: number, atMs: number, fill: Partial<Fill> = {}): Change {
  return aChange(seq, order, { kind: 'OrderFilled', fill: { ...fillOf(seq), ...fill } }, { atMs })
}

/** So many trades, numbered from 1. */
export const tradesAt = (count: number, atMs: (index: number) => number): Change[] =>
  Array.from({ length: count }, (_, index) => aTrade(index + 1, atMs(index)))

/** A change that reverses a trade. */
export function aReversal(
  seq: number,
  atMs: number,
  tradeId: number,
  liquidity: Fill['liquidity'] = 'maker',
): Change {
  const fill = { ...fillOf(tradeId), liquidity }
  return aChange(seq, order, { kind: 'FillReversed', fill, revert: 'lost' }, { atMs })
}

export function folded(changes: readonly Change[]): CandleSeries {
  const series = emptySeries()
  for (const change of changes) foldCandles(series, change)
  return series
}

/** The candle as the read model shows it. */
export const plain = (held: HeldCandle): Candle => ({
  startSec: held.startSec,
  open: held.open,
  high: held.high,
  low: held.low,
  close: held.close,
  volume: held.volume,
  quoteVolume: held.quoteVolume,
  tradeCount: held.tradeCount,
})
