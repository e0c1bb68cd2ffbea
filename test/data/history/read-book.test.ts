import { expect } from 'chai'
import fc from 'fast-check'
import { priceE18 } from '../../../core/money.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { aMarket } from '../../support/builders.js'
import { openHistory, streamed } from '../../support/history.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'
import { shownBook } from '../../support/shown-book.js'

const market = aMarket()

describe('the stored book', () => {
  it('comes best first and then oldest first, to any depth, and names its best prices', () => {
    fc.assert(
      fc.property(marketActs(120), fc.integer({ min: 1, max: 5 }), (acts, depth) => {
        const history = openHistory([market])
        const reads = openReadModel(history.path)
        try {
          // Prices of different lengths, which as text would be in another order.
          const spread = acts.map((act) =>
            act.act === 'place' ? { ...act, price: act.buy ? act.price - 94 : act.price * 7 } : act,
          )
          history.projection.applyBatch(streamed(feedOf(market, spread)))
          const all = reads.openOrders(market.market)
          const sorted = shownBook(market, all, {})
          const idsOf = (orders: readonly { readonly order_id: string }[]): string[] =>
            orders.map(({ order_id }) => order_id)
          expect(all.map(({ order }) => order.orderId)).to.deep.equal([
            ...idsOf(sorted.bids),
            ...idsOf(sorted.asks),
          ])
          expect(
            reads.openOrders(market.market, depth).map(({ order }) => order.orderId),
          ).to.deep.equal([
            ...idsOf(sorted.bids.slice(0, depth)),
            ...idsOf(sorted.asks.slice(0, depth)),
          ])
          const priced = (side: string): bigint[] =>
            all.filter(({ order }) => order.side === side).map(({ order }) => order.limitPrice)
          const bids = priced('buy')
          const asks = priced('sell')
          const best = (prices: bigint[], better: (a: bigint, b: bigint) => boolean) =>
            prices.reduce<bigint | undefined>(
              (found, price) => (found === undefined || better(price, found) ? price : found),
              undefined,
            )
          const bid = best(bids, (a, b) => a > b)
          const ask = best(asks, (a, b) => a < b)
          expect(reads.bestPrices(market.market)).to.deep.equal({
            ...(bid === undefined ? {} : { bid: priceE18(bid) }),
            ...(ask === undefined ? {} : { ask: priceE18(ask) }),
          })
        } finally {
          reads.close()
          history.remove()
        }
      }),
      { numRuns: runs(25) },
    )
  })
})
