import { expect } from 'chai'
import { CLOCK_OFF_MAX_MS } from '../../../core/model/limits.js'
import { restoreSnapshot } from '../../../core/engine/snapshot.js'
import { applyCommand } from '../../../core/engine/apply-command.js'
import { matcherOrder, START_MS, testMatcher, type TestMatcher } from '../../support/matching.js'
import { takeSnapshot } from '../../support/snapshots.js'

const HOUR_MS = 3_600_000
const LIVES_SEC = 600

/** A market whose clock was found right, with a sell order that lives for ten minutes. */
function compared(): TestMatcher {
  const market = testMatcher()
  compare(market)
  const goodUntilSec = START_MS / 1_000 + LIVES_SEC
  const order = matcherOrder({ orderId: 'ask', side: 'sell', subaccountId: 2n, goodUntilSec })
  market.apply({ kind: 'PlaceOrder', order })
  return market
}

/** The chain's time, so far off the clock of the log. */
const compare = (market: TestMatcher, aheadMs = 0) =>
  market.apply({ kind: 'ClockObserved', chainMs: market.nowMs() - aheadMs })

const tick = (market: TestMatcher): string[] =>
  market.apply({ kind: 'Tick' }).changes.map(({ kind, orderId }) => `${kind} ${orderId}`)

const bid = (market: TestMatcher) => {
  const order = matcherOrder({ orderId: 'bid', side: 'buy', subaccountId: 1n })
  return market.apply({ kind: 'PlaceOrder', order }).changes.map(({ kind }) => kind)
}

const owner = `0x${'a'.repeat(40)}` as const

/** The answer to a lease of 30 s over all orders. */
const renewed = (market: TestMatcher, opens = false) =>
  market.apply({ kind: 'SetLease', owner, seconds: 30, opens }).answer

const SKEWED = { status: 'held', reason: 'clock_skew' }
const OPEN = { status: 'open' }

describe('the clock of a market', () => {
  it('is that of its log while it was never compared', () => {
    const market = testMatcher()
    market.advance(HOUR_MS)
    tick(market)
    expect(market.state.nowMs).to.equal(START_MS + HOUR_MS)
    expect(market.state.standing).to.deep.equal(OPEN)
  })

  it('stands still from the first command that is an hour ahead, until the clock was found right again (OPE-014)', () => {
    const market = compared()
    market.advance(HOUR_MS)
    expect(tick(market)).to.deep.equal([])
    expect(market.state.standing).to.deep.equal(SKEWED)
    expect(bid(market)).to.deep.equal(['OrderPlaced'])
    expect(compare(market, HOUR_MS).changes).to.deep.equal([])
    market.advance(1_000 - HOUR_MS)
    expect(tick(market)).to.deep.equal([])
    expect(market.state.standing).to.deep.equal(SKEWED)
    expect(market.state.nowMs).to.equal(START_MS)

    const back = compare(market)
    expect(market.state.standing).to.deep.equal(OPEN)
    expect(market.state.nowMs).to.equal(START_MS + 1_000)
    expect([...back.changes.map(({ kind }) => kind), ...tick(market)]).to.include('OrderMatched')
  })

  it('expires at the right moment what lived through the hold (OPE-015)', () => {
    const market = compared()
    compare(market, HOUR_MS)
    market.advance(LIVES_SEC * 1_000)
    expect(tick(market)).to.deep.equal([])
    expect(compare(market).changes.map(({ kind }) => kind)).to.deep.equal(['OrderExpired'])
  })

  it('is held while it is behind', () => {
    const market = compared()
    market.advance(-HOUR_MS)
    tick(market)
    expect(market.state.standing).to.deep.equal(OPEN)
    compare(market, -HOUR_MS)
    expect(market.state.standing).to.deep.equal(SKEWED)
    market.advance(HOUR_MS)
    compare(market)
    expect(market.state.standing).to.deep.equal(OPEN)
  })

  for (const side of [1, -1]) {
    it(`may be ${side * 60} s off, and not a millisecond more (OPE-014)`, () => {
      const market = compared()
      compare(market, side * CLOCK_OFF_MAX_MS)
      expect(market.state.standing).to.deep.equal(OPEN)
      compare(market, side * (CLOCK_OFF_MAX_MS + 1))
      expect(market.state.standing).to.deep.equal(SKEWED)
    })
  }

  it('goes on in steps of up to a minute without a comparison, and takes no longer one', () => {
    const market = compared()
    for (let steps = 0; steps < 5; steps += 1) {
      market.advance(CLOCK_OFF_MAX_MS)
      tick(market)
      expect(market.state.standing).to.deep.equal(OPEN)
    }
    market.advance(CLOCK_OFF_MAX_MS + 1)
    tick(market)
    expect(market.state.standing).to.deep.equal(SKEWED)
    expect(market.state.nowMs).to.equal(START_MS + 5 * CLOCK_OFF_MAX_MS)
    compare(market)
    expect(market.state.standing).to.deep.equal(OPEN)
  })

  it('ends no lease while it is off (CAN-034)', () => {
    const market = compared()
    market.apply({ kind: 'SetLease', owner, seconds: 60, opens: true })
    market.advance(HOUR_MS)
    expect(tick(market)).to.deep.equal([])
    expect(market.state.leases.byKey.size).to.equal(1)
  })

  it('gives a lease that was set while it stood still its whole time from where it goes on (CAN-034)', () => {
    const market = compared()
    renewed(market, true)
    for (let seconds = 10; seconds <= 40; seconds += 10) {
      compare(market, HOUR_MS)
      market.advance(10_000)
      expect(renewed(market)).to.include({ kind: 'lease' })
    }
    expect(compare(market).changes).to.deep.equal([])
    market.advance(29_999)
    expect(tick(market)).to.deep.equal([])
    market.advance(1)
    expect(tick(market)).to.deep.equal(['OrderCancelled ask'])
  })

  it('ends a lease that was not renewed while it stood still', () => {
    const market = compared()
    renewed(market, true)
    compare(market, HOUR_MS)
    market.advance(30_000)
    expect(compare(market).changes.map(({ kind }) => kind)).to.deep.equal(['OrderCancelled'])
  })

  it('lets a lease live that was set after long downtime before the first comparison', () => {
    const market = compared()
    market.advance(120_000)
    renewed(market, true)
    compare(market)
    market.advance(20_000)
    expect(renewed(market)).to.include({ kind: 'lease' })
    market.advance(29_000)
    expect(tick(market)).to.deep.equal([])
    expect(market.state.leases.byKey.size).to.equal(1)
  })

  it('is as far as it was in a restored state', () => {
    const market = compared()
    const state = restoreSnapshot(takeSnapshot(market.state))
    const atMs = market.nowMs() + HOUR_MS
    const tick = { source: 'test', sourceNo: 1_000, atMs, command: { kind: 'Tick' } as const }
    expect(applyCommand(state, tick).changes).to.deep.equal([])
    expect(state.standing).to.deep.equal(SKEWED)
  })
})
