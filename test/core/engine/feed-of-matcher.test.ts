import { expect } from 'chai'
import fc from 'fast-check'
import { ordersOf } from '../../../core/engine/book.js'
import { applyChange, emptyView, openOrders } from '../../../core/engine/feed.js'
import { progressOf } from '../../../core/model/live-order.js'
import type { Side } from '../../../core/model/order.js'
import { E18, priceE18 } from '../../../core/money.js'
import { aMarket } from '../../support/builders.js'
import { fundedActs, fundedCommandOf, type FundedAct } from '../../support/funded-acts.js'
import { testMatcher } from '../../support/matching.js'
import { e18 } from '../../support/perpetual.js'
import { runs } from '../../support/property-runs.js'
import { shownBook } from '../../support/shown-book.js'

const market = aMarket({ tickSize: priceE18(E18 / 100n) })

const placed = { act: 'place', price: 95, size: 1, unchecked: false } as const
/** A match takes all of two orders, and the last seconds of one of them begin before it is settled. */
const expiresWhileMatching: FundedAct[] = [
  { act: 'market', it: { ...placed, buy: false, trader: 1, livesSec: 60 }, block: 1 },
  { act: 'market', it: { ...placed, buy: true, trader: 2, livesSec: 15 }, block: 1 },
  { act: 'market', it: { act: 'wait', sec: 5 }, block: 1 },
]

describe('feed of the matcher', () => {
  it("folds the matcher's changes to the matcher's own book, in its own order, never crossed (MAT-008, STR-004)", () => {
    fc.assert(
      fc.property(fundedActs(80), (acts) => {
        const matcher = testMatcher()
        const view = emptyView(market)
        let placed = 0
        const settlementIds: string[] = []
        const all = matcher.changes
        for (const act of acts) {
          if (act.act === 'market' && act.it.act === 'wait') matcher.advance(act.it.sec * 1_000)
          const context = { placed, nowMs: matcher.nowMs(), settlementIds, changes: all }
          const { changes } = matcher.apply(fundedCommandOf(act, context))
          if (act.act === 'market' && act.it.act === 'place') placed += 1
          for (const change of changes) {
            applyChange(view, change)
            if (change.kind === 'OrderMatched') settlementIds.push(change.match.settlementId)
          }
          for (const live of matcher.state.orders.values()) {
            const shown = view.live.get(live.order.orderId)?.progress
            if (live.gone !== undefined) continue
            expect(view.live.get(live.orderId)?.order).to.deep.equal(live.order)
            const { heldReason, ...stand } = progressOf(live)
            expect(shown).to.deep.include(stand)
            // One of which nothing is open enters its last seconds without a change: it is shown as it was.
            if (heldReason !== 'expiring') expect(shown?.heldReason).to.equal(heldReason)
            else if (stand.status !== 'matching') expect(shown?.heldReason).not.to.equal(undefined)
          }
          const { bids, asks } = shownBook(market, openOrders(view), {})
          const own = (side: Side): string[] =>
            [...ordersOf(matcher.state.book, side)].map(({ order }) => order.orderId)
          expect(bids.map((order) => order.order_id)).to.deep.equal(own('buy'))
          expect(asks.map((order) => order.order_id)).to.deep.equal(own('sell'))
          const bid = bids[0]
          const ask = asks[0]
          if (bid === undefined || ask === undefined) continue
          expect(e18(bid.limit_price) < e18(ask.limit_price), 'not crossed').to.equal(true)
        }
      }),
      { numRuns: runs(60), examples: [[expiresWhileMatching]] },
    )
  })
})
