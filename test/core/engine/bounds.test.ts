import { expect } from 'chai'
import { applyCommand } from '../../../core/engine/apply-command.js'
import type { Command } from '../../../core/engine/command.js'
import {
  DEADLINES_MAX_PER_STEP,
  LEASES_MAX,
  LIVE_ORDERS_MAX,
  REFUSED_ORDERS_MAX,
} from '../../../core/engine/limits.js'
import { amountE18, E18 } from '../../../core/money.js'
import { openedState } from '../../support/builders.js'
import { matcherOrder, START_MS, type OrderFields } from '../../support/matching.js'

const OWNER = `0x${'a'.repeat(40)}` as const

/** A market without the checks of each step, so that it can be filled. */
function market() {
  const state = openedState({ ordinal: 1 })
  let sourceNo = 0
  let nowMs = START_MS
  const apply = (command: Command) => {
    sourceNo += 1
    return applyCommand(state, { source: 'test', sourceNo, atMs: nowMs, command })
  }
  return {
    ...{ state, apply, advance: (ms: number) => (nowMs += ms) },
    place: (fields: OrderFields, replaces?: bigint) =>
      apply({
        ...{ kind: 'PlaceOrder', order: matcherOrder(fields) },
        ...(replaces !== undefined && { replaces }),
      }),
  }
}

describe('the bounds of a market', () => {
  it('carry out so many deadlines in a step, and ask for the next step at once', () => {
    const { state, apply, advance, place } = market()
    const goodUntilSec = START_MS / 1_000 + 60
    for (let n = 0; n <= DEADLINES_MAX_PER_STEP; n += 1) {
      place({ orderId: `o${n}`, side: 'sell', goodUntilSec })
    }
    advance(60_000)
    const first = apply({ kind: 'Tick' })
    expect(first.changes).to.have.length(DEADLINES_MAX_PER_STEP)
    expect(first.moreIsDue).to.equal(true)
    const [last, ...more] = apply({ kind: 'Tick' }).changes
    expect(last).to.include({ kind: 'OrderExpired', orderId: `o${DEADLINES_MAX_PER_STEP}` })
    expect(more).to.deep.equal([])
    expect(state.orders.size).to.equal(0)
  })

  it('ask for no further step where all that was due is done', () => {
    const { apply, advance, place } = market()
    const goodUntilSec = START_MS / 1_000 + 60
    for (let n = 0; n < DEADLINES_MAX_PER_STEP; n += 1) {
      place({ orderId: `o${n}`, side: 'sell', goodUntilSec })
    }
    advance(60_000)
    const { changes, moreIsDue } = apply({ kind: 'Tick' })
    expect(changes).to.have.length(DEADLINES_MAX_PER_STEP)
    expect(moreIsDue).to.equal(false)
  })

  it('keep few deadlines that mean nothing any more, and miss none that does', () => {
    const { state, apply, advance, place } = market()
    place({ orderId: 'often', side: 'sell', goodUntilSec: START_MS / 1_000 + 3_600 })
    place({ orderId: 'once', side: 'sell', goodUntilSec: START_MS / 1_000 + 60 })
    for (let n = 0; n < 1_100; n += 1) {
      const endsSec = START_MS / 1_000 + 120 + n
      apply({ kind: 'SessionKeyObserved', orderId: 'often', endsSec })
      expect(state.deadlines.atMs.length).to.be.at.most(2 * state.orders.size + 1_024)
    }
    advance(60_000)
    expect(apply({ kind: 'Tick' }).changes.map(({ orderId }) => orderId)).to.deep.equal(['once'])
    advance(1_159_000 - 1)
    apply({ kind: 'Tick' })
    expect(state.orders.has('often')).to.equal(true)
    advance(1)
    const [ended] = apply({ kind: 'Tick' }).changes
    expect(ended).to.include({ orderId: 'often', cancelReason: 'signature_revoked' })
  })

  it('store an order beyond the live ones as cancelled, and take one in the place of another', () => {
    const { state, place } = market()
    const units = (whole: bigint) => amountE18(whole * E18)
    const bid = { side: 'buy', subaccountId: 2n, desiredAmount: units(20n) } as const
    place({ orderId: 'partly', nonce: 1n, ...bid })
    place({ orderId: 'taker', side: 'sell' })
    place({ orderId: 'bid', nonce: 2n, ...bid })
    const [known] = state.orders.values()
    if (known === undefined) throw new Error('nothing rests')
    while (state.orders.size < LIVE_ORDERS_MAX - 1) state.orders.set(`x${state.orders.size}`, known)
    expect(place({ orderId: 'last', side: 'buy' }).changes.at(-1)).to.include({ status: 'active' })

    const full = { status: 'cancelled', cancelReason: 'market_full', open: 0n }
    const [stored, ...more] = place({ orderId: 'a', side: 'sell' }).changes
    expect(stored).to.include(full)
    expect(more).to.deep.equal([])
    // It would cross, and is not asked whether it does.
    const postOnly = { orderId: 'b', side: 'sell', postOnly: 'reject' } as const
    expect(place(postOnly).changes.at(-1)).to.include(full)
    expect(state.orders.size).to.equal(LIVE_ORDERS_MAX)

    expect(place({ ...bid, orderId: 'c' }, 2n).changes.at(-1)).to.include({
      ...{ orderId: 'c', status: 'active', open: units(20n) },
    })
    // What is pending of the old order would keep it beside the new one.
    expect(place({ ...bid, orderId: 'd' }, 1n).answer).to.deep.equal({
      ...{ kind: 'refused', code: 'replacement_ends' },
    })
  })

  it('refuse leases beyond the bound, but renew those that there are', () => {
    const { state, apply } = market()
    const set = (leaseId: string) =>
      apply({ kind: 'SetLease', owner: OWNER, leaseId, seconds: 30, opens: true }).answer
    const { byKey } = state.leases
    const endsAtMs = START_MS + 60_000
    while (byKey.size < LEASES_MAX - 1) {
      const leaseId = `x${byKey.size}`
      byKey.set(leaseId, { owner: OWNER, leaseId, endsAtMs })
    }
    const given = { kind: 'lease', endsAtMs: START_MS + 30_000 }
    expect(set('last')).to.deep.equal(given)
    expect(set('beyond')).to.deep.equal({ kind: 'refused', code: 'too_many_leases' })
    expect(set('last')).to.deep.equal(given)
  })

  it('remember so many refused orders, and forget the oldest', () => {
    const { state, apply, place } = market()
    place({ orderId: 'ask', side: 'sell', subaccountId: 2n })
    const refuse = (orderId: string) => place({ orderId, side: 'buy', postOnly: 'reject' }).answer
    const repeat = (orderId: string) => apply({ kind: 'RepeatOrder', orderId, by: 'nonce' }).answer
    const refused = { kind: 'refused', code: 'post_only_would_cross' }
    refuse('oldest')
    while (state.refusedOrders.size < REFUSED_ORDERS_MAX - 1) {
      state.refusedOrders.set(`x${state.refusedOrders.size}`, 'open_order_limit')
    }
    expect(refuse('last')).to.deep.equal(refused)
    expect(repeat('oldest')).to.deep.equal(refused)
    expect(refuse('newest')).to.deep.equal(refused)
    expect(state.refusedOrders.size).to.equal(REFUSED_ORDERS_MAX)
    expect(repeat('newest')).to.deep.equal(refused)
    expect(repeat('oldest')).to.include({ code: 'duplicate_nonce', repeated: 'oldest' })
  })
})
