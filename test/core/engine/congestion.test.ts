import { expect } from 'chai'
import { applyCommand } from '../../../core/engine/apply-command.js'
import { checkBook } from '../../../core/engine/check-state.js'
import type { Command } from '../../../core/model/command.js'
import { CONGESTION_HOLD_MS, PENDING_MATCHES_MAX } from '../../../core/model/limits.js'
import type { Order } from '../../../core/model/order.js'
import { openedState } from '../../support/builders.js'
import { amountE18, priceE18 } from '../../../core/money.js'
import { matcherOrder, START_MS } from '../../support/matching.js'

const place = (
  orderId: string,
  side: 'buy' | 'sell',
  desiredAmount: bigint,
  controls: Pick<Order, 'timeInForce'> = {},
): Command => ({
  kind: 'PlaceOrder',
  order: matcherOrder({
    orderId,
    side,
    desiredAmount: amountE18(desiredAmount),
    limitPrice: priceE18(10n ** 18n),
    subaccountId: side === 'buy' ? 1n : 2n,
    ...controls,
  }),
})

/**
 * A market in which as many matches await settlement as may: one, and copies of it under other ids. The invariants hold
 * without the copies, and are checked where a test looks.
 */
function congestedMarket() {
  const state = openedState({ takerFeeBps: 0 })
  let sourceNo = 0
  let nowMs = START_MS
  const apply = (command: Command) => {
    sourceNo += 1
    return applyCommand(state, { source: 'test', sourceNo, atMs: nowMs, command })
  }
  apply(place('wall', 'sell', 10n ** 18n))
  apply(place('b', 'buy', 1n))
  const copies: string[] = []
  for (const match of [...state.matches.values()]) {
    while (state.matches.size < PENDING_MATCHES_MAX) {
      const settlementId = `copy:${copies.length}`
      copies.push(settlementId)
      state.matches.set(settlementId, { ...match, settlementId })
    }
  }
  const check = () => {
    for (const settlementId of copies) state.matches.delete(settlementId)
    checkBook(state)
  }
  return { state, apply, check, advance: (ms: number) => (nowMs += ms) }
}

describe('a market with too many pending matches', () => {
  it('lets crossing orders wait on without a change in the feed, and go on with the next result (MAT-013)', () => {
    const { state, apply, check, advance } = congestedMarket()
    for (const orderId of ['w1', 'w2', 'w3']) {
      const [placed, ...more] = apply(place(orderId, 'buy', 5n)).changes
      expect(placed).to.include({ kind: 'OrderPlaced', hold: 'continuing', open: 0n })
      expect(more).to.deep.equal([])
    }
    // A step before the time is over does not look again.
    advance(CONGESTION_HOLD_MS - 1)
    expect(apply({ kind: 'Tick' }).changes).to.deep.equal([])
    expect(state.orders.get('w1')?.hold?.untilMs).to.equal(START_MS + CONGESTION_HOLD_MS)
    for (let round = 0; round < 5; round++) {
      advance(CONGESTION_HOLD_MS)
      expect(apply({ kind: 'Tick' })).to.deep.include({ changes: [], moreIsDue: false })
      expect(state.orders.get('w1')?.hold?.reason).to.equal('continuing')
    }
    const [settlementId = ''] = state.matches.keys()
    const outcome = { kind: 'success', txHash: '0x1', blockNumber: 1n } as const
    apply({ kind: 'SettlementReported', settlementId, outcome })
    advance(CONGESTION_HOLD_MS)
    const resumed = apply({ kind: 'Tick' }).changes
    expect(resumed.map(({ kind, orderId }) => [kind, orderId])).to.deep.equal([
      ['OrderMatched', 'wall'],
      ['OrderReleased', 'w1'],
    ])
    expect(resumed[1]).to.include({ status: 'matching', pending: 5n })
    check()
  })

  it('shows a waiting order as soon as nothing crosses it any more', () => {
    const { state, apply, check, advance } = congestedMarket()
    apply(place('w1', 'buy', 5n))
    const wall = state.orders.get('wall')?.order
    expect(wall).not.to.equal(undefined)
    if (wall === undefined) return
    apply({ kind: 'CancelOrder', owner: wall.owner, nonce: wall.nonce, reason: 'user' })
    advance(CONGESTION_HOLD_MS)
    const [released, ...more] = apply({ kind: 'Tick' }).changes
    expect(more).to.deep.equal([])
    expect(released).to.include({ kind: 'OrderReleased', orderId: 'w1', open: 5n, openDelta: 5n })
    check()
  })
  it('ends an order that may not wait, until there is room for its match', () => {
    const { state, apply, check } = congestedMarket()
    const ended = (orderId: string, timeInForce: 'IOC' | 'FOK') =>
      apply(place(orderId, 'buy', 5n, { timeInForce })).changes.at(-1)
    expect(ended('ioc', 'IOC')).to.include({ cancelReason: 'ioc_remainder', pending: 0n })
    expect(ended('fok', 'FOK')).to.include({ cancelReason: 'fok_unfillable', pending: 0n })
    const [settlementId = ''] = state.matches.keys()
    const outcome = { kind: 'success', txHash: '0x1', blockNumber: 1n } as const
    apply({ kind: 'SettlementReported', settlementId, outcome })
    expect(ended('fok2', 'FOK')).to.include({ orderId: 'fok2', status: 'matching', pending: 5n })
    expect(ended('fok3', 'FOK')).to.include({ cancelReason: 'fok_unfillable', pending: 0n })
    check()
  })
})
