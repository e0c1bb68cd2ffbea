import { expect } from 'chai'
import fc from 'fast-check'
import { isTickDue } from '../../../core/engine/tick-due.js'
import { FAULT_HOLD_MS, TICK_AFTER_MS } from '../../../core/model/limits.js'
import { cancellingActs, limitedActs, ruledActs } from '../../support/market-commands.js'
import { matcherOrder, START_MS, testMatcher, type TestMatcher } from '../../support/matching.js'
import { runs } from '../../support/property-runs.js'
import { overdue, TickedMarket, type Kind, type QuietAct, type TickedAct } from './ticked-market.js'

const KINDS: readonly Kind[] = ['spot', 'perpetual', 'future']

const facts = fc.record({
  act: fc.constant('facts' as const),
  isPaused: fc.integer({ min: 1, max: 5 }).map((fifth) => fifth === 1),
  ageMs: fc.constantFrom(0, 0, 0, 900, 1_999, 9_500),
})
const fault = fc.record({ act: fc.constant('fault' as const), stands: fc.boolean() })
const elapse = fc.record({
  act: fc.constant('elapse' as const),
  ms: fc.oneof(fc.integer({ min: 1, max: 2_500 }), fc.constantFrom(10_000, 45_000, 130_000)),
})
/** Clocks that agree, within what counts as agreement. */
const agreeing = fc.record({
  act: fc.constant('compare' as const),
  aheadMs: fc.integer({ min: -59_000, max: 59_000 }),
})
/** Also clocks that are off, and jumps; those between half a minute and a minute depend on when the last command was. */
const skewed = fc.record({
  act: fc.constant('compare' as const),
  aheadMs: fc.constantFrom(0, 0, 0, 59_000, 61_000, -61_000, 3_600_000),
})
const jump = fc.record({
  act: fc.constant('jump' as const),
  ms: fc.constantFrom(-3_600_000, -20_000, 20_000, 3_600_000, 90_000_000),
})

/** A day of one kind of orders and of what happens beside them. */
function daysOf(
  orders: readonly fc.Arbitrary<readonly TickedAct[]>[],
  quiet: readonly fc.Arbitrary<QuietAct>[],
): fc.Arbitrary<TickedAct[]> {
  const one = fc.oneof(...orders, ...quiet.map((each) => each.map((act) => [act])))
  return fc.array(one, { maxLength: 40, size: 'max' }).map((acts) => acts.flat())
}

/** Both shells with the same acts; the commands follow from what the one that ticks each second has published. */
function play(kind: Kind, acts: readonly TickedAct[]) {
  const always = new TickedMarket(kind, { always: true })
  const due = new TickedMarket(kind, { always: false })
  const late: string[] = []
  for (const act of acts) {
    const command = act.act === 'elapse' || act.act === 'jump' ? undefined : always.commandOf(act)
    for (const each of [always, due]) {
      if (act.act === 'elapse') each.elapse(act.ms)
      else if (act.act === 'jump') each.jump(act.ms)
      else if (act.act === 'wait') each.elapse(act.sec * 1_000)
      else if (command !== undefined) each.send(command)
    }
    // What fell due since the last full second may wait for the next.
    due.elapse((1_000 - (due.nowMs % 1_000)) % 1_000)
    always.elapse((1_000 - (always.nowMs % 1_000)) % 1_000)
    due.look()
    always.look()
    late.push(...overdue(due))
  }
  return { always, due, late }
}

