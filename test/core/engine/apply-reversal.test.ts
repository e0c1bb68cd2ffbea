import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { isReversalApplicable, isReversalDone } from '../../../core/engine/apply-reversal.js'
import {
  createSettlementTrail,
  type SettlementTruth,
} from '../../../core/engine/settlement-trail.js'
import type { Command, SettlementOutcome, SettlementReversal } from '../../../core/model/command.js'
import { REVERSALS_BEYOND_MAX } from '../../../core/model/limits.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18 } from '../../../core/money.js'
import { matcherOrder, testMatcher, type TestMatcher } from '../../support/matching.js'

const LOST = { kind: 'reverted', revert: 'not_carried_out' } as const
const MINED = { kind: 'success', txHash: '0xcd', blockNumber: 9n } as const
const REFUSED = { kind: 'reverted', revert: 'TM_X', guilty: 'taker' } as const

const units = (whole: bigint) => amountE18(whole * E18)
const place = (fields: Pick<Order, 'orderId' | 'side'> & Partial<Order>): Command => ({
  kind: 'PlaceOrder',
  order: matcherOrder({ subaccountId: fields.side === 'buy' ? 1n : 2n, ...fields }),
})

/** A maker of 10 and a taker of 4, whose match has this outcome. */
function traded(outcome: SettlementOutcome) {
  const market = testMatcher()
  market.apply(place({ orderId: 'maker', side: 'sell' }))
  market.apply(place({ orderId: 'taker', side: 'buy', desiredAmount: units(4n) }))
  const [settlementId = ''] = market.state.matches.keys()
  market.apply({ kind: 'SettlementReported', settlementId, outcome })
  return { market, settlementId }
}

/** The reversal that the feed so far gives. */
function reversalOf(
  { changes }: TestMatcher,
  settlementId: string,
  no: number,
  now: SettlementTruth,
): SettlementReversal {
  const trail = createSettlementTrail([settlementId])
  for (const change of changes) trail.fold(change)
  const reversal = trail.reversalOf(settlementId, no, now)
  if (reversal === undefined || reversal === 'unpublished') throw new Error('nothing to reverse')
  return reversal
}

const reversed = (reversal: SettlementReversal): Command => ({
  kind: 'SettlementReversed',
  reversal,
})

