import { expect } from 'chai'
import { openingOf } from '../../../core/model/market-terms.js'
import { foresee, type Foreseen } from '../../../core/engine/foresee.js'
import { progressOf } from '../../../core/model/live-order.js'
import { OPEN } from '../../../core/model/market.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, feePerUnitE18, priceE18 } from '../../../core/money.js'
import { observedFuture } from '../../support/future.js'
import { aMarket } from '../../support/builders.js'
import {
  matcherOrder,
  START_MS,
  testMatcher,
  type OrderFields,
  type TestMatcher,
} from '../../support/matching.js'

const e18 = (value: number): bigint => (BigInt(Math.round(value * 1e6)) * E18) / 1_000_000n

const one = (
  orderId: string,
  side: Order['side'],
  [amount, price]: readonly [number, number],
  fields: Partial<OrderFields> = {},
): Order =>
  matcherOrder({
    orderId,
    side,
    nonce: BigInt(`0x${Buffer.from(orderId).toString('hex')}`),
    desiredAmount: amountE18(e18(amount)),
    limitPrice: priceE18(e18(price)),
    subaccountId: side === 'buy' ? 1n : 2n,
    ...fields,
  })

/** What the market does with an order, beside what was foreseen of it by the same book. */
function both(resting: readonly Order[], order: Order, kind: 'spot' | 'future' = 'spot') {
  const matcher = testMatcher(25, kind)
  const observed = kind === 'future' ? observedFuture() : undefined
  if (observed !== undefined) matcher.apply({ kind: 'MarketObserved', observation: observed })
  for (const each of resting) matcher.apply({ kind: 'PlaceOrder', order: each })
  const shown = [...matcher.state.orders.values()]
    .filter(({ side }) => side !== order.side)
    .map((live) => ({ order: live.order, progress: progressOf(live), rank: live.rank }))
  const opening = { identity: matcher.state.identity, rules: matcher.state.rules, enabled: true }
  const market = { opening, standing: OPEN, observed, nowMs: START_MS }
  const foreseen = foresee(market, shown.reverse(), { order })
  return { foreseen, done: matcher.apply({ kind: 'PlaceOrder', order }), matcher }
}

const placed = (foreseen: Foreseen) => {
  if (foreseen.kind !== 'order') throw new Error(foreseen.code)
  return foreseen
}

const matchesOf = (changes: ReturnType<TestMatcher['apply']>['changes']) =>
  changes.flatMap((change) => (change.kind === 'OrderMatched' ? [change.match] : []))

const plain = ({
  price,
  amount,
  takerFee,
  makerOrderId,
}: ReturnType<typeof matchesOf>[number]) => ({
  price,
  amount,
  takerFee,
  makerOrderId,
})

