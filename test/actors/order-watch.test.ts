import { expect } from 'chai'
import fc from 'fast-check'
import { type OrderWatch, createOrderWatch } from '../../actors/order-intake/order-watch.js'
import type { Change } from '../../core/change.js'
import { happenings } from '../support/arbitrary-happenings.js'
import { historyOf } from '../support/random-history.js'

const market = 'cNGN-USDC'

const newWatch = (): OrderWatch => createOrderWatch(() => '0xd1')

/** Folds the changes, one message each, whose stream position is in the range. */
function fold(watch: OrderWatch, changes: readonly Change[], from: number, to: number): void {
  for (const change of changes.slice(from - 1, to)) {
    const { seq } = change
    watch.apply(seq, {
      market,
      commandSeq: seq,
      commandIndex: 0,
      firstSeq: seq,
      changes: [change],
    })
  }
}

const idsOf = (watch: OrderWatch): string[] =>
  watch
    .next(1_000)
    .map(({ orderId }) => orderId)
    .sort()

describe('the watch over live orders', () => {
  it('knows exactly the orders that are active or matching', () => {
    const property = fc.property(happenings, (days) => {
      const changes = historyOf(days)
      const watch = newWatch()
      fold(watch, changes, 1, changes.length)
      const last = new Map(changes.map((change) => [change.orderId, change.status]))
      const live = [...last].filter(([, status]) => ['active', 'matching'].includes(status))
      expect(idsOf(watch)).to.deep.equal(live.map(([orderId]) => orderId).sort())
      expect(watch.size()).to.equal(live.length)
    })
    fc.assert(property, { numRuns: 200 })
  })

  it('knows the same when it begins where an earlier one said', () => {
    const property = fc.property(happenings, fc.nat(200), (days, cut) => {
      const changes = historyOf(days)
      const stopped = newWatch()
      fold(stopped, changes, 1, Math.min(cut, changes.length))
      const resumed = newWatch()
      fold(resumed, changes, Math.max(stopped.resumeFrom(market), 1), changes.length)
      const whole = newWatch()
      fold(whole, changes, 1, changes.length)
      expect(idsOf(resumed)).to.deep.equal(idsOf(whole))
    })
    fc.assert(property, { numRuns: 200 })
  })

  it('lets every order have its turn, so many signers at a time', () => {
    const places = Array.from({ length: 10 }, () => ({
      kind: 'place' as const,
      side: 'buy' as const,
      price: 100,
      size: 1,
    }))
    const changes = historyOf(places)
    const watch = newWatch()
    fold(watch, changes, 1, changes.length)
    const turns = Array.from({ length: 4 }, () => watch.next(3))
    for (const turn of turns) {
      expect(new Set(turn.map(({ signer }) => signer)).size).to.be.at.most(3)
    }
    expect(new Set(turns.flat()).size).to.equal(10)
  })
})
