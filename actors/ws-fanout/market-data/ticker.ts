import { contractOf } from '../../../core/contracts/registry.js'
import { statsOfDay, type CandleSeries } from '../../../core/market-data/candle-series.js'
import { bestLevels, type LevelBook } from '../../../core/market-data/level-book.js'
import { tickerState } from '../../../core/records/market-data.js'
import type { TradeStats } from '../../../core/records/trade-record.js'
import type { TickerState } from '../../../interface/market-data.js'
import type { ShownView } from '../snapshots.js'

export interface TickerSource {
  readonly view: ShownView
  readonly series: CandleSeries
  readonly book: () => LevelBook
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

const MINUTE_MS = 60_000

/** Reads the ticker of a market; the day's statistics are summed once for each trade and minute. */
export function createReadTicker({ view, series, book, nowMs }: TickerSource): () => TickerState {
  let summed: { readonly seq: number; readonly minute: number } | undefined
  let stats: TradeStats | undefined

  function statsNow(): TradeStats | undefined {
    const { seq } = series.intervals['1m']
    const minute = Math.floor(nowMs() / MINUTE_MS)
    if (summed?.seq !== seq || summed.minute !== minute) {
      stats = statsOfDay(series, nowMs())
      summed = { seq, minute }
    }
    return stats
  }

  return () => {
    const { market, observed, trades } = view
    const { bids, asks } = bestLevels(book(), 1)
    const last = trades.find(({ reversed }) => reversed !== true)
    return tickerState(market, {
      ...{ bid: bids[0], ask: asks[0], stats: statsNow() },
      last: last && { price: last.fill.price, atMs: last.atMs },
      prices: observed && contractOf(market).present.prices?.at(observed.facts),
    })
  }
}
