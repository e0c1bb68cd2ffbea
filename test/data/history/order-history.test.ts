import { expect } from 'chai'
import fc from 'fast-check'
import type { Block, Change } from '../../../core/model/change.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import type { HistoryPage, HistoryPosition } from '../../../data/history/read-orders.js'
import { openHistory, streamed } from '../../support/history.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf, feedOwner } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'

const SPOT = { market: 'cNGN-USDC', ordinal: 0 }
const OTHER = { market: 'cNGN-PERP', ordinal: 1 }
/** One owner for both markets, so that a history has to be put together from two logs. */
const OWNER = feedOwner(SPOT)
const ofOwner = (blocks: Block[]): Block[] =>
  blocks.map((block) => ({
    ...block,
    changes: block.changes.map((change): Change => {
      const owned = { ...change, owner: OWNER }
      return owned.kind === 'OrderPlaced'
        ? { ...owned, order: { ...owned.order, owner: OWNER } }
        : owned
    }),
  }))

/** The same market days each time, many of them. */
const busyDays = (runs: number): Block[] =>
  ofOwner(feedOf(SPOT, fc.sample(marketActs(200), { seed: 11, numRuns: runs }).flat()))

/** All pages, one after the other, as a client would read them; `between` runs after each. */
function allPages<Row extends { readonly position: HistoryPosition }>(
  read: (page: HistoryPage) => Row[],
  limit: number,
  between: () => void = () => undefined,
): Row[] {
  const rows: Row[] = []
  for (let before: HistoryPosition | undefined; ;) {
    const page = read({ limit, before })
    rows.push(...page)
    if (page.length < limit) return rows
    before = page.at(-1)?.position
    between()
  }
}

const byTime = (a: HistoryPosition, b: HistoryPosition): number =>
  a.atMs === b.atMs ? b.key - a.key : b.atMs - a.atMs

describe("an owner's history", () => {
  const rows = (blocks: Block[], ordinal: number) => {
    const changes = blocks.flatMap((block) => block.changes)
    return {
      orders: changes
        .filter((change) => change.kind === 'OrderPlaced')
        .map(({ seq, atMs, orderId }) => ({ atMs, key: seq * 65_536 + ordinal, orderId })),
      fills: changes
        .filter((change) => change.kind === 'OrderFilled')
        .map(({ seq, atMs, orderId }) => ({ atMs, key: seq * 65_536 + ordinal, orderId })),
    }
  }

  it('has every order and every leg of a fill exactly once, newest first, in pages of any size', () => {
    const anyDays = fc.tuple(marketActs(80), marketActs(80), fc.integer({ min: 1, max: 7 }))
    fc.assert(
      fc.property(anyDays, ([first, second, limit]) => {
        const history = openHistory([SPOT, OTHER])
        const reads = openReadModel(history.path)
        try {
          const spot = ofOwner(feedOf(SPOT, first))
          const other = ofOwner(feedOf(OTHER, second))
          history.projection.applyBatch([...streamed(spot), ...streamed(other)])
          const a = rows(spot, SPOT.ordinal)
          const b = rows(other, OTHER.ordinal)
          const orders = allPages((page) => reads.orderHistory(OWNER, page), limit)
          expect(orders.map(({ order }) => order.orderId)).to.deep.equal(
            [...a.orders, ...b.orders].sort(byTime).map(({ orderId }) => orderId),
          )
          const fills = allPages((page) => reads.fills(OWNER, page), limit)
          expect(fills.map(({ orderId, position }) => ({ orderId, ...position }))).to.deep.equal(
            [...a.fills, ...b.fills]
              .sort(byTime)
              .map(({ orderId, atMs, key }) => ({ orderId, atMs, key })),
          )
        } finally {
          reads.close()
          history.remove()
        }
      }),
      { numRuns: runs(20) },
    )
  })

  describe('of thousands of rows', () => {
    const blocks = busyDays(300)
    let history: ReturnType<typeof openHistory>
    let reads: ReadModel
    beforeEach(() => {
      history = openHistory([SPOT])
      reads = openReadModel(history.path)
    })
    afterEach(() => {
      reads.close()
      history.remove()
    })

    it('loses and repeats nothing while rows are added between pages (REA-027)', () => {
      const half = Math.floor(blocks.length / 2)
      const old = streamed(blocks).slice(0, half)
      const added = streamed(blocks).slice(half)
      history.projection.applyBatch(old)
      const known = rows(
        old.map(({ block }) => block),
        SPOT.ordinal,
      )
      expect(known.orders.length).to.be.greaterThan(2_000)
      const addSome = (): void => history.projection.applyBatch(added.splice(0, 20))
      const orders = allPages((page) => reads.orderHistory(OWNER, page), 50, addSome)
      expect(orders.map(({ order }) => order.orderId)).to.deep.equal(
        known.orders.map(({ orderId }) => orderId).reverse(),
      )
      const before = reads.fills(OWNER, { limit: 100_000 }).map(({ position }) => position.key)
      const fills = allPages((page) => reads.fills(OWNER, page), 7, addSome)
      expect(fills.map(({ position }) => position.key)).to.deep.equal(before)
    })

    it('has no orders of other owners', () => {
      history.projection.applyBatch(streamed(blocks).slice(0, 200))
      const otherOwner = feedOwner(OTHER)
      expect(reads.orderHistory(otherOwner, { limit: 100 })).to.deep.equal([])
      expect(reads.fills(otherOwner, { limit: 100 })).to.deep.equal([])
    })
  })

  it('tells of a fill the side, price, amount and fee of the order’s own leg (MON-020)', () => {
    const history = openHistory([SPOT])
    const reads = openReadModel(history.path)
    try {
      const blocks = busyDays(30)
      history.projection.applyBatch(streamed(blocks))
      const legs = blocks
        .flatMap((block) => block.changes)
        .flatMap((change) => (change.kind === 'OrderFilled' ? [change] : []))
        .reverse()
      expect(legs.length).to.be.greaterThan(50)
      const reversed = new Set(
        blocks
          .flatMap((block) => block.changes)
          .flatMap((change) => (change.kind === 'FillReversed' ? [change.fill.tradeId] : [])),
      )
      expect(reversed.size).to.be.greaterThan(0)
      const fills = reads.fills(OWNER, { limit: 10_000 })
      expect(fills).to.deep.equal(
        legs.map(({ fill, orderId, side, atMs, seq }) => ({
          tradeId: fill.tradeId,
          ...(reversed.has(fill.tradeId) ? { reversed: true } : {}),
          orderId,
          liquidity: fill.liquidity,
          side,
          price: fill.price,
          amount: fill.amount,
          fee: fill.fee,
          atMs,
          txHash: fill.txHash,
          market: SPOT.market,
          position: { atMs, key: seq * 65_536 + SPOT.ordinal },
        })),
      )
    } finally {
      reads.close()
      history.remove()
    }
  })
})
