import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import type { ChangeFacts } from '../../../core/model/change.js'
import { createOwnFills } from '../../../core/engine/own-fills.js'
import type { Fill, Match, LegEvent } from '../../../core/model/match.js'
import type { Order } from '../../../core/model/order.js'
import { anOrder } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'

const maker = anOrder({
  orderId: 'maker',
  owner: `0x${'a1'.repeat(20)}`,
  subaccountId: 1n,
  side: 'sell',
})
const taker = anOrder({
  orderId: 'taker',
  owner: `0x${'b0'.repeat(20)}`,
  subaccountId: 2n,
  side: 'buy',
})
const match: Match = {
  settlementId: 'cNGN-USDC:2',
  makerOrderId: 'maker',
  takerOrderId: 'taker',
  price: priceE18(5n * 10n ** 14n),
  amount: amountE18(3n * 10n ** 18n),
  takerFee: quoteE18(7n),
}
const fillOf = (liquidity: Fill['liquidity']): Fill => ({
  ...match,
  liquidity,
  fee: liquidity === 'taker' ? match.takerFee : quoteE18(0n),
  txHash: `0x${'1'.repeat(64)}`,
  blockNumber: 9n,
  tradeId: 1024,
  takerSide: 'buy',
})

/** A market whose orders are live from their placement until `end`. */
function aMarketOf() {
  const live = new Map<string, Order>()
  const fills = createOwnFills((orderId) => live.get(orderId))
  let seq = 0
  const apply = (order: Order, facts: ChangeFacts): readonly LegEvent[] => {
    seq += 1
    const events = fills.apply(aChange(seq, order, facts))
    if (facts.kind === 'OrderPlaced') live.set(order.orderId, order)
    return events
  }
  const place = (order: Order) => apply(order, { kind: 'OrderPlaced', order, rank: seq })
  return { fills, apply, place, end: (order: Order) => live.delete(order.orderId) }
}

const shown = (events: readonly LegEvent[]) =>
  events.map(({ orderId, status, liquidity, subaccountId, fee }) => [
    ...[orderId, status, liquidity, subaccountId, fee],
  ])

describe('own fills', () => {
  it('names the order that met another once it is placed, whichever of the two was there first', () => {
    const market = aMarketOf()
    market.place(maker)
    expect(shown(market.apply(maker, { kind: 'OrderMatched', match }))).to.deep.equal([
      ['maker', 'pending', 'maker', 1n, 0n],
    ])
    expect(shown(market.place(taker))).to.deep.equal([['taker', 'pending', 'taker', 2n, 7n]])

    const returning = aMarketOf()
    returning.place(maker)
    returning.place(taker)
    expect(shown(returning.apply(taker, { kind: 'OrderMatched', match }))).to.deep.equal([
      ['taker', 'pending', 'taker', 2n, 7n],
      ['maker', 'pending', 'maker', 1n, 0n],
    ])
  })

  it('knows the account of an order that has ended while its match is pending', () => {
    const market = aMarketOf()
    market.place(maker)
    market.apply(maker, { kind: 'OrderMatched', match })
    market.place(taker)
    market.end(taker)
    expect([...market.fills.pendingOf(taker.owner)]).to.have.length(1)
    const events = [
      ...market.apply(maker, { kind: 'OrderFilled', fill: fillOf('maker') }),
      ...market.apply(taker, { kind: 'OrderFilled', fill: fillOf('taker') }),
    ]
    expect(shown(events)).to.deep.equal([
      ['maker', 'settled', 'maker', 1n, 0n],
      ['taker', 'settled', 'taker', 2n, 7n],
    ])
    expect(events[1]?.trade).to.deep.equal({
      tradeId: 1024,
      txHash: `0x${'1'.repeat(64)}`,
      blockNumber: 9n,
      markPrice: undefined,
    })
    expect([...market.fills.pendingOf(taker.owner)]).to.deep.equal([])
  })

  it('tells a failure with the terms of the match, then a late fill, then its reversal (STR-041)', () => {
    const market = aMarketOf()
    market.place(maker)
    market.apply(maker, { kind: 'OrderMatched', match })
    market.place(taker)
    const { settlementId } = match
    const [failed] = market.apply(taker, {
      kind: 'MatchReverted',
      settlementId,
      revert: 'TM_FeeTooHigh',
    })
    expect(failed).to.include({
      status: 'failed',
      revert: 'TM_FeeTooHigh',
      price: match.price,
      fee: 7n,
    })
    market.end(taker)
    const [late] = market.apply(taker, { kind: 'OrderFilled', fill: fillOf('taker') })
    expect(late).to.include({ status: 'settled', settlementId })
    expect(late?.subaccountId).to.equal(undefined)
    const [reversed] = market.apply(taker, {
      kind: 'FillReversed',
      fill: fillOf('taker'),
      revert: 'not_carried_out',
    })
    expect(reversed).to.include({ status: 'reversed', revert: 'not_carried_out' })
    expect(reversed?.trade?.tradeId).to.equal(1024)
  })
  it('keeps the pending legs of an owner, the oldest first, and none of other changes', () => {
    const market = aMarketOf()
    market.place(maker)
    const [second, third] = ['second', 'third'].map((takerOrderId, n) => ({
      ...match,
      takerOrderId,
      settlementId: `cNGN-USDC:${3 + n}`,
    })) as [Match, Match]
    for (const each of [match, second, third]) {
      market.apply(maker, { kind: 'OrderMatched', match: each })
    }
    const pending = () =>
      [...market.fills.pendingOf(maker.owner)].map(({ settlementId }) => settlementId)
    expect(pending()).to.deep.equal(['cNGN-USDC:2', 'cNGN-USDC:3', 'cNGN-USDC:4'])
    expect(market.apply(maker, { kind: 'OrderHeld', hold: 'expiring' })).to.deep.equal([])
    market.apply(maker, { kind: 'OrderFilled', fill: { ...fillOf('maker'), ...second } })
    expect(pending()).to.deep.equal(['cNGN-USDC:2', 'cNGN-USDC:4'])
    const placed = market.place({ ...taker, orderId: 'third' })
    expect(placed.map(({ settlementId }) => settlementId)).to.deep.equal(['cNGN-USDC:4'])
    expect(market.place({ ...taker, orderId: 'fourth' })).to.deep.equal([])
  })

  it('knows every match of an order that is placed after it met several (SET-001)', () => {
    const market = aMarketOf()
    const other = { ...maker, orderId: 'other' }
    for (const each of [maker, other]) market.place(each)
    market.apply(maker, { kind: 'OrderMatched', match })
    const next = { ...match, makerOrderId: 'other', settlementId: 'cNGN-USDC:3' }
    market.apply(other, { kind: 'OrderMatched', match: next })
    expect(market.place(taker).map(({ settlementId }) => settlementId)).to.deep.equal([
      ...['cNGN-USDC:2', 'cNGN-USDC:3'],
    ])
    expect(market.place(taker), 'told once').to.deep.equal([])
  })

  it('breaks an invariant where a match is of an order that is not live, or fails unproposed', () => {
    const market = aMarketOf()
    expect(() => market.apply(maker, { kind: 'OrderMatched', match })).to.throw(InvariantBroken)
    const failed = { kind: 'MatchReverted', settlementId: 'x', revert: 'TM_X' } as const
    expect(() => market.apply(maker, failed)).to.throw(InvariantBroken)
  })
})
