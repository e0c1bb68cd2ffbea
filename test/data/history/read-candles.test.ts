import { expect } from 'chai'
import fc from 'fast-check'
import { notionalFloor } from '../../../core/contracts/fees.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { CANDLE_INTERVALS_SEC } from '../../../core/records/candle-intervals.js'
import type { Candle, CandleInterval } from '../../../core/records/candle-record.js'
import type { CandleRange } from '../../../data/history/read-candles.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { openHistory } from '../../support/history.js'
import { writeTrades, type PlainTrade } from './trades.js'
import { runs } from '../../support/property-runs.js'

const MARKET = { market: 'cNGN-USDC', ordinal: 0 }
const OTHER = { market: 'cNGN-PERP', ordinal: 1 }
const START_MS = 1_767_225_600_000
const INTERVALS = Object.keys(CANDLE_INTERVALS_SEC) as CandleInterval[]

const anyTrades = fc
  .array(
    fc.record({
      gapMs: fc.oneof(
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer({ min: 0, max: 4_000_000 }),
        fc.integer({ min: 0, max: 100_000_000 }),
      ),
      price: fc.bigInt({ min: 1n, max: 10n ** 20n }),
      amount: fc.bigInt({ min: 1n, max: 10n ** 30n }),
    }),
    { maxLength: 60, size: 'max' },
  )
  .map((steps) => {
    let atMs = START_MS
    return steps.map(({ gapMs, price, amount }): PlainTrade => {
      atMs += gapMs
      return { atMs, price: priceE18(price), amount: amountE18(amount) }
    })
  })

/** What the letter says, over all trades one by one. */
function naive(trades: readonly PlainTrade[], range: CandleRange): Candle[] {
  const width = CANDLE_INTERVALS_SEC[range.interval]
  const buckets = new Map<number, PlainTrade[]>()
  for (const trade of trades) {
    const startSec = Math.floor(trade.atMs / 1000 / width) * width
    buckets.set(startSec, [...(buckets.get(startSec) ?? []), trade])
  }
  return [...buckets]
    .filter(([startSec]) => startSec >= range.fromSec && startSec < range.beforeSec)
    .sort(([a], [b]) => a - b)
    .slice(-range.limit)
    .map(([startSec, within]) => candleOf(startSec, within))
}

function candleOf(startSec: number, within: readonly PlainTrade[]): Candle {
  const prices = within.map(({ price }) => price)
  const [open] = prices
  const close = prices.at(-1)
  if (open === undefined || close === undefined) throw new Error('a bucket without trades')
  return {
    startSec,
    open,
    high: prices.reduce((a, b) => (a > b ? a : b)),
    low: prices.reduce((a, b) => (a < b ? a : b)),
    close,
    volume: amountE18(within.reduce((sum, { amount }) => sum + amount, 0n)),
    quoteVolume: quoteE18(
      within.reduce((sum, { price, amount }) => sum + notionalFloor(price, amount), 0n),
    ),
    tradeCount: within.length,
  }
}

describe('candles', () => {
  it('equal what a plain pass over the trades gives, for every interval and range', () => {
    const anyRange = fc.record({
      interval: fc.constantFrom(...INTERVALS),
      limit: fc.integer({ min: 1, max: 20 }),
      from: fc.double({ min: -0.1, max: 1.1, noNaN: true }),
      length: fc.double({ min: 0, max: 1.2, noNaN: true }),
    })
    fc.assert(
      fc.property(anyTrades, fc.array(anyRange, { minLength: 5 }), (trades, ranges) => {
        const history = openHistory([MARKET, OTHER])
        const reads = openReadModel(history.path)
        try {
          writeTrades(history.db, { ordinal: MARKET.ordinal, trades })
          writeTrades(history.db, { ordinal: OTHER.ordinal, trades: trades.slice(0, 3) })
          const span = ((trades.at(-1)?.atMs ?? START_MS) - START_MS) / 1000
          for (const { interval, limit, from, length } of ranges) {
            const fromSec = Math.floor(START_MS / 1000 + from * span)
            const range = {
              interval,
              limit,
              fromSec,
              beforeSec: fromSec + Math.ceil(length * span),
            }
            expect(reads.candles(MARKET.market, range)).to.deep.equal(naive(trades, range))
          }
          for (const interval of INTERVALS) {
            const all = { interval, limit: 1000, fromSec: 0, beforeSec: Number.MAX_SAFE_INTEGER }
            expect(reads.candles(MARKET.market, all)).to.deep.equal(naive(trades, all))
          }
        } finally {
          reads.close()
          history.remove()
        }
      }),
      { numRuns: runs(25) },
    )
  })

  it('are none for a market that is not projected', () => {
    const history = openHistory([MARKET])
    const reads = openReadModel(history.path)
    try {
      const range = { interval: '1h', limit: 10, fromSec: 0, beforeSec: 2 ** 40 } as const
      expect(reads.candles('nowhere', range)).to.deep.equal([])
    } finally {
      reads.close()
      history.remove()
    }
  })
})
