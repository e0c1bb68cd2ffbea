import { expect } from 'chai'
import fc from 'fast-check'
import type { Change } from '../../../core/engine/change.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
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
  type CandleSeries,
  type HeldCandle,
} from '../../../core/market-data/candle-series.js'
import { CANDLE_INTERVALS_SEC, type Candle } from '../../../core/records/candle-record.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { anOrder } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'
import { openHistory, streamed } from '../../support/history.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'

const MARKET = { market: 'cNGN-USDC', ordinal: 0 }
const MINUTE_MS = 60_000
const START_MS = 1_790_000_040_000 - (1_790_000_040_000 % 86_400_000)

const plain = (held: HeldCandle): Candle => ({
  ...{ startSec: held.startSec, open: held.open, high: held.high, low: held.low },
  ...{ close: held.close, volume: held.volume, quoteVolume: held.quoteVolume },
  tradeCount: held.tradeCount,
})

const order = anOrder()

/** A leg of a trade; its number in the market is its trade id. */
function leg(seq: number, atMs: number, kind: 'OrderFilled' | 'FillReversed', of = seq): Change {
  const fill = {
    ...{ settlementId: 's', makerOrderId: 'm', takerOrderId: order.orderId },
    ...{ price: priceE18(BigInt(100 + of) * E18), amount: amountE18(E18), tradeId: of },
    ...{ takerFee: 0n, fee: 0n, txHash: '0x01', blockNumber: 1n, takerSide: order.side },
    liquidity: kind === 'OrderFilled' ? 'taker' : 'maker',
  } as unknown as Extract<Change, { kind: 'OrderFilled' }>['fill']
  const facts = kind === 'OrderFilled' ? { kind, fill } : { kind, fill, revert: 'lost' }
  return aChange(seq, order, facts, { atMs })
}

function folded(changes: readonly Change[]): CandleSeries {
  const series = emptySeries()
  for (const change of changes) foldCandles(series, change)
  return series
}

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
      { numRuns: 15 },
    )
  })

  it('numbers updates by their change, and the end of a candle behind the newest', () => {
    const series = folded([leg(4, START_MS, 'OrderFilled'), leg(6, START_MS + 1, 'OrderFilled')])
    const minutes = series.intervals['1m']
    expect(minutes.seq).to.equal(12)
    closeCandles(series, START_MS + MINUTE_MS + CLOSE_AFTER_MS - 1)
    expect(minutes.candles.map(({ closed }) => closed)).to.deep.equal([false])
    closeCandles(series, START_MS + MINUTE_MS + CLOSE_AFTER_MS)
    closeCandles(series, START_MS + 2 * MINUTE_MS)
    expect(minutes.candles.map(({ closed, seq }) => [closed, seq])).to.deep.equal([[true, 13]])
    expect(series.intervals['5m'].candles[0]?.closed).to.equal(false)
    foldCandles(series, leg(9, START_MS + MINUTE_MS, 'OrderFilled'))
    expect(minutes.candles.map(({ closed, seq }) => [closed, seq])).to.deep.equal([
      [true, 13],
      [false, 18],
    ])
  })

  it('closes a candle when a trade begins the next one, whether or not the clock came first', () => {
    const series = folded([
      leg(4, START_MS, 'OrderFilled'),
      leg(6, START_MS + 3 * MINUTE_MS, 'OrderFilled'),
    ])
    const minutes = series.intervals['1m'].candles
    expect(minutes.map(({ closed, seq }) => [closed, seq])).to.deep.equal([
      [true, 9],
      [false, 12],
    ])
  })

  it('gives after a number each candle that was updated since, by its last update', () => {
    const series = folded([
      leg(1, START_MS, 'OrderFilled'),
      leg(2, START_MS + MINUTE_MS, 'OrderFilled'),
      leg(3, START_MS + 2 * MINUTE_MS, 'OrderFilled'),
      leg(4, START_MS + 2 * MINUTE_MS, 'FillReversed', 2),
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
  })

  it('holds a bounded number of candles, and knows which numbers it cannot serve', () => {
    const minutes = folded(
      Array.from({ length: KEPT_CANDLES + 600 }, (_, at) =>
        leg(at + 1, START_MS + at * MINUTE_MS, 'OrderFilled'),
      ),
    ).intervals['1m']
    expect(minutes.candles.length).to.be.within(KEPT_CANDLES, KEPT_CANDLES + 512)
    const first = minutes.candles[0] as HeldCandle
    expect(candlesAfter(minutes, first.seq - 4)).to.equal(undefined)
    expect(candlesAfter(minutes, first.seq)?.length).to.equal(minutes.candles.length - 1)
  })

  it('sums the day since the minute in which it began', () => {
    const day = CANDLE_INTERVALS_SEC['1d'] * 1000
    const series = folded([
      leg(1, START_MS, 'OrderFilled'),
      leg(2, START_MS + MINUTE_MS, 'OrderFilled'),
      leg(3, START_MS + 2 * MINUTE_MS, 'OrderFilled'),
    ])
    const at = (nowMs: number) => {
      const stats = statsOfDay(series, nowMs)
      return stats && [stats.first / E18, stats.high / E18, stats.volume / E18]
    }
    expect(at(START_MS + day + MINUTE_MS - 1)).to.deep.equal([101n, 103n, 3n])
    expect(at(START_MS + day + MINUTE_MS)).to.deep.equal([102n, 103n, 2n])
    expect(at(START_MS + day + 3 * MINUTE_MS)).to.equal(undefined)
  })
})
