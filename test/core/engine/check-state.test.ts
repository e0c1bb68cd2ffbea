import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { addToBook, removeFromBook } from '../../../core/engine/book.js'
import { checkAccounts, checkBook } from '../../../core/engine/check-state.js'
import type { LiveOrder } from '../../../core/model/live-order.js'
import type { Match } from '../../../core/model/match.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { anObservation } from '../../support/funded-acts.js'
import { matcherOrder, START_MS, testMatcher, type OrderFields } from '../../support/matching.js'

const OTHER = `0x${'b'.repeat(40)}` as const
const units = (whole: bigint) => amountE18(whole * E18)

/**
 * Asks at 3, 3 and 4 of account 1, bids at 2, 2 and 1 of account 2, of which the first ask has a match pending, and an ask
 * of account 3 that waits for its account.
 */
function market() {
  const matcher = testMatcher(0)
  const { state, apply } = matcher
  const place = (orderId: string, side: 'buy' | 'sell', price: bigint, fields = {}) => {
    const subaccountId = side === 'sell' ? 1n : 2n
    const terms: OrderFields = { orderId, side, limitPrice: priceE18(price * E18), subaccountId }
    apply({ kind: 'PlaceOrder', order: matcherOrder({ ...terms, ...fields }) })
  }
  place('a1', 'sell', 3n)
  place('a2', 'sell', 3n)
  place('a3', 'sell', 4n)
  place('taker', 'buy', 3n, { desiredAmount: units(4n) })
  place('b1', 'buy', 2n)
  place('b2', 'buy', 2n)
  place('b3', 'buy', 1n)
  const account = anObservation(3n, 0n)
  const waits = matcherOrder({ orderId: 'waits', side: 'sell', subaccountId: 3n })
  apply({ kind: 'PlaceOrder', order: waits, account })
  const live = (orderId: string): LiveOrder => {
    const found = state.orders.get(orderId)
    if (found === undefined) throw new Error(`no order ${orderId}`)
    return found
  }
  const [match] = state.matches.values()
  if (match === undefined) throw new Error('no match')
  return { state, live, match, place, apply }
}

type Market = ReturnType<typeof market>

/** Sets fields of the market's own object, also those that never change. */
const set = <T extends object>(of: T, fields: Partial<T>): T => Object.assign(of, fields)

const setOrder = (live: LiveOrder, fields: Partial<LiveOrder['order']>) =>
  set(live, { order: { ...live.order, ...fields } })