describe('a tick that is sent only when it is due', () => {
  for (const kind of KINDS) {
    it(`publishes at the same moments what a tick in each second does, ${kind} (OPE-051, MAT-033)`, () => {
      const orders = [cancellingActs(12), ruledActs(12), limitedActs(12)]
      fc.assert(
        fc.property(daysOf(orders, [facts, fault, elapse, elapse, agreeing]), (acts) => {
          const { always, due, late } = play(kind, acts)
          expect(due.published).to.deep.equal(always.published)
          expect(late).to.deep.equal([])
          expect(due.ticks).to.be.at.most(always.ticks)
        }),
        { numRuns: runs(60) },
      )
    })
  }

  it('holds a market for its clock, and lets it go on, as a tick in each second does (OPE-014)', () => {
    const places = fc.array(
      fc.record({ buy: fc.boolean(), price: fc.integer({ min: 95, max: 105 }) }),
      { maxLength: 3 },
    )
    const orders = places.map((each) =>
      each.map(({ buy, price }, n): TickedAct => ({
        act: 'place',
        buy,
        price,
        size: 10,
        trader: 1 + (n % 5),
        livesSec: 1_000_000_000,
        unchecked: false,
      })),
    )
    const days = daysOf([orders], [elapse, skewed, skewed, jump])
    // A market that stands still publishes the time at which it stood.
    const withoutTimes = ({ published }: TickedMarket) =>
      published.map(({ at, what }) => [at, what.replace(/"\w*[aA]tMs":\d+/g, '')])
    fc.assert(
      fc.property(days, (acts) => {
        const { always, due, late } = play('spot', acts)
        expect(withoutTimes(due)).to.deep.equal(withoutTimes(always))
        expect(late).to.deep.equal([])
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('a tick', () => {
  const order = (fields: { readonly goodUntilSec?: number } = {}) =>
    ({
      kind: 'PlaceOrder',
      order: matcherOrder({ orderId: 'o', side: 'buy', ...fields }),
    }) as const
  const owner = `0x${'a'.repeat(40)}` as const
  /** The milliseconds from now on after which a tick is due first, below the time without a command. */
  function dueAfter({ state, nowMs }: TestMatcher): number | undefined {
    for (let ms = 0; ms < TICK_AFTER_MS; ms += 100) if (isTickDue(state, nowMs() + ms)) return ms
    return undefined
  }

  it('is not due in a market without anything that time could change, before half a minute (OPE-051)', () => {
    const market = testMatcher()
    market.apply({ kind: 'Tick' })
    expect(dueAfter(market)).to.equal(undefined)
    expect(isTickDue(market.state, START_MS + TICK_AFTER_MS - 1)).to.equal(false)
    expect(isTickDue(market.state, START_MS + TICK_AFTER_MS)).to.equal(true)
    market.apply(order())
    expect(dueAfter(market)).to.equal(undefined)
    market.advance(TICK_AFTER_MS - 1)
    market.apply({ kind: 'ClockObserved', chainMs: market.nowMs() })
    expect(dueAfter(market)).to.equal(undefined)
  })

  it('is due when an order enters its last seconds, and when it expires', () => {
    const market = testMatcher()
    market.apply(order({ goodUntilSec: START_MS / 1_000 + 15 }))
    expect(dueAfter(market)).to.equal(5_000)
    market.advance(5_000)
    market.apply({ kind: 'Tick' })
    expect(dueAfter(market)).to.equal(10_000)
  })

  it('is due when a lease ends', () => {
    const market = testMatcher()
    market.apply({ kind: 'SetLease', owner, seconds: 12, opens: true })
    expect(dueAfter(market)).to.equal(12_000)
  })

  it('is due when a hold of the market ends, and not while only the chain can end it', () => {
    const market = testMatcher()
    market.apply(order())
    const other = matcherOrder({ orderId: 'p', side: 'sell', subaccountId: 2n })
    market.apply({ kind: 'PlaceOrder', order: other })
    const revert = 'BM_AdjustmentsPaused'
    market.apply({
      kind: 'SettlementReported',
      settlementId: 'cNGN-USDC:2',
      outcome: { kind: 'reverted', revert, guilty: 'venue' },
    })
    expect(dueAfter(market)).to.equal(FAULT_HOLD_MS)
    market.apply({ kind: 'ChainFaultObserved', revert })
    expect(dueAfter(market)).to.equal(undefined)
    market.apply({ kind: 'ChainFaultObserved' })
    expect(dueAfter(market)).to.equal(0)
  })

  it('is due in a market held for its clock only when its own time would be trusted', () => {
    const market = testMatcher()
    market.apply({ kind: 'ClockObserved', chainMs: START_MS })
    // It expires by the clock that has jumped.
    market.apply(order({ goodUntilSec: START_MS / 1_000 + 600 }))
    const jumpedMs = START_MS + 3_600_000
    expect(isTickDue(market.state, jumpedMs)).to.equal(true)
    market.advance(3_600_000)
    market.apply({ kind: 'Tick' })
    expect(market.state.standing).to.deep.equal({ status: 'held', reason: 'clock_skew' })
    expect(isTickDue(market.state, jumpedMs + 1_000)).to.equal(false)
    expect(isTickDue(market.state, START_MS + 1_000)).to.equal(true)
  })

  it('is due at once for what a step has left to the next', () => {
    const market = testMatcher()
    market.apply(order())
    market.state.cancelUpToRank = 1
    expect(dueAfter(market)).to.equal(0)
  })
})
