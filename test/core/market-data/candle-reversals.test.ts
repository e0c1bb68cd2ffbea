import { expect } from 'chai'
import fc from 'fast-check'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import {
  CANDLE_INTERVALS,
  emptySeries,
  foldCandles,
  KEPT_CANDLES,
  newestCandles,
  statsOfDay,
  type CandleSeries,
} from '../../../core/market-data/candle-series.js'
import type { Candle, CandleInterval } from '../../../core/records/candle-record.js'
import type { TradeStats } from '../../../core/records/trade-record.js'
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

/** How many trades the candle has that begins at this minute; undefined when it is not held. */
const countAt = ({ intervals }: CandleSeries, interval: CandleInterval, minute: number) =>
  intervals[interval].candles.find(({ startSec }) => startSec * 1000 === everyMinute(minute))
    ?.tradeCount

interface Traded {
  readonly atMs: number
  readonly price: bigint
  readonly units: bigint
}

/** What trades of whole units add up to. */
function summed(traded: readonly Traded[]): TradeStats {
  const prices = traded.map(({ price }) => price).sort((a, b) => Number(a - b))
  const sum = (of: (one: Traded) => bigint) => traded.reduce((total, one) => total + of(one), 0n)
  const at = (price: bigint | undefined) => priceE18((price ?? 0n) * E18)
  return {
    first: at(traded[0]?.price),
    last: at(traded.at(-1)?.price),
    high: at(prices.at(-1)),
    low: at(prices[0]),
    volume: amountE18(sum(({ units }) => units) * E18),
    quoteVolume: quoteE18(sum(({ price, units }) => price * units) * E18),
  }
}

/** The candles of these trades, oldest first. */
function bucketsOf(traded: readonly Traded[], widthSec: number): Candle[] {
  const startOf = ({ atMs }: Traded) => Math.floor(atMs / 1000 / widthSec) * widthSec
  return [...new Set(traded.map(startOf))].map((startSec) => {
    const own = traded.filter((one) => startOf(one) === startSec)
    const { first: open, last: close, ...rest } = summed(own)
    return { startSec, open, close, ...rest, tradeCount: own.length }
  })
}

const anyActs = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 1, MINUTE_MS / 2, MINUTE_MS, 10 * MINUTE_MS, DAY_MS / 2),
    price: fc.bigInt({ min: 95n, max: 105n }),
    units: fc.bigInt({ min: 1n, max: 9n }),
    /** How many standing trades back the one is that is reversed; without one, there is a trade instead. */
    reverses: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 2, nil: undefined }),
  }),
  { maxLength: 30, size: 'max' },
)

describe('reversals in candles', () => {
  it('leave what the standing trades make of each interval and of the last day (SET-044)', () => {
    fc.assert(
      fc.property(anyActs, (acts) => {
        const series = emptySeries()
        const standing = new Map<number, Traded>()
        let atMs = START_MS
        for (const [index, { afterMs, price, units, reverses = 0 }] of acts.entries()) {
          atMs += afterMs
          const no = [...standing.keys()].reverse()[reverses - 1]
          if (no === undefined) {
            const fill = { price: priceE18(price * E18), amount: amountE18(units * E18) }
            foldCandles(series, aTrade(index, atMs, fill))
            standing.set(index, { atMs, price, units })
          } else {
            foldCandles(series, aReversal(index, atMs, no))
            standing.delete(no)
          }
        }
        const traded = [...standing.values()]
        for (const interval of CANDLE_INTERVALS) {
          const { [interval]: held } = series.intervals
          const buckets = bucketsOf(traded, held.widthSec)
          expect(newestCandles(held, 1_000).map(plain)).to.deep.equal(buckets)
        }
        const sinceMs = atMs - (atMs % MINUTE_MS) - DAY_MS
        const recent = traded.filter((one) => one.atMs >= sinceMs)
        const stats = recent.length === 0 ? undefined : summed(recent)
        expect(statsOfDay(series, atMs)).to.deep.equal(stats)
      }),
    )
  })

  it('are left out of the oldest minute while no trade is gone', () => {
    for (const most of [KEPT_TRADES, KEPT_TRADES + SLACK]) {
      const series = folded(tradesAt(most, () => START_MS))
      foldCandles(series, aReversal(20_000, START_MS, 1))
      expect(countAt(series, '1m', 0)).to.equal(most - 1)
    }
  })

  it('are left out of the oldest hour while no minute is gone', () => {
    const series = folded(tradesAt(KEPT_CANDLES + SLACK, everyMinute))
    foldCandles(series, aReversal(20_000, everyMinute(KEPT_CANDLES + SLACK), 1))
    expect(countAt(series, '1h', 0)).to.equal(59)
  })

  it('leave a minute as it is once one of its trades is no longer held', () => {
    const early = SLACK + 10
    const series = folded(
      tradesAt(KEPT_TRADES + SLACK + 1, (index) => everyMinute(index < early ? 0 : 1)),
    )
    foldCandles(series, aReversal(20_000, everyMinute(2), early))
    expect(countAt(series, '1m', 0)).to.equal(early)
    foldCandles(series, aReversal(20_001, everyMinute(2), early + 1))
    expect(countAt(series, '1m', 1)).to.equal(KEPT_TRADES + SLACK - early)
    expect(countAt(series, '5m', 0)).to.equal(KEPT_TRADES + SLACK)
  })

  it('leave a longer candle as it is once one of its minutes is no longer held', () => {
    const series = folded(tradesAt(KEPT_CANDLES + SLACK + 1, everyMinute))
    const reverse = (minute: number) => {
      foldCandles(series, aReversal(5_000 + minute, everyMinute(4_000), minute + 1))
      const five = minute - (minute % 5)
      return [countAt(series, '1m', minute), countAt(series, '5m', five)]
    }
    expect(reverse(SLACK - 1)).to.deep.equal([undefined, 5])
    expect(reverse(SLACK)).to.deep.equal([0, 5])
    expect(reverse(SLACK + 3)).to.deep.equal([0, 4])
  })

  it('change nothing by their other leg, nor of a trade that is no longer held', () => {
    const traded = tradesAt(2, () => START_MS)
    const series = folded([
      ...traded,
      aReversal(4, START_MS, 2, 'taker'),
      aReversal(5, START_MS, 9),
    ])
    expect(series).to.deep.equal(folded(traded))
  })
})
