import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { restoreSnapshot } from '../../../core/engine/snapshot.js'
import { nextTradeId } from '../../../core/engine/state.js'
import { numberIn, ORDINALS, withOrdinal } from '../../../core/engine/trade-id.js'
import type { Change } from '../../../core/model/change.js'
import { RESTORED_SEQ_JUMP } from '../../../core/model/limits.js'
import { matcherOrder, testMatcher, type TestMatcher } from '../../support/matching.js'
import { takeSnapshot } from '../../support/snapshots.js'

/** Trades once; the trade id of both legs. */
function trade(matcher: TestMatcher, no: number): number[] {
  const order = (side: 'buy' | 'sell', nonce: number) =>
    matcherOrder({
      orderId: `${side} ${no}`,
      side,
      nonce: BigInt(nonce),
      subaccountId: side === 'buy' ? 1n : 2n,
    })
  matcher.apply({ kind: 'PlaceOrder', order: order('sell', 2 * no) })
  matcher.apply({ kind: 'PlaceOrder', order: order('buy', 2 * no + 1) })
  const [settlementId = ''] = matcher.state.matches.keys()
  const outcome = { kind: 'success', txHash: `0x${'5a'.repeat(32)}`, blockNumber: 1n } as const
  const { changes } = matcher.apply({ kind: 'SettlementReported', settlementId, outcome })
  return changes.flatMap((change: Change) =>
    change.kind === 'OrderFilled' ? [change.fill.tradeId] : [],
  )
}

describe('the id of a trade', () => {
  it('counts the trades of its market from 1, with the ordinal as the remainder (REA-014)', () => {
    const matcher = testMatcher()
    const { ordinal } = matcher.state.identity
    for (const no of [1, 2, 3]) {
      const id = no * 65_536 + ordinal
      expect(trade(matcher, no)).to.deep.equal([id, id])
      expect([numberIn(id), id % ORDINALS]).to.deep.equal([no, ordinal])
    }
  })

  it('goes on behind a snapshot, and beyond what was published and is lost after a restore', () => {
    const matcher = testMatcher()
    trade(matcher, 1)
    expect(nextTradeId(restoreSnapshot(takeSnapshot(matcher.state)))).to.equal(
      withOrdinal(2, matcher.state.identity.ordinal),
    )
    matcher.apply({ kind: 'MarketRestored', by: 'ada', reason: 'a lost disk' })
    expect(matcher.state.tradeNo).to.equal(1 + RESTORED_SEQ_JUMP)
  })

  it('is exact up to the last number and the last market, and breaks an invariant beyond', () => {
    const last = Math.floor(Number.MAX_SAFE_INTEGER / 65_536)
    expect(withOrdinal(last, 65_535)).to.equal(Number.MAX_SAFE_INTEGER)
    expect(numberIn(Number.MAX_SAFE_INTEGER)).to.equal(last)
    expect(() => withOrdinal(last + 1, 0)).to.throw(InvariantBroken, 'is too large')
    const one = withOrdinal(5, 0)
    const other = withOrdinal(5, 65_535)
    expect([numberIn(one), numberIn(other)]).to.deep.equal([5, 5])
    expect(other).to.be.below(withOrdinal(6, 0))
  })
})
