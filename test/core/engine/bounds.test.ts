import { expect } from 'chai'
import type { ContractType } from '../../../core/model/market.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import { applyCommand } from '../../../core/engine/apply-command.js'
import type { Command } from '../../../core/model/command.js'
import {
  CANCELLED_MAX_PER_STEP,
  DEADLINES_MAX_PER_STEP,
  LEASES_MAX,
  LIVE_ORDERS_MAX,
  REFUSAL_HOLD_MS,
  REFUSED_ORDERS_MAX,
  REVIEWED_MAX_PER_STEP,
  SWEEP_MAX_MATCHES,
} from '../../../core/model/limits.js'
import { amountE18, E18 } from '../../../core/money.js'
import { openedState } from '../../support/builders.js'
import { anObservation } from '../../support/funded-acts.js'
import { perpetualAccount, perpetualFacts } from '../../support/perpetual.js'
import { matcherOrder, START_MS, type OrderFields } from '../../support/matching.js'

const BY = { by: 'ada', reason: 'maintenance' }
const OWNER = `0x${'a'.repeat(40)}` as const

/** A market without the checks of each step, so that it can be filled. */
function market(contractType: ContractType = 'spot') {
  const state = openedState({ ordinal: 1, contractType })
  let sourceNo = 0
  let nowMs = START_MS
  const apply = (command: Command) => {
    sourceNo += 1
    return applyCommand(state, { source: 'test', sourceNo, atMs: nowMs, command })
  }
  return {
    state,
    apply,
    advance: (ms: number) => (nowMs += ms),
    place: (fields: OrderFields, replaces?: bigint) =>
      apply({
        kind: 'PlaceOrder',
        order: matcherOrder(fields),
        ...(replaces !== undefined && { replaces }),
      }),
  }
}