describe('a reversal of a settlement', () => {
  it('is applied once, also after a later number', () => {
    const { market, settlementId } = traded(MINED)
    const { state } = market
    const lost = reversalOf(market, settlementId, 2, LOST)
    expect(isReversalDone(state, 2)).to.equal(false)
    expect(market.apply(reversed(lost)).changes).to.have.length(3)
    expect([1, 2, 3].map((no) => isReversalDone(state, no))).to.deep.equal([false, true, false])
    expect(market.apply(reversed(lost)).changes).to.deep.equal([])
    const mined = reversalOf(market, settlementId, 1, MINED)
    expect(market.apply(reversed(mined)).changes.map(({ kind }) => kind)).to.deep.equal([
      'OrderFilled',
      'OrderFilled',
    ])
    expect(isReversalDone(state, 1)).to.equal(true)
  })

  it('counts as applied up to the number that the matcher has read, which never goes back', () => {
    const { state, apply } = testMatcher()
    for (const no of [3, 5, 6]) state.reversals.beyond.add(no)
    apply({ kind: 'ReversalsRead', upTo: 5 })
    expect(state.reversals).to.deep.equal({ upTo: 5, beyond: new Set([6]) })
    expect([4, 5, 6, 7].map((no) => isReversalDone(state, no))).to.deep.equal([
      ...[true, true, true, false],
    ])
    apply({ kind: 'ReversalsRead', upTo: 2 })
    expect(state.reversals).to.deep.equal({ upTo: 5, beyond: new Set([6]) })
    expect(isReversalDone(state, 5)).to.equal(true)
  })

  it('waits while as many as may be were applied before an earlier one', () => {
    const { market, settlementId } = traded(MINED)
    const { beyond } = market.state.reversals
    for (let no = 2; no <= REVERSALS_BEYOND_MAX; no += 1) beyond.add(no)
    const no = REVERSALS_BEYOND_MAX + 2
    const reversal = reversalOf(market, settlementId, no, LOST)
    expect(isReversalApplicable(market.state, reversal)).to.equal(true)
    beyond.add(no - 1)
    expect(isReversalApplicable(market.state, reversal)).to.equal(false)
    expect(market.apply(reversed(reversal)).changes).to.deep.equal([])
    market.apply({ kind: 'ReversalsRead', upTo: no - 1 })
    expect(market.apply(reversed(reversal)).changes).to.have.length(3)
  })

  it('is applicable to orders that the market knows or whose end is stated, and to no others', () => {
    const { market, settlementId } = traded(MINED)
    const { state } = market
    const { seq } = state
    const reversal = reversalOf(market, settlementId, 1, LOST)
    expect(state.orders.has('taker')).to.equal(false)
    expect(reversal.taker.ended).to.deep.equal({ status: 'filled', filled: units(4n) })
    expect(isReversalApplicable(state, reversal)).to.equal(true)
    const { orderId, owner, side, limitPrice, desired } = reversal.taker
    const unstated = { orderId, owner, side, limitPrice, desired }
    expect(isReversalApplicable(state, { ...reversal, taker: unstated })).to.equal(false)
    expect(isReversalApplicable(state, { ...reversal, maker: unstated })).to.equal(false)
    expect(state.seq, 'it was only asked').to.equal(seq)
    // The maker ends before the reversal comes, which still says that it is live.
    market.apply({ kind: 'CancelOrders', owner, orderIds: ['maker'], reason: 'user' })
    expect(isReversalApplicable(state, reversal)).to.equal(false)
    expect(market.apply(reversed(reversal)).changes).to.deep.equal([])
    expect(isReversalDone(state, 1)).to.equal(false)
  })

  it('that fills late is applicable once both orders have the amount free', () => {
    const { market, settlementId } = traded(REFUSED)
    const { state } = market
    const atOnce = reversalOf(market, settlementId, 1, MINED)
    expect(isReversalApplicable(state, atOnce)).to.equal(true)
    // Exactly the amount is left of the maker, then a unit less.
    market.apply(place({ orderId: 'b6', side: 'buy', desiredAmount: units(6n) }))
    expect(isReversalApplicable(state, atOnce)).to.equal(true)
    market.apply(place({ orderId: 'b1', side: 'buy', desiredAmount: amountE18(1n) }))
    expect(isReversalApplicable(state, atOnce)).to.equal(false)
  })
  it('of a fill that an order does not have is a broken invariant, live or ended', () => {
    const { market, settlementId } = traded(MINED)
    const lost = reversalOf(market, settlementId, 1, LOST)
    const ended = { status: 'cancelled', filled: units(3n) } as const
    const short = { ...lost, maker: { ...lost.maker, orderId: 'ended', ended } }
    expect(() => market.apply(reversed(short))).to.throw(InvariantBroken)

    const again = traded(MINED)
    again.market.apply(reversed(reversalOf(again.market, again.settlementId, 1, LOST)))
    expect(() => again.market.apply(reversed({ ...lost, no: 2 }))).to.throw(InvariantBroken)
  })

  it('is not made before the outcome is published, nor of a match of no such id', () => {
    const { market, settlementId } = traded(MINED)
    const trail = createSettlementTrail([settlementId])
    const at = (id = settlementId) => trail.reversalOf(id, 1, LOST)
    const seen = market.changes.map((change) => {
      trail.fold(change)
      return at() === 'unpublished'
    })
    expect(market.changes.map(({ kind }) => kind)).to.deep.equal([
      ...['OrderPlaced', 'OrderMatched', 'OrderPlaced', 'OrderFilled', 'OrderFilled'],
    ])
    expect(seen).to.deep.equal([true, true, true, false, false])
    expect(at('cNGN-USDC:9')).to.equal('unpublished')
    expect(trail.reversalOf(settlementId, 1, MINED), 'it is so already').to.equal(undefined)
  })

  it('states what an order has asked for at most since the match, where it was reduced', () => {
    const { market, settlementId } = traded(REFUSED)
    const { owner } = matcherOrder({ orderId: 'x', side: 'sell' })
    const nonce = market.state.orders.get('maker')?.nonce ?? 0n
    const whole = reversalOf(market, settlementId, 1, MINED)
    expect(whole.maker).not.to.have.property('reducedFrom')
    const reduced = { kind: 'ReduceOrder', owner, nonce, desired: units(3n) } as const
    market.apply({ ...reduced, reason: 'user' })
    const reversal = reversalOf(market, settlementId, 1, MINED)
    expect(reversal.maker).to.include({ desired: units(3n), reducedFrom: units(10n) })
    expect(isReversalApplicable(market.state, reversal)).to.equal(true)
  })

  it('counts what an order asked for before the match, where that is recalled (CAN-038)', () => {
    const { market, settlementId } = traded(REFUSED)
    const nonce = market.state.orders.get('maker')?.nonce ?? 0n
    const { owner } = matcherOrder({ orderId: 'x', side: 'sell' })
    const [placed, ...since] = market.changes
    if (placed === undefined) throw new Error('nothing was placed')
    market.apply({ kind: 'CancelOrder', owner, nonce, reason: 'user' })
    const trail = createSettlementTrail([settlementId])
    for (const change of [...since, ...market.changes.slice(since.length + 1)]) trail.fold(change)
    const of = () => {
      const reversal = trail.reversalOf(settlementId, 1, MINED)
      if (reversal === undefined || reversal === 'unpublished')
        throw new Error('nothing to reverse')
      return reversal.maker
    }
    const asked = of().desired
    expect(of()).not.to.have.property('reducedFrom')
    trail.recall({ ...placed, orderId: 'another', desired: units(1_000n) })
    expect(of()).not.to.have.property('reducedFrom')
    trail.recall({ ...placed, desired: units(100n) })
    expect(of()).to.include({ desired: asked, reducedFrom: units(100n) })
  })
})
