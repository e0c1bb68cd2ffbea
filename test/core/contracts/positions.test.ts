import { expect } from 'chai'
import { perpetual } from '../../../core/contracts/perpetual.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import {
  endOfReduceOnly,
  pairPositions,
  refuseReduceOnly,
  type PositionCap,
} from '../../../core/contracts/positions.js'
import type { LiveOrder } from '../../../core/model/live-order.js'
import type { Match } from '../../../core/model/match.js'
import type { RiskAccount } from '../../../core/model/observation.js'
import type { Side } from '../../../core/model/order.js'
import { amountE18, E18 } from '../../../core/money.js'
import { perpetualAccount, perpetualFacts } from '../../support/perpetual.js'

const { means } = perpetual.trading
const place = { blockNumber: 7n, blockTimeSec: 1, readAtMs: 1_000 }

/** The risk account of an account with this position; of one that was not observed without. */
function riskSnapshotOf(position: bigint | undefined): RiskAccount {
  const riskAccount = means.openRiskAccount({ facts: hidePerpetual(perpetualFacts()), ...place })
  if (position !== undefined) {
    const facts = hidePerpetualAccount(perpetualAccount({ position }))
    means.observe(riskAccount, { facts, subaccountId: 1n, leaving: false, ...place })
  }
  return riskAccount
}

interface Terms {
  readonly position?: bigint | undefined
  readonly reduceOnly?: true
  /** Signed size of a match that awaits settlement. */
  readonly flight?: bigint
}

function anOrder(side: Side, { position, reduceOnly, flight = 0n }: Terms): LiveOrder {
  const riskAccount = riskSnapshotOf(position)
  const order = { side, order: { reduceOnly }, account: { riskAccount } } as LiveOrder
  const inFlight = { ...order, side: flight > 0n ? 'buy' : 'sell' } as LiveOrder
  const amount = amountE18(flight < 0n ? -flight : flight)
  const match = { settlementId: 's', amount, price: E18, takerFee: 0n } as Match
  if (flight !== 0n) means.reserve(riskAccount, order, means.costOf(inFlight, match))
  return order
}

const NO_ROOM: PositionCap = { total: 100n, cap: 100n }

/** How a buyer and a seller may be matched for ten. */
function pair(buyer: Terms, seller: Terms, positions?: PositionCap, awaiting = 0n) {
  const incoming = anOrder('buy', { position: 0n, ...buyer })
  const resting = anOrder('sell', { position: 0n, ...seller })
  const asked = { incoming, resting, amount: amountE18(10n), awaiting: amountE18(awaiting) }
  const pairing = pairPositions(asked, positions)
  if ('amount' in pairing) return pairing.amount
  const { aside, ...why } = pairing
  return { aside: aside === incoming ? 'buyer' : 'seller', ...why }
}

