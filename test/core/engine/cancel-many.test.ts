import { expect } from 'chai'
import { applyCommand } from '../../../core/engine/apply-command.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import { takeSnapshot } from '../../support/snapshots.js'
import { restoreSnapshot } from '../../../core/engine/snapshot.js'
import { decodeCheckpoint, encodeCheckpoint } from '../../../bus-schemas/checkpoint.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { matcherOrder, START_MS, testMatcher, type TestMatcher } from '../../support/matching.js'

const OWNER = `0x${'a'.repeat(40)}` as const
const OTHER = `0x${'b'.repeat(40)}` as const

/** Sells of one owner at rising prices, with ids of a usual length. The invariants are checked with the next command alone. */
function placeMany({ state }: TestMatcher, count: number, idOf = uuidOf): void {
  for (let n = 0; n < count; n += 1) {
    const limitPrice = priceE18(E18 + BigInt(n))
    const order = matcherOrder({ orderId: idOf(n), side: 'sell', limitPrice })
    const command = { kind: 'PlaceOrder', order } as const
    applyCommand(state, { source: 'placed', sourceNo: n + 1, atMs: START_MS, command })
  }
}

const uuidOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** Ids of the greatest length, of signs that take three bytes. */
const longId = (n: number): string => `${'\u{4e00}'.repeat(120)}${n}`

const cancelAll = { kind: 'CancelAll', owner: OWNER, reason: 'unspecified' } as const

