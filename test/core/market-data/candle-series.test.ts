import { expect } from 'chai'
import fc from 'fast-check'
import { E18 } from '../../../core/money.js'
import {
  CANDLE_INTERVALS,
  candlesAfter,
  closeCandles,
  CLOSE_AFTER_MS,
  emptySeries,
  foldCandles,
  KEPT_CANDLES,
  newestCandles,
  statsOfDay,
  type HeldCandle,
} from '../../../core/market-data/candle-series.js'
import { openReadModel } from '../../../data/history/read-model.js'
import {
  aReversal,
  aTrade,
  DAY_MS,
  everyMinute,
  folded,
  KEPT_TRADES,
  MINUTE_MS,
  plain,
  SLACK,
  START_MS,
  tradesAt,
} from '../../support/candle-trades.js'
import { openHistory, streamed } from '../../support/history.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'

const MARKET = { market: 'cNGN-USDC', ordinal: 0 }

describe('candle series', () => {
  it('holds the candles that the read model has, reversed trades left out', () => {
    fc.assert(
      fc.property(marketActs(80), (acts) => {
        const blocks = feedOf(MARKET, acts)
        const history = openHistory([MARKET])
        history.projection.applyBatch(streamed(blocks))
        const reads = openReadModel(history.path)
        const series = folded(blocks.flatMap(({ changes }) => changes))
        for (const interval of CANDLE_INTERVALS) {
          const range = { interval, limit: 1_000, fromSec: 0, beforeSec: Number.MAX_SAFE_INTEGER }
          const shown = newestCandles(series.intervals[interval], 1_000)
          expect(shown.map(plain)).to.deep.equal(reads.candles(MARKET.market, range))
        }
        reads.close()
        history.remove()
      }),
      { numRuns: runs(15) },
    )
  })

  it('numbers updates by their change, and the end of a candle behind the newest', () => {
    const series = folded([aTrade(4, START_MS), aTrade(6, START_MS + 1)])
    const minutes = series.intervals['1m']
    expect(minutes.seq).to.equal(12)
    closeCandles(series, START_MS + MINUTE_MS + CLOSE_AFTER_MS - 1)
    expect(minutes.candles.map(({ closed }) => closed)).to.deep.equal([false])
    for (const afterMs of [CLOSE_AFTER_MS, MINUTE_MS]) {
      closeCandles(series, START_MS + MINUTE_MS + afterMs)
      expect(minutes.candles.map(({ closed, seq }) => [closed, seq])).to.deep.equal([[true, 13]])
    }
    expect(series.intervals['5m'].candles[0]?.closed).to.equal(false)
    foldCandles(series, aTrade(9, START_MS + MINUTE_MS))
    expect(minutes.candles.map(({ closed, seq }) => [closed, seq])).to.deep.equal([
      [true, 13],
      [false, 18],
    ])
  })

  it('closes a candle when a trade begins the next one, whether or not the clock came first', () => {
    const series = folded([aTrade(4, START_MS), aTrade(6, START_MS + 3 * MINUTE_MS)])
    const minutes = series.intervals['1m'].candles
    expect(minutes.map(({ closed, seq }) => [closed, seq])).to.deep.equal([
      [true, 9],
      [false, 12],
    ])
  })

  it('gives after a number each candle that was updated since, by its last update', () => {
    const series = folded([
      aTrade(1, START_MS),
      aTrade(2, START_MS + MINUTE_MS),
      aTrade(3, START_MS + 2 * MINUTE_MS),
      aReversal(4, START_MS + 2 * MINUTE_MS, 2),
    ])
    const minutes = series.intervals['1m']
    const after = (seq: number) =>
      candlesAfter(minutes, seq)?.map((one) => [
        one.seq,
        one.startSec - START_MS / 1000,
        one.tradeCount,
      ])
    expect(after(2)).to.deep.equal([
      [3, 0, 1],
      [6, 120, 1],
      [8, 60, 0],
    ])
    expect(after(6)).to.deep.equal([[8, 60, 0]])
    expect(after(8)).to.deep.equal([])
    expect(after(9)).to.equal(undefined)
    expect(newestCandles(minutes, 9).map(({ seq }) => seq)).to.deep.equal([3, 6])
    expect(newestCandles(minutes, 1).map(({ seq }) => seq)).to.deep.equal([6])
  })

  it('holds a bounded number of candles, and knows which numbers it cannot serve', () => {
    const most = KEPT_CANDLES + SLACK
    const series = folded(tradesAt(most, everyMinute))
    const minutes = series.intervals['1m']
    expect(candlesAfter(minutes, 0)?.length).to.equal(most)
    foldCandles(series, aTrade(most + 1, everyMinute(most)))
    expect(minutes.candles.length).to.equal(KEPT_CANDLES + 1)
    const first = minutes.candles[0] as HeldCandle
    expect(candlesAfter(minutes, first.seq - 3)).to.equal(undefined)
    expect(candlesAfter(minutes, first.seq - 2)?.length).to.equal(KEPT_CANDLES + 1)
    expect(candlesAfter(minutes, first.seq)?.length).to.equal(KEPT_CANDLES)
  })

  it('holds a bounded number of trades, the newest', () => {
    const most = KEPT_TRADES + SLACK
    const series = folded(tradesAt(most, () => START_MS))
    expect(series.trades.length).to.equal(most)
    foldCandles(series, aTrade(most + 1, START_MS))
    expect(series.trades.length).to.equal(KEPT_TRADES + 1)
    expect(series.trades[0]?.tradeId).to.equal(SLACK + 1)
  })

  it('closes nothing where nothing was traded (REA-019)', () => {
    const series = emptySeries()
    closeCandles(series, START_MS)
    expect(series).to.deep.equal(emptySeries())
  })

  it('sums the day since the minute in which it began', () => {
    const series = folded([
      aTrade(1, START_MS),
      aTrade(2, START_MS + MINUTE_MS),
      aTrade(3, START_MS + 2 * MINUTE_MS),
    ])
    const at = (nowMs: number) => {
      const stats = statsOfDay(series, nowMs)
      return stats && [stats.first / E18, stats.high / E18, stats.volume / E18]
    }
    expect(at(START_MS + DAY_MS + MINUTE_MS - 1)).to.deep.equal([101n, 103n, 3n])
    expect(at(START_MS + DAY_MS + MINUTE_MS)).to.deep.equal([102n, 103n, 2n])
    expect(at(START_MS + DAY_MS + 3 * MINUTE_MS)).to.equal(undefined)
  })
})
