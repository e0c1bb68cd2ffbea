import { expect } from 'chai'
import fc from 'fast-check'
import { notionalFloor } from '../../../core/contracts/fees.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import type { TradeStats } from '../../../core/records/trade-record.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { CANDLE_WIDTHS_SEC, createCandleWriter } from '../../../data/history/write-candles.js'
import { openHistory, type TestHistory } from '../../support/history.js'
import { writeTrades, type PlainTrade } from './trades.js'
import { runs } from '../../support/property-runs.js'

const DAY_MS = 86_400_000
const MARKET = { market: 'cNGN-USDC', ordinal: 0 }
const OTHER = { market: 'cNGN-PERP', ordinal: 1 }
const START_MS = 1_767_225_600_000

/** Steps between trades that put several into one millisecond, one minute or one hour, and some days apart. */
const anyGapMs = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3_600_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: DAY_MS }) },
)
const anyTrades = fc
  .array(
    fc.record({
      gapMs: anyGapMs,
      price: fc.bigInt({ min: 1n, max: 10n ** 20n }),
      amount: fc.bigInt({ min: 1n, max: 10n ** 30n }),
    }),
    { maxLength: 80, size: 'max' },
  )
  .map((steps) => {
    let atMs = START_MS
    return steps.map(({ gapMs, price, amount }) => {
      atMs += gapMs
      return { atMs, price: priceE18(price), amount: amountE18(amount) }
    })
  })

function naiveStats(trades: readonly PlainTrade[], nowMs: number): TradeStats | undefined {
  const within = trades.filter((trade) => trade.atMs > nowMs - DAY_MS)
  const [first] = within
  const last = within.at(-1)
  if (first === undefined || last === undefined) return undefined
  const prices = within.map((trade) => trade.price)
  return {
    first: first.price,
    last: last.price,
    high: prices.reduce((a, b) => (a > b ? a : b)),
    low: prices.reduce((a, b) => (a < b ? a : b)),
    volume: amountE18(within.reduce((sum, trade) => sum + trade.amount, 0n)),
    quoteVolume: quoteE18(
      within.reduce((sum, trade) => sum + notionalFloor(trade.price, trade.amount), 0n),
    ),
  }
}

describe('trailing 24 hours', () => {
  let history: TestHistory
  const fill = (trades: readonly PlainTrade[]) => {
    writeTrades(history.db, { ordinal: MARKET.ordinal, trades })
    writeTrades(history.db, { ordinal: OTHER.ordinal, trades: trades.slice(0, 3) })
  }
  beforeEach(() => (history = openHistory([MARKET, OTHER])))
  afterEach(() => history.remove())

  const stats = (nowMs: number) => {
    const reads = openReadModel(history.path)
    try {
      return reads.stats24h(MARKET.market, nowMs)
    } finally {
      reads.close()
    }
  }

  it('equal a plain sum over the trades, wherever the window begins (REA-015)', () => {
    fc.assert(
      fc.property(
        anyTrades,
        fc.array(fc.double({ min: 0, max: 1.2, noNaN: true })),
        (trades, ats) => {
          history.remove()
          history = openHistory([MARKET, OTHER])
          fill(trades)
          const span = (trades.at(-1)?.atMs ?? START_MS) - START_MS
          const onTrades = trades.flatMap(({ atMs }) => [atMs + DAY_MS - 1, atMs + DAY_MS])
          const between = ats.map((at) => START_MS + Math.floor(at * (span + DAY_MS)))
          for (const nowMs of [...onTrades, ...between]) {
            expect(stats(nowMs)).to.deep.equal(naiveStats(trades, nowMs))
          }
        },
      ),
      { numRuns: runs(25) },
    )
  })

  it('are absent when nothing traded (REA-015)', () => {
    expect(stats(START_MS)).to.equal(undefined)
    fill([{ atMs: START_MS, price: priceE18(1n), amount: amountE18(1n) }])
    expect(stats(START_MS + DAY_MS)).to.equal(undefined)
    expect(stats(START_MS + DAY_MS - 1)).not.to.equal(undefined)
  })

  it('count a trade that the market stamped a little ahead of the reader', () => {
    fill([{ atMs: START_MS, price: priceE18(5n), amount: amountE18(1n) }])
    expect(stats(START_MS - 40)?.last).to.equal(5n)
  })

  it('writes each candle once for a batch, however many trades it takes', () => {
    const candles = createCandleWriter(history.db)
    candles.begin()
    for (let index = 1; index <= 100; index += 1) {
      const trade = { atMs: START_MS + index, price: priceE18(1n), amount: amountE18(1n) }
      const quote = quoteE18(0n)
      candles.add(MARKET.ordinal, { ...trade, quote, tradeId: index * 65_536 })
    }
    const writes = () => history.db.prepare('SELECT total_changes()').pluck().get() as bigint
    const before = writes()
    candles.flush()
    expect(writes() - before).to.equal(BigInt(CANDLE_WIDTHS_SEC.length))
  })
})