describe('a match that takes both positions into account', () => {
  it('is of all where no order only reduces, and no cap is known', () => {
    expect(pair({}, {})).to.equal(10n)
  })

  it('is of what a reduce-only order reduces', () => {
    expect(pair({ position: -4n, reduceOnly: true }, {})).to.equal(4n)
    expect(pair({ position: -4n, reduceOnly: true }, { position: 3n, reduceOnly: true })).to.equal(
      3n,
    )
    expect(pair({ position: -40n, reduceOnly: true }, {})).to.equal(10n)
    expect(pair({ position: -4n }, {})).to.equal(10n)
  })

  it('leaves out a reduce-only order that has nothing to reduce, for good or for now (PER-038)', () => {
    const over = { cancelReason: 'reduce_only_no_position' }
    expect(pair({ reduceOnly: true }, {})).to.deep.equal({ aside: 'buyer', ...over })
    expect(pair({}, { position: -3n, reduceOnly: true })).to.deep.equal({
      aside: 'seller',
      ...over,
    })
    // A match in flight reduces all of it, and may still fail.
    const waits = { hold: { reason: 'reduce_only' } }
    expect(pair({ position: -4n, reduceOnly: true, flight: 4n }, {})).to.deep.equal({
      aside: 'buyer',
      ...waits,
    })
    expect(pair({ position: undefined, reduceOnly: true }, {})).to.deep.equal({
      aside: 'buyer',
      ...waits,
    })
  })

  it('keeps all positions within the cap, to the last unit (PER-032)', () => {
    const room = (units: bigint) => ({ total: 100n, cap: 100n + units })
    const held = { aside: 'buyer', hold: { reason: 'open_interest_cap', needed: 10n } }
    expect(pair({}, {}, room(20n))).to.equal(10n)
    expect(pair({}, {}, room(19n))).to.deep.equal(held)
    // What awaits settlement may raise it by twice its amount.
    expect(pair({}, {}, room(30n), 5n)).to.equal(10n)
    expect(pair({}, {}, room(29n), 5n)).to.deep.equal(held)
  })

  it('counts what each position grows and shrinks by, with what is in flight', () => {
    expect(pair({ position: -10n }, { position: 10n }, NO_ROOM)).to.equal(10n)
    expect(pair({ position: -10n }, { position: 0n }, NO_ROOM)).to.equal(10n)
    expect(pair({ position: -9n }, {}, NO_ROOM)).to.have.property('aside', 'buyer')
    expect(pair({}, { position: 10n }, NO_ROOM)).to.equal(10n)
    expect(pair({ position: -4n }, { position: 4n }, { total: 100n, cap: 104n })).to.equal(10n)
    expect(pair({ position: -4n }, { position: 4n }, { total: 100n, cap: 103n })).to.not.equal(10n)
    expect(pair({ position: -20n, flight: 11n }, {}, NO_ROOM)).to.have.property('aside', 'buyer')
    expect(pair({ position: -20n, flight: 10n }, {}, NO_ROOM)).to.equal(10n)
  })

  it('is not stopped by a cap that positions are beyond, when it shrinks them (PER-033)', () => {
    const beyond = { total: 200n, cap: 100n }
    expect(pair({ position: -10n }, { position: 10n }, beyond)).to.equal(10n)
    expect(pair({ position: -10n }, {}, beyond)).to.equal(10n)
    expect(pair({ position: -4n }, {}, beyond)).to.have.property('aside', 'buyer')
  })
})

describe('a reduce-only order', () => {
  it('is refused where it would not reduce, or where nothing is known (PER-034, PER-035)', () => {
    const codeOf = (side: Side, position: bigint | undefined, reduceOnly = true) =>
      refuseReduceOnly({ side, ...(reduceOnly && { reduceOnly: true }) }, position)?.code
    expect(codeOf('buy', -1n)).to.equal(undefined)
    expect(codeOf('sell', 1n)).to.equal(undefined)
    expect(codeOf('buy', 1n)).to.equal('reduce_only_same_side')
    expect(codeOf('sell', -1n)).to.equal('reduce_only_same_side')
    expect(codeOf('buy', 0n)).to.equal('reduce_only_no_position')
    expect(codeOf('buy', undefined)).to.equal('position_unreadable')
    expect(codeOf('buy', 1n, false)).to.equal(undefined)
  })

  it('ends once nothing is left to reduce, and nothing may come back (PER-037)', () => {
    const reduceOnly = true
    const over = 'reduce_only_no_position'
    expect(endOfReduceOnly(anOrder('buy', { position: 0n, reduceOnly }))).to.equal(over)
    expect(endOfReduceOnly(anOrder('buy', { position: 0n }))).to.equal(undefined)
    expect(endOfReduceOnly(anOrder('buy', { position: -1n, reduceOnly }))).to.equal(undefined)
    const waiting = anOrder('buy', { position: -1n, reduceOnly, flight: 1n })
    expect(endOfReduceOnly(waiting)).to.equal(undefined)
    const unseen = anOrder('buy', { position: undefined, reduceOnly })
    expect(endOfReduceOnly(unseen)).to.equal(undefined)
  })
})
