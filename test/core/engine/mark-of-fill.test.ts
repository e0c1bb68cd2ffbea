import { expect } from 'chai'
import { createSettlementTrail } from '../../../core/engine/settlement-trail.js'
import type { Change } from '../../../core/model/change.js'
import { E18, priceE18 } from '../../../core/money.js'
import { matcherOrder, testMatcher } from '../../support/matching.js'

describe('the mark of a fill', () => {
  it('stands on both legs, and on those of its reversal (FUT-030)', () => {
    const markPrice = priceE18(1_500n * E18)
    const matcher = testMatcher()
    const changes: Change[] = []
    const apply = (command: Parameters<typeof matcher.apply>[0]) => {
      changes.push(...matcher.apply(command).changes)
    }
    for (const [orderId, side, subaccountId] of [
      ['maker', 'sell', 1n],
      ['taker', 'buy', 2n],
    ] as const) {
      const order = matcherOrder({ orderId, side, subaccountId, nonce: subaccountId })
      apply({ kind: 'PlaceOrder', order })
    }
    const [settlementId = ''] = matcher.state.matches.keys()
    const outcome = { kind: 'success', txHash: '0xab', blockNumber: 7n, markPrice } as const
    apply({ kind: 'SettlementReported', settlementId, outcome })
    const marks = () =>
      changes.flatMap((change) =>
        change.kind === 'OrderFilled' || change.kind === 'FillReversed'
          ? [[change.kind, change.fill.markPrice]]
          : [],
      )
    const filled = ['OrderFilled', markPrice]
    expect(marks()).to.deep.equal([filled, filled])

    const trail = createSettlementTrail([settlementId])
    changes.forEach(trail.fold)
    const reversal = trail.reversalOf(settlementId, 1, { kind: 'reverted', revert: 'gone' })
    if (reversal === undefined || reversal === 'unpublished') throw new Error('nothing to reverse')
    apply({ kind: 'SettlementReversed', reversal })
    const reversed = ['FillReversed', markPrice]
    expect(marks()).to.deep.equal([filled, filled, reversed, reversed])
  })
})
