import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { listDeadlines } from '../../../core/engine/deadlines.js'
import {
  joinOwner,
  knownOrder,
  leaveOwner,
  nextDeadlineMs,
  scheduleOrder,
  type MatcherState,
} from '../../../core/engine/state.js'
import { EXPIRY_MARGIN_MS } from '../../../core/model/limits.js'
import { newLiveOrder, type LiveOrder } from '../../../core/model/live-order.js'
import { openedState } from '../../support/builders.js'
import { matcherOrder } from '../../support/matching.js'

const ENDS_MS = 1_800_000_000_000
/** More entries than twice the live orders, of which some may be stale. */
const STALE_MAX = 1_024

describe('the live orders of a market', () => {
  let state: MatcherState
  const own: LiveOrder['own'] = new Map()
  beforeEach(() => {
    state = openedState()
    own.clear()
  })
  function live(nonce: number, fields: Partial<LiveOrder> = {}): LiveOrder {
    const order = matcherOrder({
      orderId: `o${nonce}`,
      side: 'buy',
      nonce: BigInt(nonce),
      goodUntilSec: ENDS_MS / 1_000,
    })
    const account = {} as LiveOrder['account']
    return { ...newLiveOrder(order, { account, own, rank: nonce, nowMs: 0 }), ...fields }
  }
  const place = (...orders: LiveOrder[]): void => {
    for (const each of orders) state.orders.set(each.orderId, each)
  }

  it('are known by their ids, and one that is not breaks an invariant', () => {
    const known = live(1)
    place(known)
    expect(knownOrder(state, 'o1')).to.equal(known)
    expect(() => knownOrder(state, 'o2')).to.throw(InvariantBroken)
  })

  it('make their owner known from the first to the last', () => {
    const first = live(1)
    const second = live(2)
    joinOwner(state, first)
    joinOwner(state, second)
    expect(state.owners.get(first.owner)).to.equal(own)
    expect([...own]).to.deep.equal([
      [1n, first],
      [2n, second],
    ])
    leaveOwner(state, first)
    expect([...own.keys()]).to.deep.equal([2n])
    expect(state.owners.has(first.owner)).to.equal(true)
    leaveOwner(state, second)
    expect([own.size, state.owners.size]).to.deep.equal([0, 0])
  })

  it('are next changed by time when they begin to expire, when their hold ends, and when they end', () => {
    const held = (untilMs: number) => ({ reason: 'settlement_refused', untilMs }) as const
    const begins = ENDS_MS - EXPIRY_MARGIN_MS
    expect(nextDeadlineMs(live(1))).to.equal(begins)
    expect(nextDeadlineMs(live(1, { hold: { reason: 'expiring' } }))).to.equal(ENDS_MS)
    expect(nextDeadlineMs(live(1, { hold: held(begins - 1) }))).to.equal(begins - 1)
    expect(nextDeadlineMs(live(1, { hold: held(begins + 1) }))).to.equal(begins)
    expect(nextDeadlineMs(live(1, { gone: 'cancelled' }))).to.equal(undefined)
  })

  it('have deadlines, of which no more are kept than twice the orders and some', () => {
    const due = live(1)
    const gone = live(2, { gone: 'cancelled' })
    const other = live(3)
    place(due, gone, other)
    scheduleOrder(state, gone)
    expect(state.deadlines.atMs).to.deep.equal([])
    const most = 2 * 3 + STALE_MAX
    for (let n = 0; n < most; n += 1) scheduleOrder(state, due)
    expect(state.deadlines.atMs).to.have.length(most)
    scheduleOrder(state, due)
    // Each order that time will change has one again, and no other.
    const atMs = ENDS_MS - EXPIRY_MARGIN_MS
    expect([...listDeadlines(state.deadlines)]).to.deep.equal([
      { atMs, rank: 1, orderId: 'o1' },
      { atMs, rank: 3, orderId: 'o3' },
    ])
  })
})