describe('foresee', () => {
  const asks = [one('a1', 'sell', [4, 10]), one('a2', 'sell', [4, 11]), one('a3', 'sell', [4, 10])]

  it('says what the market does with a crossing order, a resting, an IOC and a FOK one (ORD-090)', () => {
    const cases: readonly Order[] = [
      one('b1', 'buy', [10, 11]),
      one('b2', 'buy', [20, 10]),
      one('b3', 'buy', [3, 9]),
      one('b4', 'buy', [20, 11], { timeInForce: 'IOC' }),
      one('b5', 'buy', [20, 11], { timeInForce: 'FOK' }),
      one('b6', 'buy', [12, 11], { timeInForce: 'FOK' }),
      one('b7', 'buy', [12, 11], { postOnly: 'slide' }),
      one('b8', 'buy', [12, 11], { worstFee: feePerUnitE18(e18(0.026)) }),
    ]
    for (const order of cases) {
      const { foreseen, done } = both(asks, order)
      const { progress, matches } = placed(foreseen)
      expect(matches.map(plain), order.orderId).to.deep.equal(matchesOf(done.changes).map(plain))
      const { answer } = done
      if (answer?.kind !== 'order') throw new Error('the market takes it')
      expect(progress, order.orderId).to.deep.equal(answer.progress)
      expect(placed(foreseen).order).to.deep.equal(answer.order)
    }
  })

  it('leaves leases to the market, which alone knows them', () => {
    const { foreseen } = both(asks, one('b9', 'buy', [3, 9], { leaseId: 'one' }))
    expect(placed(foreseen).progress.status).to.equal('active')
  })

  it('lists the orders of the owner that would be cancelled at once', () => {
    const own = [one('s1', 'sell', [4, 10], { subaccountId: 1n }), one('s2', 'sell', [4, 11])]
    const taker = one('b1', 'buy', [6, 11], { stp: 'cancel_oldest', timeInForce: 'IOC' })
    const { foreseen } = both(own, taker)
    expect(placed(foreseen).cancelled).to.deep.equal([
      { orderId: 's1', amount: e18(4), reason: 'self_trade' },
      { orderId: 'b1', amount: e18(2), reason: 'ioc_remainder' },
    ])
  })

  it('names the bound that the best bid breaks, in a warning of the order as well (ORD-089)', () => {
    // 30 basis points of a limit of 10; the fee at 15 is 25 of 15.
    const sell = one('s9', 'sell', [4, 10], { worstFee: feePerUnitE18(e18(0.03)) })
    const { foreseen, done } = both([one('b1', 'buy', [4, 15])], sell)
    const { order, cancelled } = placed(foreseen)
    expect(order.warnings).to.deep.equal(['worst_fee_below_best_price'])
    expect(cancelled).to.deep.equal([
      { orderId: 's9', amount: e18(4), reason: 'fee_bound_too_low' },
    ])
    const stored = done.changes.flatMap((it) => (it.kind === 'OrderPlaced' ? [it.order] : []))
    expect(stored.map(({ warnings }) => warnings)).to.deep.equal([order.warnings])
    const enough = one('s8', 'sell', [4, 10], { worstFee: feePerUnitE18(e18(0.0375)) })
    expect(placed(both([one('b1', 'buy', [4, 15])], enough).foreseen).order).not.to.have.property(
      'warnings',
    )
  })

  it('passes over what the fill band has left, and refuses as the market does', () => {
    const far = one('far', 'sell', [10, 1300])
    const near = one('near', 'sell', [10, 1500])
    const taker = one('b1', 'buy', [20, 1600])
    const { foreseen, done } = both([far, near], taker, 'future')
    expect(placed(foreseen).matches.map(plain)).to.deep.equal(matchesOf(done.changes).map(plain))
    expect(placed(foreseen).matches.map(({ makerOrderId }) => makerOrderId)).to.deep.equal(['near'])
    const crossing = { ...taker, orderId: 'b2', nonce: 77n, postOnly: 'reject' as const }
    const refused = { kind: 'refused', code: 'post_only_would_cross' }
    expect(both([far, near], crossing, 'future').foreseen).to.deep.equal(refused)
    expect(both([far], crossing, 'future').foreseen.kind).to.equal('order')
  })

  it('matches nothing while the market is held or paused', () => {
    const matcher = testMatcher()
    const opening = openingOf(aMarket())
    const resting = { order: asks[0] as Order, rank: 1 }
    matcher.apply({ kind: 'PlaceOrder', order: resting.order })
    const [live] = matcher.state.orders.values()
    if (live === undefined) throw new Error('it rests')
    const shown = [{ ...resting, progress: progressOf(live) }]
    for (const status of ['paused', 'held'] as const) {
      const market = { opening, standing: { status, reason: 'why' }, nowMs: START_MS }
      const { matches, progress } = placed(
        foresee(market, shown, { order: one('b1', 'buy', [4, 10]) }),
      )
      expect(matches).to.deep.equal([])
      expect(progress.open).to.equal(e18(4))
    }
  })
})