describe('cancels of many orders', () => {
  it('cancels a thousand in one block that fits a message (CAN-024)', () => {
    const matcher = testMatcher()
    placeMany(matcher, 1_000)
    const logged = { source: 'test', sourceNo: 5_000, atMs: START_MS, command: cancelAll }
    const steps = [...applyMessage(matcher.state, 7, [logged])]
    expect(steps).to.have.length(1)
    const block = steps[0]?.block
    expect(block?.changes).to.have.length(1_000)
    if (block !== undefined) encodeBlock(block)
    expect(steps[0]?.results[0]?.applied).to.deep.include({ moreIsDue: false })
    expect(matcher.state.orders.size).to.equal(0)
  })

  it('leaves the order beyond a thousand to the next step', () => {
    const matcher = testMatcher()
    placeMany(matcher, 1_001)
    const { answer, changes, moreIsDue } = matcher.apply(cancelAll)
    expect(changes).to.have.length(1_000)
    expect(answer).to.deep.include({ left: 1 })
    expect(moreIsDue).to.equal(true)
    expect(matcher.apply({ kind: 'Tick' }).changes).to.have.length(1)
  })

  it('leaves to the next steps what does not fit, and matches none of it meanwhile (CAN-024)', () => {
    const matcher = testMatcher()
    placeMany(matcher, 2_000, longId)
    const { answer, changes, moreIsDue } = matcher.apply(cancelAll)
    const done = changes.length
    expect(done).to.be.within(400, 999)
    expect(moreIsDue).to.equal(true)
    expect(answer).to.deep.include({ kind: 'cancels', left: 2_000 - done })
    const block = { market: 'cNGN-USDC', commandSeq: 1, commandIndex: 0, changes }
    encodeBlock({ ...block, firstSeq: changes[0]?.seq ?? 0 })
    // It would match every order that is left, and one of another owner.
    const other = {
      orderId: 'other',
      owner: OTHER,
      subaccountId: 9n,
      limitPrice: priceE18(2n * E18),
    }
    matcher.apply({ kind: 'PlaceOrder', order: matcherOrder({ side: 'sell', ...other }) })
    const copy = restoreSnapshot(takeSnapshot(matcher.state))
    const buyer = matcherOrder({
      orderId: 'buyer',
      side: 'buy',
      owner: OTHER,
      subaccountId: 2n,
      limitPrice: priceE18(2n * E18),
      desiredAmount: amountE18(10n * E18),
    })
    const place = { kind: 'PlaceOrder', order: buyer } as const
    matcher.apply(place)
    const makers = [...matcher.state.matches.values()].map((it) => it.makerOrderId)
    expect(makers).to.deep.equal(['other'])
    expect(matcher.state.massCancels.size).to.equal(1)
    let ticks = 0
    while (matcher.apply({ kind: 'Tick' }).moreIsDue) ticks += 1
    expect(ticks).to.be.below(10)
    expect(
      [...matcher.state.orders.values()].filter(({ owner }) => owner === OWNER),
    ).to.have.length(0)
    expect(matcher.state.massCancels.size).to.equal(0)
    expect(copy.massCancels.size).to.equal(1)
  })

  it('keeps leases and unfinished cancels in a checkpoint', () => {
    const matcher = testMatcher()
    placeMany(matcher, 700, longId)
    matcher.apply({ kind: 'SetLease', owner: OWNER, leaseId: 'one', seconds: 30, opens: true })
    matcher.apply({ kind: 'SetLease', owner: OTHER, seconds: 60, opens: true })
    matcher.apply({ ...cancelAll, side: 'sell', subaccountId: 1n })
    const messages = [
      ...encodeCheckpoint({
        market: 'cNGN-USDC',
        commandSeq: 1,
        feed: { messageSeq: 1, sha256: '' },
        term: 1,
        state: takeSnapshot(matcher.state),
      }),
    ].map((text) => Buffer.from(text))
    const market = { market: 'cNGN-USDC', contractType: 'spot' } as const
    const restored = restoreSnapshot(decodeCheckpoint(messages, market).state)
    expect(restored.leases.byKey).to.deep.equal(matcher.state.leases.byKey)
    expect(restored.leases.dueMs).to.equal(START_MS + 30_000)
    expect(restored.massCancels).to.deep.equal(matcher.state.massCancels)
    expect(restored.massCancels.size).to.equal(1)
  })

  it('refuses a renewal of a lease that is not there, and another owner’s is not meant', () => {
    const matcher = testMatcher()
    const set = { kind: 'SetLease', owner: OWNER, leaseId: 'one', seconds: 30 } as const
    expect(matcher.apply({ ...set, opens: false }).answer).to.deep.equal({
      kind: 'refused',
      code: 'lease_ended',
    })
    expect(matcher.apply({ ...set, opens: true }).answer).to.deep.equal({
      kind: 'lease',
      endsAtMs: START_MS + 30_000,
    })
    const order = matcherOrder({ orderId: 'o', side: 'buy', owner: OTHER, leaseId: 'one' })
    const { answer } = matcher.apply({ kind: 'PlaceOrder', order })
    expect(answer?.kind === 'order' && answer.progress).to.include({
      status: 'cancelled',
      cancelReason: 'cancel_on_disconnect',
    })
  })
  it('leaves room for a command that cancels many, and keeps the newest of each scope', () => {
    const matcher = testMatcher()
    placeMany(matcher, 3_000, longId)
    const { massCancels } = matcher.state
    matcher.apply(cancelAll)
    const sells = matcher.apply({ ...cancelAll, side: 'sell' })
    const { outcomes = [], left = 0 } = sells.answer?.kind === 'cancels' ? sells.answer : {}
    expect(outcomes.length).to.be.above(100)
    // What the step went on with is not of its answer.
    expect(sells.changes.length).to.be.above(outcomes.length + 50)
    expect(left).to.equal(matcher.state.orders.size)
    expect(massCancels.get(OWNER)).to.have.length(2)
    matcher.apply({ ...cancelAll, side: 'sell', reason: 'again' })
    expect(massCancels.get(OWNER)?.map(({ side, reason }) => [side, reason])).to.deep.equal([
      [undefined, 'unspecified'],
      ['sell', 'again'],
    ])
    matcher.apply({ ...cancelAll, side: 'sell', subaccountId: 1n })
    expect(massCancels.get(OWNER)).to.have.length(3)
    while (matcher.apply({ kind: 'Tick' }).moreIsDue);
    expect(matcher.state.orders.size).to.equal(0)
    expect(massCancels.size).to.equal(0)
  })

  it('replaces no order that it has still to cancel', () => {
    const matcher = testMatcher()
    placeMany(matcher, 2_000, longId)
    const last = [...matcher.state.orders.values()].at(-1)
    matcher.apply(cancelAll)
    const order = matcherOrder({ orderId: 'new', side: 'sell' })
    const replaces = last?.nonce ?? 0n
    expect(matcher.apply({ kind: 'PlaceOrder', order, replaces }).answer).to.deep.equal({
      kind: 'refused',
      code: 'active_order_not_found',
    })
    expect(last?.gone).to.equal(undefined)
  })

  it('of named orders answers for each, and passes over another owner’s', () => {
    const { apply, state } = testMatcher()
    const place = (orderId: string, owner: typeof OWNER) =>
      apply({
        kind: 'PlaceOrder',
        order: matcherOrder({ orderId, side: 'sell', owner, nonce: 77n }),
      })
    place('own', OWNER)
    place('other', OTHER)
    const orderIds = ['unknown', 'other', 'own', 'own']
    const { answer } = apply({ kind: 'CancelOrders', owner: OWNER, orderIds, reason: 'user' })
    const none = { kind: 'not_cancelled', code: 'active_order_not_found' }
    expect(answer?.kind === 'cancels' && answer.outcomes).to.deep.equal([
      { ...none, orderId: 'unknown' },
      { ...none, orderId: 'other', code: 'order_of_another_owner' },
      { kind: 'cancelled', orderId: 'own', nonce: 77n, filled: 0n, pending: 0n },
      { ...none, orderId: 'own' },
    ])
    expect([...state.orders.keys()]).to.deep.equal(['other'])
  })

  it('is kept in a checkpoint for what a settlement would return', () => {
    const matcher = testMatcher()
    const { apply } = matcher
    apply({ kind: 'PlaceOrder', order: matcherOrder({ orderId: 's', side: 'sell' }) })
    const buyer = { orderId: 'b', side: 'buy', owner: OTHER, subaccountId: 2n } as const
    apply({ kind: 'PlaceOrder', order: matcherOrder(buyer) })
    apply(cancelAll)
    const restored = restoreSnapshot(takeSnapshot(matcher.state))
    const [settlementId = ''] = restored.matches.keys()
    const outcome = { kind: 'reverted', revert: 'TM_X', guilty: 'taker' } as const
    const command = { kind: 'SettlementReported', settlementId, outcome } as const
    const logged = { source: 'restored', sourceNo: 1, atMs: START_MS, command }
    const [taker, maker] = applyCommand(restored, logged).changes
    expect(taker).to.include({ orderId: 'b', hold: 'settlement_refused' })
    expect(maker).to.include({ orderId: 's', status: 'cancelled', cancelReason: 'unspecified' })
  })
})
