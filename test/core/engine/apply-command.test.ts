import { expect } from 'chai'
import fc from 'fast-check'
import type { Command } from '../../../core/model/command.js'
import { openAmount, statusOf } from '../../../core/model/live-order.js'
import { codeActs } from '../../support/code-acts.js'
import {
  cancellingActs,
  commandOf,
  limitedActs,
  marketActs,
  type MarketAct,
} from '../../support/market-commands.js'
import { E18 } from '../../../core/money.js'
import { matcherOrder, START_MS, testMatcher } from '../../support/matching.js'
import { naiveApply, naiveMarket, naiveOpen, naiveStatus } from './naive-market.js'
import { naiveSpot } from './naive-rules.js'
import { runs } from '../../support/property-runs.js'

/** Plays acts on the real step and on the naive market, and compares every order and match after each act. */
function playBoth(acts: readonly MarketAct[], rules = naiveSpot, owners = 1): void {
  const real = testMatcher()
  const naive = naiveMarket(rules, real.state.rules.tickSize)
  const settlementIds: string[] = []
  let placed = 0
  for (const act of acts) {
    if (act.act === 'wait') real.advance(act.sec * 1000)
    const command = commandOf(act, { placed, nowMs: real.nowMs(), settlementIds, owners })
    if (command.kind === 'PlaceOrder') placed += 1
    naiveApply(naive, withNaiveIds(command, settlementIds), real.nowMs())
    for (const change of real.apply(command).changes) {
      if (change.kind === 'OrderMatched') settlementIds.push(change.match.settlementId)
    }
    compare(real, naive, settlementIds)
  }
}

/** 25 basis points, as the test market has. */
const feeOf = (price: bigint, amount: bigint): bigint => (price * amount) / E18 / 400n

function withNaiveIds(command: Command, settlementIds: readonly string[]): Command {
  if (command.kind !== 'SettlementReported') return command
  return { ...command, settlementId: `${settlementIds.indexOf(command.settlementId)}` }
}

function compare(
  real: ReturnType<typeof testMatcher>,
  naive: ReturnType<typeof naiveMarket>,
  settlementIds: readonly string[],
): void {
  expect(settlementIds.length, 'number of matches').to.equal(naive.matches.length)
  for (const [
    index,
    { done, makerOrderId, takerOrderId, price, amount },
  ] of naive.matches.entries()) {
    const expected = { makerOrderId, takerOrderId, price, amount }
    const match = real.state.matches.get(settlementIds[index] ?? '')
    expect(match === undefined, `match ${index} done`).to.equal(done)
    if (match !== undefined) expect(match).to.include(expected)
  }
  for (const it of naive.orders) {
    const live = real.state.orders.get(it.order.orderId)
    const last = real.changes.findLast((change) => change.orderId === it.order.orderId)
    const shown =
      live === undefined
        ? { status: last?.status, filled: last?.filled, pending: last?.pending, open: last?.open }
        : {
            status: statusOf(live),
            filled: live.filled,
            pending: live.pending,
            open: openAmount(live),
          }
    expect(shown, it.order.orderId).to.deep.equal({
      status: naiveStatus(it),
      filled: it.filled,
      pending: it.pending,
      open: naiveOpen(naive, it),
    })
  }
}

describe('apply-command', () => {
  const play = (acts: readonly MarketAct[]) => {
    playBoth(acts)
  }
  it('agrees with a deliberately naive market on random days (MAT-010)', () => {
    fc.assert(fc.property(marketActs(60), play), { numRuns: runs(400) })
  })

  it('agrees with it while many orders are cancelled at once and leases end', () => {
    fc.assert(fc.property(cancellingActs(60), play), { numRuns: runs(300) })
  })

  it('agrees with it while an account may have only so many live orders', () => {
    fc.assert(fc.property(limitedActs(60), play), { numRuns: runs(200) })
  })

  it('agrees with it while some signers are code, and what that has cost and paid is counted', () => {
    const withFees = { ...naiveSpot, fee: (price: bigint, amount: bigint) => feeOf(price, amount) }
    const playOwners = (acts: readonly MarketAct[]) => {
      playBoth(acts, withFees, 3)
    }
    fc.assert(fc.property(codeActs(120), playOwners), { numRuns: runs(600) })
  })

  it('skips a command that its writer has sent before', () => {
    const { state, apply } = testMatcher()
    apply({ kind: 'Tick' })
    expect(state.lastSourceNo.get('test')).to.equal(1)
    state.lastSourceNo.set('test', 7)
    const before = state.nowMs
    expect(apply({ kind: 'Tick' }).changes).to.deep.equal([])
    expect(state.nowMs).to.equal(before)
    expect(state.lastSourceNo.get('test')).to.equal(7)
  })

  it('takes the greatest time it has seen as market time (OPE-012)', () => {
    const { state, apply, advance } = testMatcher()
    apply({ kind: 'Tick' })
    advance(-5_000)
    apply({ kind: 'Tick' })
    expect(state.nowMs).to.equal(START_MS)
  })
  it('refuses an order whose id or nonce a live order has', () => {
    const { apply, state } = testMatcher()
    const place = (orderId: string, nonce: bigint) =>
      apply({ kind: 'PlaceOrder', order: matcherOrder({ orderId, side: 'sell', nonce }) })
    place('a', 1n)
    const refused = { kind: 'refused' }
    expect(place('a', 2n)).to.deep.include({
      changes: [],
      answer: { ...refused, code: 'duplicate_order_id' },
    })
    expect(place('b', 1n)).to.deep.include({
      changes: [],
      answer: { ...refused, code: 'duplicate_nonce' },
    })
    const other = matcherOrder({
      orderId: 'c',
      side: 'sell',
      nonce: 1n,
      owner: `0x${'b'.repeat(40)}`,
    })
    expect(apply({ kind: 'PlaceOrder', order: other }).answer).to.include({ kind: 'order' })
    expect([...state.orders.keys()]).to.deep.equal(['a', 'c'])
  })
  it('answers with the order and where it stands, its hold and its end', () => {
    const { apply, advance } = testMatcher()
    const order = matcherOrder({ orderId: 'a', side: 'sell' })
    const stands = { createdAtMs: START_MS, updatedAtMs: START_MS, filled: 0n, pending: 0n }
    const placed = { ...stands, status: 'active', open: order.desiredAmount }
    expect(apply({ kind: 'PlaceOrder', order }).answer).to.deep.equal({
      kind: 'order',
      order,
      progress: placed,
    })
    const late = matcherOrder({ orderId: 'b', side: 'sell', goodUntilSec: START_MS / 1_000 + 5 })
    expect(apply({ kind: 'PlaceOrder', order: late }).answer).to.deep.include({
      progress: { ...placed, open: 0n, heldReason: 'expiring' },
    })
    advance(1_000)
    const { owner, nonce } = order
    const cancel = { kind: 'CancelOrder', owner, nonce, reason: 'user' } as const
    const updatedAtMs = START_MS + 1_000
    const cancelledAtMs = START_MS + 1_000
    expect(apply(cancel).answer).to.deep.include({
      progress: {
        ...stands,
        status: 'cancelled',
        open: 0n,
        cancelReason: 'user',
        updatedAtMs,
        cancelledAtMs,
      },
    })
    expect(apply(cancel).answer).to.deep.equal({ kind: 'refused', code: 'active_order_not_found' })
  })
})
