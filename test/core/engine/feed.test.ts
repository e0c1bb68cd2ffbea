import { expect } from 'chai'
import fc from 'fast-check'
import { InvariantBroken } from '../../../core/assert.js'
import {
  applyChange,
  emptyView,
  openOrders,
  ordersOf,
  SNAPSHOT_TRADES,
  type MarketView,
} from '../../../core/engine/feed.js'
import type { Change } from '../../../core/model/change.js'
import { bookUpdate, tradesUpdate } from '../../../core/records/frames.js'
import { aFill, aMarket, anOrder } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { historyOf } from '../../support/random-history.js'

const spotMarket = aMarket()
/** Changes of random market days, few enough prices that orders cross often. */
const histories = marketActs(120).map((acts) =>
  feedOf(spotMarket, acts).flatMap(({ changes }) => changes),
)

function fold(changes: readonly Change[], view: MarketView = emptyView(spotMarket)): MarketView {
  for (const change of changes) applyChange(view, change)
  return view
}

/** Open amount by order id, ordered by id. */
function openByOrder(view: MarketView): [string, bigint][] {
  return [...openOrders(view)]
    .map(({ order, progress }): [string, bigint] => [order.orderId, progress.open])
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Open amount by side and price. */
function openByLevel(view: MarketView): Map<string, bigint> {
  const levels = new Map<string, bigint>()
  for (const { order, progress } of openOrders(view)) {
    const level = `${order.side} ${order.limitPrice}`
    levels.set(level, (levels.get(level) ?? 0n) + progress.open)
  }
  return levels
}

describe('feed', () => {
  it('folds to the same book as keeping the last word about every order', () => {
    fc.assert(
      fc.property(histories, (changes) => {
        const lastWord = new Map(changes.map((change) => [change.orderId, change.open]))
        const naive = [...lastWord]
          .filter(([, open]) => open > 0n)
          .sort(([a], [b]) => (a < b ? -1 : 1))
        expect(openByOrder(fold(changes))).to.deep.equal(naive)
      }),
    )
  })

  it('gives the same levels whether a client adds up size_delta or applies order_open (STR-010)', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (changes, cut) => {
        const start = changes.length === 0 ? 0 : cut % changes.length
        const levels = openByLevel(fold(changes.slice(0, start)))
        for (const change of changes.slice(start)) {
          const level = `${change.side} ${change.limitPrice}`
          const total = (levels.get(level) ?? 0n) + change.openDelta
          if (total === 0n) levels.delete(level)
          else levels.set(level, total)
        }
        expect(levels).to.deep.equal(openByLevel(fold(changes)))
      }),
    )
  })

  it('never shows a crossed book, not even between two changes (MAT-009)', () => {
    fc.assert(
      fc.property(histories, (changes) => {
        const view = emptyView(spotMarket)
        for (const change of changes) {
          applyChange(view, change)
          const prices = (side: string): bigint[] =>
            [...openOrders(view)]
              .filter(({ order }) => order.side === side)
              .map(({ order }) => order.limitPrice)
          for (const bid of prices('buy'))
            for (const ask of prices('sell')) expect(bid < ask).to.equal(true)
        }
      }),
    )
  })

  it('keeps rank, time of placement and progress through holds and returns', () => {
    fc.assert(
      fc.property(histories, (changes) => {
        const placed = new Map(
          changes.flatMap((c) => (c.kind === 'OrderPlaced' ? [[c.orderId, c]] : [])),
        )
        const last = new Map(changes.map((change) => [change.orderId, change]))
        for (const { order, rank, progress } of fold(changes).live.values()) {
          expect(rank).to.equal(placed.get(order.orderId)?.rank)
          expect(progress.createdAtMs).to.equal(placed.get(order.orderId)?.atMs)
          const { status, filled, pending, open, atMs } = last.get(order.orderId) as Change
          expect(progress).to.include({ status, filled, pending, open, updatedAtMs: atMs })
        }
      }),
    )
  })

  it('keeps the newest trades, newest first, and links their frames', () => {
    const size = SNAPSHOT_TRADES + 10
    const changes = historyOf(
      Array.from({ length: size }).flatMap(() => [
        { kind: 'place', side: 'sell', price: 10, size: 1 } as const,
        { kind: 'place', side: 'buy', price: 10, size: 1 } as const,
        { kind: 'settle' } as const,
      ]),
    )
    const view = emptyView(spotMarket)
    const frames = changes.flatMap((change) => {
      const frame = tradesUpdate(spotMarket, change, view.lastTradeSeq)
      applyChange(view, change)
      return frame === undefined ? [] : [frame]
    })
    expect(frames).to.have.length(size)
    frames.forEach((frame, i) => {
      expect(frame.prev_seq).to.equal(frames[i - 1]?.seq ?? 0)
    })
    expect(view.trades.map((trade) => trade.fill.tradeId)).to.deep.equal(
      frames
        .map((frame) => frame.data.trade_id)
        .reverse()
        .slice(0, SNAPSHOT_TRADES),
    )
    expect(view.lastTradeAtMs).to.equal(changes.at(-1)?.atMs)
  })

  it('gives an owner’s live orders, the newest first, and forgets an owner without one', () => {
    const orders = [1, 2, 3].map((n) => anOrder({ orderId: `order-${n}` }))
    const view = fold(
      orders.map((order, n) => aChange(n + 1, order, { kind: 'OrderPlaced', order, rank: n })),
    )
    const { owner } = anOrder()
    const idsOf = (of: typeof owner) => ordersOf(view, of).map(({ order }) => order.orderId)
    expect(idsOf(owner)).to.deep.equal(['order-3', 'order-2', 'order-1'])
    expect(idsOf(`0x${'ff'.repeat(20)}`)).to.deep.equal([])
    for (const [n, order] of orders.entries()) {
      const facts = { kind: 'OrderCancelled', cancelReason: 'user' } as const
      applyChange(view, aChange(4 + n, order, facts, { status: 'cancelled' }))
      expect(view.liveByOwner.has(owner)).to.equal(n < 2)
    }
    expect(idsOf(owner)).to.deep.equal([])
  })

  it('marks a reversed trade; the newest that counts is then an earlier one, or none (SET-044)', () => {
    const changes = historyOf([
      { kind: 'place', side: 'sell', price: 10, size: 1 },
      { kind: 'place', side: 'buy', price: 10, size: 1 },
      { kind: 'settle' },
      { kind: 'place', side: 'sell', price: 10, size: 1 },
      { kind: 'place', side: 'buy', price: 10, size: 1 },
      { kind: 'settle' },
    ])
    const view = fold(changes)
    const [newer, older] = view.trades
    if (newer === undefined || older === undefined) throw new Error('there are not two trades')
    const reverse = (tradeId: number) => {
      const fill = aFill({ tradeId })
      const facts = { kind: 'FillReversed', fill, revert: 'x' } as const
      applyChange(view, aChange(view.seq + 1, anOrder(), facts, { status: 'cancelled' }))
    }
    reverse(newer.fill.tradeId)
    expect(view.trades).to.deep.equal([{ ...newer, reversed: true }, older])
    expect(view.lastTradeAtMs).to.equal(older.atMs)
    // One that the view keeps no longer changes nothing.
    reverse(1)
    expect(view.trades).to.deep.equal([{ ...newer, reversed: true }, older])
    reverse(older.fill.tradeId)
    expect(view.lastTradeAtMs).to.equal(undefined)
  })

  it('refuses a change out of sequence and one about an order that was never placed', () => {
    const changes = historyOf([
      { kind: 'place', side: 'sell', price: 10, size: 1 },
      { kind: 'place', side: 'buy', price: 10, size: 1 },
    ])
    const [first, second] = changes as [Change, Change]
    expect(() => fold([second])).to.throw(InvariantBroken)
    expect(() => fold([first, first])).to.throw(InvariantBroken)
    expect(() => fold([{ ...second, seq: 1 }])).to.throw(InvariantBroken)
  })
})