describe('the bounds of a market', () => {
  it('carry out so many deadlines in a step, and ask for the next step at once (MAT-039)', () => {
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

  it('store an order beyond the live ones as cancelled, and take one in the place of another (MAT-012)', () => {
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
      orderId: 'c',
      status: 'active',
      open: units(20n),
    })
    // What is pending of the old order would keep it beside the new one.
    expect(place({ ...bid, orderId: 'd' }, 1n).answer).to.deep.equal({
      kind: 'refused',
      code: 'replacement_ends',
    })
  })

  it('refuse leases beyond the bound, but renew those that there are (CAN-032)', () => {
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

  it('remember so many refused orders, and forget the oldest (CAN-044)', () => {
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
  it('cancel no order that came after the market was enabled again, however many were before it', () => {
    const { state, apply, place } = market()
    const count = 3 * CANCELLED_MAX_PER_STEP + 1
    for (let n = 0; n < count; n += 1) place({ orderId: `o${n}`, side: 'sell' })
    apply({ kind: 'MarketDisabled', ...BY })
    apply({ kind: 'MarketEnabled', ...BY })
    const { changes, moreIsDue } = place({ orderId: 'new', side: 'sell' })
    expect(changes).to.have.length(CANCELLED_MAX_PER_STEP + 1)
    expect(moreIsDue).to.equal(true)
    const last = apply({ kind: 'Tick' })
    expect(last.changes.map(({ orderId }) => orderId)).to.deep.equal([`o${count - 1}`])
    expect(last.moreIsDue).to.equal(false)
    expect([...state.orders.keys()]).to.deep.equal(['new'])
  })

  it('review so many orders in a step, of one account after the other', () => {
    const { state, apply, place } = market()
    const poor = (subaccountId: bigint) =>
      apply({ kind: 'AccountObserved', account: anObservation(subaccountId, 0n) })
    const count = 3 * REVIEWED_MAX_PER_STEP + 10
    for (let n = 0; n < count; n += 1) place({ orderId: `a${n}`, side: 'sell', subaccountId: 1n })
    for (let n = 0; n < 10; n += 1) place({ orderId: `b${n}`, side: 'sell', subaccountId: 2n })
    const steps = [poor(1n), poor(2n)]
    while (steps.at(-1)?.moreIsDue === true) steps.push(apply({ kind: 'Tick' }))
    expect(steps.map(({ changes }) => changes.length)).to.deep.equal([
      ...[REVIEWED_MAX_PER_STEP, REVIEWED_MAX_PER_STEP, REVIEWED_MAX_PER_STEP, 20],
    ])
    expect(state.book.sell.levels).to.deep.equal([])
  })

  it('end so many orders without purpose in a step', () => {
    const { state, apply, place } = market('perpetual')
    const facts = hidePerpetual(perpetualFacts())
    const read = { blockNumber: 1n, blockTimeSec: START_MS / 1_000 }
    apply({ kind: 'MarketObserved', observation: { facts, readAtMs: START_MS, ...read } })
    const observe = (position: bigint) =>
      apply({
        kind: 'AccountObserved',
        account: {
          subaccountId: 1n,
          custodyOwner: OWNER,
          leaving: false,
          ...read,
          facts: hidePerpetualAccount(perpetualAccount({ position })),
        },
      })
    place({ orderId: 'first', side: 'sell', subaccountId: 1n })
    observe(100n * E18)
    const count = REVIEWED_MAX_PER_STEP + 10
    for (let n = 0; n < count; n += 1) {
      place({ orderId: `r${n}`, side: 'sell', subaccountId: 1n, reduceOnly: true })
    }
    const flat = observe(0n)
    expect(flat.changes).to.have.length(REVIEWED_MAX_PER_STEP)
    expect(flat.moreIsDue).to.equal(true)
    const last = apply({ kind: 'Tick' })
    expect(last.changes).to.have.length(10)
    expect(last.changes.at(-1)).to.include({ cancelReason: 'reduce_only_no_position' })
    expect([...state.orders.keys()]).to.deep.equal(['first'])
  })

  describe('on the matches of a step', () => {
    const maker = { side: 'sell', subaccountId: 2n } as const
    const taker = { side: 'buy', desiredAmount: amountE18(100_000n * E18) } as const
    const wall = ({ place }: ReturnType<typeof market>, count: number) => {
      for (let n = 0; n < count; n += 1) place({ orderId: `s${n}`, ...maker })
    }

    it('let every order that comes back go on later', () => {
      const full = market()
      const { state, apply, advance, place } = full
      for (const [n, orderId] of ['x', 'y'].entries()) {
        place({ orderId: `m${n}`, ...maker })
        place({ orderId, ...taker, subaccountId: BigInt(5 + n) })
        const settlementId = [...state.matches.keys()].at(-1) ?? ''
        const outcome = { kind: 'reverted', revert: 'TM_X', guilty: 'taker' } as const
        apply({ kind: 'SettlementReported', settlementId, outcome })
        expect(state.orders.get(orderId)?.hold?.reason).to.equal('settlement_refused')
        apply({ kind: 'CancelOrders', owner: OWNER, orderIds: [`m${n}`], reason: 'user' })
      }
      wall(full, SWEEP_MAX_MATCHES + 5)
      advance(REFUSAL_HOLD_MS)
      const { changes, continueOrderIds } = apply({ kind: 'Tick' })
      expect(continueOrderIds).to.deep.equal(['x', 'y'])
      expect(changes.filter(({ kind }) => kind === 'OrderMatched')).to.have.length(
        SWEEP_MAX_MATCHES,
      )
      apply({ kind: 'ContinueOrder', orderId: 'x' })
      expect(state.book.sell.levels).to.deep.equal([])
    })

    it('let an IOC order sweep on, unless its last seconds begin before that', () => {
      for (const [afterMs, expected] of [
        [0, { kind: 'OrderReleased', cancelReason: 'ioc_remainder' }],
        [20_000, { kind: 'OrderCancelled', cancelReason: 'expiring' }],
      ] as const) {
        const full = market()
        const { apply, advance, place } = full
        wall(full, SWEEP_MAX_MATCHES + 5)
        const goodUntilSec = START_MS / 1_000 + 30
        const swept = place({ orderId: 'ioc', ...taker, timeInForce: 'IOC', goodUntilSec })
        expect(swept.changes.at(-1)).to.include({ hold: 'continuing', status: 'active' })
        expect(swept.continueOrderIds).to.deep.equal(['ioc'])
        advance(afterMs)
        const { changes } = apply({ kind: 'ContinueOrder', orderId: 'ioc' })
        expect(changes.at(-1)).to.include({ ...expected, status: 'cancelled' })
        expect(changes).to.have.length(afterMs === 0 ? 6 : 1)
      }
    })

    it('open a market that was held in several steps', () => {
      const full = market()
      const { state, apply, place } = full
      apply({ kind: 'MarketPaused', ...BY })
      wall(full, SWEEP_MAX_MATCHES + 5)
      place({ orderId: 'taker', ...taker })
      apply({ kind: 'MarketResumed', ...BY })
      const first = apply({ kind: 'Tick' })
      expect(first.changes.filter(({ kind }) => kind === 'OrderMatched')).to.have.length(
        SWEEP_MAX_MATCHES,
      )
      expect(state.orders.get('taker')?.hold?.reason).to.equal('continuing')
      apply({ kind: 'ContinueOrder', orderId: 'taker' })
      expect(state.book.sell.levels).to.deep.equal([])
      expect(state.closed).to.equal(false)
    })

    it('open a market of many crossing pairs in several steps', () => {
      const { state, apply, place } = market()
      apply({ kind: 'MarketPaused', ...BY })
      for (let n = 0; n < SWEEP_MAX_MATCHES + 5; n += 1) {
        place({ orderId: `s${n}`, ...maker })
        place({ orderId: `b${n}`, side: 'buy' })
      }
      apply({ kind: 'MarketResumed', ...BY })
      const first = apply({ kind: 'Tick' })
      expect(first.changes).to.have.length(2 * SWEEP_MAX_MATCHES)
      expect(first.moreIsDue).to.equal(true)
      expect(first.continueOrderIds).to.deep.equal([])
      // Nothing crosses in between.
      expect(state.closed).to.equal(true)
      const second = apply({ kind: 'Tick' })
      expect(second.changes).to.have.length(10)
      expect(second.moreIsDue).to.equal(false)
      expect(state.matches.size).to.equal(SWEEP_MAX_MATCHES + 5)
    })
  })
})
