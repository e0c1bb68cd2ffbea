import { tradingOf } from '../../../core/contracts/registry.js'
import { expect } from 'chai'
import fc from 'fast-check'
import { newAccount } from '../../../core/engine/accounts.js'
import {
  addToBook,
  bestOf,
  emptyBook,
  ordersOf,
  removeFromBook,
} from '../../../core/engine/book.js'
import { newLiveOrder, type LiveOrder } from '../../../core/model/live-order.js'
import type { Side } from '../../../core/model/order.js'
import { priceE18 } from '../../../core/money.js'
import { matcherOrder } from '../../support/matching.js'

const account = newAccount(1n, tradingOf({ contractType: 'spot' }).means.openRiskAccount(undefined))
const resting = fc.record({
  side: fc.constantFrom<Side>('buy', 'sell'),
  price: fc.integer({ min: 1, max: 12 }),
})
/** An order comes, or one of those that rest goes and may come back at its own place in time. */
const acts = fc.array(fc.oneof(resting, fc.nat(20)), { maxLength: 120, size: 'max' })

function sorted(orders: readonly LiveOrder[], side: Side): LiveOrder[] {
  const of = orders.filter(({ order }) => order.side === side)
  const first = side === 'buy' ? 1 : -1
  return of.sort((a, b) => {
    const x = a.order.limitPrice
    const y = b.order.limitPrice
    if (x === y) return a.rank - b.rank
    return x < y ? first : -first
  })
}

describe('book', () => {
  it('gives the orders of each side as sorting by price and rank does', () => {
    fc.assert(
      fc.property(acts, (script) => {
        const book = emptyBook()
        let shown: LiveOrder[] = []
        const gone: LiveOrder[] = []
        for (const [index, act] of script.entries()) {
          const leaving = typeof act === 'number' ? shown[act] : undefined
          if (typeof act === 'number') {
            if (leaving === undefined) {
              const back = gone.pop()
              if (back !== undefined) addToBook(book, back)
              if (back !== undefined) shown = [...shown, back]
            } else {
              removeFromBook(book, leaving)
              gone.push(leaving)
              shown = shown.filter((live) => live !== leaving)
            }
          } else {
            const limitPrice = priceE18(BigInt(act.price))
            const order = matcherOrder({ orderId: `o${index}`, side: act.side, limitPrice })
            const live = newLiveOrder(order, { account, own: new Map(), rank: index, nowMs: 0 })
            addToBook(book, live)
            shown = [...shown, live]
          }
          for (const side of ['buy', 'sell'] as const) {
            const expected = sorted(shown, side)
            expect([...ordersOf(book, side)].map(({ rank }) => rank)).to.deep.equal(
              expected.map(({ rank }) => rank),
            )
            expect(bestOf(book, side)).to.equal(expected[0])
          }
        }
      }),
    )
  })
})
