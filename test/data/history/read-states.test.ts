import { expect } from 'chai'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import { openingOf, type MarketTerms } from '../../../core/model/market-terms.js'
import { OPEN } from '../../../core/model/market.js'
import type { Fill } from '../../../core/model/match.js'
import type { Order, Side } from '../../../core/model/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { aFill, aMarket, anOrder } from '../../support/builders.js'
import { aBlock, aChange, CHANGES_START_MS, type Stand } from '../../support/changes.js'
import { openHistory, type TestHistory } from '../../support/history.js'

const MARKET = 'cNGN-USDC'
const e18 = (units: bigint) => amountE18(units * E18)

let nonce = 0n
const anOrderAt = (orderId: string, side: Side, price: bigint): Order => {
  nonce += 1n
  return anOrder({ orderId, side, nonce, limitPrice: priceE18(price) })
}
const placed = (order: Order, rank: number): ChangeFacts => ({ kind: 'OrderPlaced', order, rank })

describe('what is read of a market', () => {
  let history: TestHistory
  let reads: ReadModel
  beforeEach(() => {
    history = openHistory([
      { market: MARKET, ordinal: 0 },
      { market: 'other', ordinal: 1 },
    ])
    reads = openReadModel(history.path)
  })
  afterEach(() => {
    reads.close()
    history.remove()
  })

  const apply = (changes: readonly Change[], terms?: MarketTerms): void => {
    const { streamSeq } = history.projection.position(MARKET)
    const block = { ...aBlock(MARKET, changes), ...(terms !== undefined && { terms }) }
    history.projection.applyBatch([{ streamSeq: streamSeq + 1, block }])
  }
  const none = () => false

  describe('as its book', () => {
    const bid = anOrderAt('bid', 'buy', 95n)
    const better = anOrderAt('better', 'buy', 100n)
    const later = anOrderAt('later', 'buy', 100n)
    const ask = anOrderAt('ask', 'sell', 110n)
    const hidden = anOrderAt('hidden', 'sell', 105n)
    const open: Stand = { open: 3n }
    beforeEach(() => {
      apply([
        aChange(1, bid, placed(bid, 1), open),
        aChange(2, better, placed(better, 2), open),
        aChange(3, later, placed(later, 3), open),
        aChange(4, ask, placed(ask, 4), open),
        aChange(5, hidden, placed(hidden, 5), { pending: 3n }),
        aChange(6, better, { kind: 'OrderReleased' }, { open: 2n }),
      ])
    })

    it('is each open order of both sides, best first, with its contents and its last change', () => {
      const { seq, lastTradeSec, bids, asks } = reads.book(MARKET, none)
      expect({ seq, lastTradeSec }).to.deep.equal({ seq: 6, lastTradeSec: undefined })
      const named = [...bids, ...asks].map((row) => [row.key, row.updatedSeq])
      expect(named).to.deep.equal([
        [2 * 65_536, 6],
        [3 * 65_536, 3],
        [65_536, 1],
        [4 * 65_536, 4],
      ])
      expect([...bids, ...asks].map((row) => row.open)).to.deep.equal(reads.openOrders(MARKET))
      expect([bids.length, asks.length]).to.deep.equal([3, 1])
      expect(bids[0]?.open).to.deep.include({ order: better, rank: 2 })
      expect(bids[0]?.open?.progress.open).to.equal(e18(2n))
    })

    it('has no contents of the orders that the reader knows in their last state', () => {
      const asked: [number, number][] = []
      const { bids, asks } = reads.book(MARKET, (key, updatedSeq) => {
        asked.push([key, updatedSeq])
        return key !== 3 * 65_536
      })
      expect(asked).to.deep.equal([...bids, ...asks].map((row) => [row.key, row.updatedSeq]))
      expect(bids.map((row) => row.open?.order.orderId)).to.deep.equal([
        ...[undefined, 'later', undefined],
      ])
      expect(asks).to.deep.equal([{ key: 4 * 65_536, updatedSeq: 4 }])
    })

    it('is empty for a market without orders, and for one that is not projected', () => {
      const empty = { seq: 0, lastTradeSec: undefined, bids: [], asks: [] }
      expect(reads.book('other', none)).to.deep.equal(empty)
      expect(reads.book('none', none)).to.deep.equal(empty)
      expect(reads.levelsNow('none', 5)).to.deep.equal({ seq: 0, bids: [], asks: [] })
      expect(reads.bestPrices('none')).to.deep.equal({})
    })

    it('adds up to its best levels, as many as are asked for', () => {
      const levels = reads.levelsNow(MARKET, 9)
      expect(levels).to.deep.equal({
        seq: 6,
        bids: [
          { price: 100n, open: e18(5n) },
          { price: 95n, open: e18(3n) },
        ],
        asks: [{ price: 110n, open: e18(3n) }],
      })
      const [bid] = levels.bids
      expect(reads.levelsNow(MARKET, 1)).to.deep.equal({ ...levels, bids: [bid] })
      expect(reads.bestPrices(MARKET)).to.deep.equal({ bid: 100n, ask: 110n })
    })

    it('has each state of its levels read once at each depth', () => {
      const deep = reads.levelsNow(MARKET, 9)
      const best = reads.levelsNow(MARKET, 1)
      expect([deep.bids.length, best.bids.length]).to.deep.equal([2, 1])
      expect(reads.levelsNow(MARKET, 9)).to.equal(deep)
      expect(reads.levelsNow(MARKET, 1)).to.equal(best)
      apply([aChange(7, ask, { kind: 'OrderReleased' }, { open: 1n })])
      expect(reads.levelsNow(MARKET, 9)).to.deep.include({
        seq: 7,
        bids: deep.bids,
        asks: [{ price: 110n, open: e18(1n) }],
      })
      expect(reads.levelsNow('other', 9)).to.deep.equal({ seq: 0, bids: [], asks: [] })
    })
  })

  describe('as its trades', () => {
    const maker = anOrderAt('maker-1', 'buy', 100n)
    const taker = anOrderAt('taker-1', 'sell', 100n)
    const fillOf = (seq: number): Fill =>
      aFill({
        tradeId: (seq + 1) * 65_536,
        takerSide: 'sell',
        price: priceE18(BigInt(seq)),
        amount: e18(1n),
        settlementId: `${MARKET}:${seq}`,
      })
    const makerFill = (seq: number): Fill => ({
      ...fillOf(seq),
      liquidity: 'maker',
      fee: quoteE18(0n),
    })
    const filled = (seq: number, atMs: number): Change[] => [
      aChange(seq, maker, { kind: 'OrderFilled', fill: makerFill(seq) }, { atMs }),
      aChange(seq + 1, taker, { kind: 'OrderFilled', fill: fillOf(seq) }, { atMs }),
    ]
    beforeEach(() => {
      apply([
        aChange(1, maker, placed(maker, 1)),
        aChange(2, taker, placed(taker, 2)),
        ...filled(3, CHANGES_START_MS + 5_999),
        ...filled(5, CHANGES_START_MS + 8_001),
      ])
    })

    it('has the second and the price of the newest one that stands', () => {
      const startSec = CHANGES_START_MS / 1000
      expect(reads.lastTradeSec(MARKET)).to.equal(startSec + 8)
      expect(reads.lastPrice(MARKET)).to.equal(5n)
      expect(reads.book(MARKET, none).lastTradeSec).to.equal(startSec + 8)
      const why = { kind: 'FillReversed', revert: 'gone' } as const
      apply([
        aChange(7, maker, { ...why, fill: makerFill(5) }),
        aChange(8, taker, { ...why, fill: fillOf(5) }),
      ])
      expect(reads.lastTradeSec(MARKET)).to.equal(startSec + 5)
      expect(reads.lastPrice(MARKET)).to.equal(3n)
      expect(reads.trades(MARKET, 9).map(({ reversed }) => reversed)).to.deep.equal([
        ...[true, undefined],
      ])
      expect(reads.lastPrice('other')).to.equal(undefined)
    })
  })

  describe('as its candles', () => {
    const maker = anOrderAt('maker-1', 'buy', 100n)
    const taker = anOrderAt('taker-1', 'sell', 100n)
    const fillOf = (seq: number, price: bigint): Fill =>
      aFill({
        tradeId: (seq + 1) * 65_536,
        takerSide: 'sell',
        price: priceE18(price * E18),
        amount: e18(1n),
        settlementId: `${MARKET}:${seq}`,
      })
    const legs = (seq: number, price: bigint, facts: (fill: Fill) => ChangeFacts): Change[] => {
      const ofMaker: Fill = { ...fillOf(seq, price), liquidity: 'maker', fee: quoteE18(0n) }
      return [
        aChange(seq, maker, facts(ofMaker), { atMs: CHANGES_START_MS + seq }),
        aChange(seq + 1, taker, facts(fillOf(seq, price)), { atMs: CHANGES_START_MS + seq }),
      ]
    }
    const shown = () => {
      const range = { interval: '1m', limit: 9, fromSec: 0, beforeSec: 2 ** 40 } as const
      return reads.candles(MARKET, range).map(({ open, high, low, close, volume, tradeCount }) => ({
        prices: [open, high, low, close].map((price) => price / E18),
        volume: volume / E18,
        tradeCount,
      }))
    }
    /** The fill at this price, with which change it was, taken back as a later one. */
    const takenBack = (seq: number, of: { readonly seq: number; readonly price: bigint }) => {
      const lost = (fill: Fill): ChangeFacts => ({ kind: 'FillReversed', fill, revert: 'gone' })
      return legs(of.seq, of.price, lost).map((change, i) => ({ ...change, seq: seq + i }))
    }

    it('have nothing of a fill that was taken back, and end with the last that stood', () => {
      const filled = (fill: Fill): ChangeFacts => ({ kind: 'OrderFilled', fill })
      const low = { seq: 3, price: 9n }
      const high = { seq: 5, price: 12n }
      const last = { seq: 7, price: 10n }
      apply([
        aChange(1, maker, placed(maker, 1)),
        aChange(2, taker, placed(taker, 2)),
        ...[low, high, last].flatMap(({ seq, price }) => legs(seq, price, filled)),
      ])
      expect(shown()).to.deep.equal([{ prices: [9n, 12n, 9n, 10n], volume: 3n, tradeCount: 3 }])
      apply(takenBack(9, high))
      expect(shown()).to.deep.equal([{ prices: [9n, 10n, 9n, 10n], volume: 2n, tradeCount: 2 }])
      apply(takenBack(11, low))
      expect(shown()).to.deep.equal([{ prices: [10n, 10n, 10n, 10n], volume: 1n, tradeCount: 1 }])
      apply(takenBack(13, last))
      expect(shown()).to.deep.equal([])
    })
  })

  describe('as its terms', () => {
    const terms = (takerFeeBps: number): MarketTerms => ({
      ...openingOf(aMarket({ takerFeeBps })),
      standing: OPEN,
    })

    it('is what its feed stated last, the same object until that is another', () => {
      expect(reads.terms(MARKET)).to.equal(undefined)
      expect(reads.terms('none')).to.equal(undefined)
      expect(reads.allTerms()).to.deep.equal([])
      apply([], terms(10))
      const first = reads.terms(MARKET)
      expect(first).to.deep.equal(terms(10))
      apply([])
      expect(reads.terms(MARKET)).to.equal(first)
      apply([], terms(20))
      expect(reads.terms(MARKET)).to.deep.equal(terms(20))
      expect(reads.terms('other')).to.equal(undefined)
      expect(reads.allTerms()).to.deep.equal([terms(20)])
    })
  })
})