/** What is wrong with a market, and what is said of it. */
const WRONG: readonly (readonly [what: string, said: string, spoil: (market: Market) => void])[] = [
  [
    'an open order is not in the book',
    'with something open',
    ({ state, live }) => removeFromBook(state.book, live('a2')),
  ],
  [
    'an ask stands among the bids',
    'wrong side',
    ({ live }) => setOrder(live('a3'), { side: 'buy' }),
  ],
  [
    'an order that has ended is in the book',
    'nothing open',
    ({ live }) => set(live('a2'), { gone: 'cancelled' }),
  ],
  [
    'more was shown than is open',
    'shows another amount',
    ({ live }) => set(live('a2'), { shownOpen: units(11n) }),
  ],
  [
    'the book has an order that is not known',
    'without being known',
    ({ state, live }) => state.orders.set('a3', { ...live('a3') }),
  ],
  [
    'an ask stands behind a dearer one',
    'out of priority',
    ({ live }) => setOrder(live('a3'), { limitPrice: priceE18(2n * E18) }),
  ],
  [
    'a bid stands behind a lower one',
    'out of priority',
    ({ live }) => setOrder(live('b3'), { limitPrice: priceE18(3n * E18) }),
  ],
  [
    'an order stands behind a later one',
    'out of priority',
    ({ live }) => set(live('a2'), { rank: 0 }),
  ],
  [
    'two orders of one price have one rank',
    'out of priority',
    ({ live }) => set(live('b2'), { rank: live('b1').rank }),
  ],
  [
    'an owner is kept without an order',
    'without an order',
    ({ state }) => state.owners.set(OTHER, new Map()),
  ],
  [
    'an owner has an order that is not known',
    'is not known',
    ({ live }) => live('a2').own.set(live('a2').nonce, { ...live('a2') }),
  ],
  [
    'an order stands under another nonce',
    'under another owner',
    ({ live }) => {
      const { own, nonce } = live('a2')
      own.delete(nonce)
      own.set(nonce + 1_000n, live('a2'))
    },
  ],
  [
    'an order stands under another owner',
    'under another owner',
    ({ state, live }) => {
      live('a2').own.delete(live('a2').nonce)
      state.owners.set(OTHER, new Map([[live('a2').nonce, live('a2')]]))
    },
  ],
  [
    'an owner lacks an order',
    'missing from its owner',
    ({ live }) => live('a2').own.delete(live('a2').nonce),
  ],
  [
    'the matches are more than awaits settlement',
    'what awaits settlement',
    ({ state }) => set(state, { awaiting: amountE18(state.awaiting - 1n) }),
  ],
  [
    'an order has more pending than its matches',
    'pending of a1',
    ({ live }) => set(live('a1'), { pending: units(5n) }),
  ],
  [
    'an order without a match has something pending',
    'pending of waits',
    ({ live }) => set(live('waits'), { pending: units(1n), unmatched: units(9n) }),
  ],
  [
    'an order lacks a part of its amount',
    'not all of it',
    ({ live }) => set(live('waits'), { unmatched: units(9n) }),
  ],
  [
    'an order is matched beyond its amount',
    'beyond what it asked for',
    ({ live }) => set(live('waits'), { filled: units(11n), unmatched: units(-1n) }),
  ],
  [
    'an order that is filled is still known',
    'filled and still known',
    ({ live }) => set(live('waits'), { filled: units(10n), unmatched: units(0n) }),
  ],
  [
    'a match is of an order that is not known',
    'that is not known',
    ({ state, match }) => {
      const unknown: Match = { ...match, makerOrderId: 'x', takerOrderId: 'y' }
      state.matches.set('another', unknown)
      state.awaiting = amountE18(2n * match.amount)
    },
  ],
  [
    'an account with orders counts as idle',
    'is not idle',
    ({ state }) => state.idleAccounts.add(1n),
  ],
  [
    'an account lacks an order',
    'missing from its account',
    ({ live }) => live('a2').account.orders.delete(live('a2')),
  ],
  [
    'an account keeps a copy of an order',
    'keeps another order',
    ({ live }) => {
      const { orders } = live('a2').account
      orders.delete(live('a2'))
      orders.add({ ...live('a2') })
    },
  ],
  [
    'an order knows another account',
    'keeps another order',
    ({ live }) => set(live('a2'), { account: live('b1').account }),
  ],
  [
    'an order is of another account',
    'under another account',
    ({ live }) => setOrder(live('a2'), { subaccountId: 9n }),
  ],
  [
    'an account does not list an order that waits for it',
    'does not list it',
    ({ live }) => live('waits').account.waiting.clear(),
  ],
  [
    'an open order’s account is leaving',
    'out of custody',
    ({ live }) =>
      set(live('a2').account, { observed: anObservation(1n, 100n * E18, { leaving: true }) }),
  ],
]

describe('the invariants of a market', () => {
  it('hold in a market with open, waiting and matched orders', () => {
    const { state, live } = market()
    expect(live('waits').hold?.reason).to.equal('insufficient_balance')
    expect(live('a1').pending).to.equal(units(4n))
    checkBook(state)
  })

  for (const [what, said, spoil] of WRONG) {
    it(`are broken when ${what}`, () => {
      const spoiled = market()
      spoil(spoiled)
      expect(() => checkBook(spoiled.state)).to.throw(InvariantBroken, said)
    })
  }

  it('let the book be crossed while nothing may cross, and only then', () => {
    const { state, place, apply } = market()
    apply({ kind: 'MarketPaused', by: 'ada', reason: 'maintenance' })
    place('crosses', 'buy', 3n)
    checkBook(state)
    state.closed = false
    expect(() => checkBook(state)).to.throw(InvariantBroken, 'crossed')
  })

  it('let an order wait for a time alone, or out of custody until its account is reviewed', () => {
    const { state, live } = market()
    const { account } = live('waits')
    account.waiting.clear()
    live('waits').hold = { reason: 'insufficient_balance', untilMs: START_MS + 1 }
    checkBook(state)
    account.waiting.add(live('waits'))
    set(live('a2').account, { observed: anObservation(1n, 100n * E18, { leaving: true }) })
    state.reviews.add(1n)
    checkBook(state)
  })

  it('of accounts alone need every match’s orders', () => {
    const { state, match } = market()
    state.matches.set('another', { ...match, makerOrderId: 'x' })
    expect(() => checkAccounts(state)).to.throw(InvariantBroken, 'which is not known')
  })

  it('keep an order from being in the book twice, and from leaving it twice', () => {
    const { state, live } = market()
    expect(() => addToBook(state.book, live('a2'))).to.throw(InvariantBroken, 'already')
    removeFromBook(state.book, live('a2'))
    expect(() => removeFromBook(state.book, live('a2'))).to.throw(InvariantBroken, 'not in')
  })
})
