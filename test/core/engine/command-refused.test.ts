import { expect } from 'chai'
import fc from 'fast-check'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import type { Command, LoggedCommand } from '../../../core/model/command.js'
import { applyChange, emptyView } from '../../../core/engine/feed.js'
import type { Order } from '../../../core/model/order.js'
import { whyUnderivable } from '../../../core/engine/derive.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { aMarket, openedState } from '../../support/builders.js'
import { matcherOrder, START_MS, testMatcher } from '../../support/matching.js'
import { takeSnapshot } from '../../support/snapshots.js'

const OTHER = `0x${'b'.repeat(40)}` as const
const OWNER = `0x${'a'.repeat(40)}` as const
const LEASE = '0a'.repeat(16)

const placing = (fields: Partial<Order>): Command => ({
  kind: 'PlaceOrder',
  order: matcherOrder({ orderId: 'bad', side: 'buy', subaccountId: 2n, ...fields }),
})
const lease = (owner: `0x${string}`, seconds: number): Command => ({
  kind: 'SetLease',
  owner,
  leaseId: LEASE,
  seconds,
  opens: true,
})

/** What no check before the log lets through, and why the step cannot carry it out. */
const UNDERIVABLE: Readonly<Record<string, Command>> = {
  'the amounts do not add up': placing({ initialFilled: amountE18(11n * E18) }),
  'the price times the amount cannot be stored': placing({ limitPrice: priceE18(2n ** 254n) }),
  'the end is not an exact time': placing({ goodUntilSec: 2 ** 53 }),
  'the lease lasts too long': lease(OWNER, Number.MAX_SAFE_INTEGER),
  'the lease is of another owner': lease(OTHER, 60),
  'a step is not more than 0': {
    kind: 'MarketRulesSet',
    by: 'ada',
    reason: 'a slip',
    rules: { tickSize: priceE18(0n) },
  },
}

/** A market with a resting order and a lease. */
function market() {
  const matcher = testMatcher()
  matcher.apply({ kind: 'PlaceOrder', order: matcherOrder({ orderId: 'o1', side: 'sell' }) })
  matcher.apply(lease(OWNER, 60))
  return matcher
}

describe('a command that the step cannot derive', () => {
  for (const [why, command] of Object.entries(UNDERIVABLE)) {
    it(`is refused and changes nothing else: ${why} (OPE-022)`, () => {
      const matcher = market()
      const before = takeSnapshot(matcher.state)
      const { changes, answer, refused, terms } = matcher.apply(command)
      expect(refused).to.equal(why)
      expect(answer).to.deep.equal({ kind: 'refused', code: 'command_refused' })
      expect(terms).to.equal(undefined)
      const { seq, lastSourceNo } = takeSnapshot(matcher.state)
      expect(changes).to.have.length(1)
      expect(changes[0]).to.include({ kind: 'CommandRefused', command: command.kind, seq })
      expect(seq).to.equal(before.seq + 1)
      const refusedOrders = command.kind === 'PlaceOrder' ? [['bad', 'command_refused']] : []
      expect(takeSnapshot(matcher.state)).to.deep.equal({
        ...before,
        seq,
        lastSourceNo,
        refusedOrders,
      })
      // Other commands go on, also from the feed's point of view.
      const next = matcher.apply(placing({ orderId: 'o2' }))
      expect(next.changes.map(({ kind }) => kind)).to.deep.equal(['OrderMatched', 'OrderPlaced'])
      const view = emptyView(aMarket())
      for (const change of matcher.changes) applyChange(view, change)
      expect([...view.live.keys()]).to.deep.equal(['o1', 'o2'])
    })
  }

  it('gives the repeat of its order the same answer', () => {
    const matcher = market()
    matcher.apply(placing({ initialFilled: amountE18(11n * E18) }))
    const { answer } = matcher.apply({ kind: 'RepeatOrder', orderId: 'bad', by: 'order_id' })
    expect(answer).to.deep.equal({ kind: 'refused', code: 'command_refused' })
  })

  it('stands in the same blocks whenever the log is replayed', () => {
    const commands = fc.array(fc.constantFrom(...Object.values(UNDERIVABLE)), { maxLength: 10 })
    fc.assert(
      fc.property(commands, fc.nat(9), (bad, at) => {
        const good = Array.from({ length: 5 }, (_, n) =>
          placing({ orderId: `good ${n}`, side: n % 2 === 0 ? 'buy' : 'sell' }),
        )
        const all = good.toSpliced(at % good.length, 0, ...bad)
        const log = all.map((command, n): LoggedCommand => ({
          source: 's',
          sourceNo: n + 1,
          atMs: START_MS,
          command,
        }))
        const blocks = (): string[] =>
          [...applyMessage(openedState(), 1, log)].flatMap(({ block }) => {
            if (block === undefined) return []
            const data = encodeBlock(block)
            expect(decodeBlock(data)).to.deep.equal(block)
            return [Buffer.from(data).toString('utf8')]
          })
        expect(blocks()).to.deep.equal(blocks())
      }),
    )
  })

  it('is none that a check before the log lets through', () => {
    expect(whyUnderivable(placing({}))).to.equal(undefined)
    for (const seconds of [0, 10, 86_400])
      expect(whyUnderivable(lease(OWNER, seconds))).to.equal(undefined)
  })
})