describe('update frames', () => {
  const [ask, hit, bid, makerFill, takerFill] = historyOf([
    { kind: 'place', side: 'sell', price: 612, size: 5 },
    { kind: 'place', side: 'buy', price: 700, size: 2 },
    { kind: 'settle' },
  ]) as [Change, Change, Change, Change, Change]

  it('says what a change did to the book (MAT-008, STR-002, STR-011)', () => {
    expect(bookUpdate(spotMarket, ask)).to.deep.equal({
      type: 'update',
      channel: 'book',
      market: 'cNGN-USDC',
      seq: 1,
      prev_seq: 0,
      ts: '2026-09-21T14:13:20.000Z',
      data: {
        side: 'sell',
        price_ticks: '612000000000000',
        limit_price: '0.000612',
        size_delta: '5',
        order_open: '5',
        order_id: 'order-1',
      },
    })
    expect(bookUpdate(spotMarket, hit).data).to.include({ size_delta: '-2', order_open: '3' })
    expect(bookUpdate(spotMarket, bid).data).to.include({ size_delta: '0', order_open: '0' })
    expect(bookUpdate(spotMarket, makerFill).data).to.include({ size_delta: '0', order_open: '3' })
    expect(bookUpdate(spotMarket, takerFill)).to.include({ seq: 5, prev_seq: 4 })
  })

  it('return to the book what a failed settlement leaves open (STR-012)', () => {
    const changes = historyOf([
      { kind: 'place', side: 'sell', price: 612, size: 5 },
      { kind: 'place', side: 'buy', price: 700, size: 2 },
      { kind: 'fail' },
    ])
    const returned = changes.find(({ kind, side }) => kind === 'MatchReverted' && side === 'sell')
    if (returned === undefined) throw new Error('no change returns the maker')
    const { data } = bookUpdate(spotMarket, returned)
    expect(data).to.include({ order_id: 'order-1', size_delta: '2', order_open: '5' })
  })

  it("has a trades frame for the taker's leg only (STR-002, STR-015)", () => {
    for (const change of [ask, hit, bid, makerFill])
      expect(tradesUpdate(spotMarket, change, 0)).to.equal(undefined)
    expect(tradesUpdate(spotMarket, takerFill, 0)).to.deep.equal({
      type: 'update',
      channel: 'trades',
      market: 'cNGN-USDC',
      seq: 5,
      prev_seq: 0,
      ts: '2026-09-21T14:13:21.000Z',
      data: {
        trade_id: 65_536 + spotMarket.ordinal,
        price: '0.000612',
        size: '2',
        aggressor_side: 'buy',
        taker_order_id: 'order-2',
        maker_order_id: 'order-1',
        created_at: '2026-09-21T14:13:21.000Z',
      },
    })
  })
})
