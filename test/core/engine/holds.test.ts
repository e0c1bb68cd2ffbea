import { expect } from 'chai'
import type { ContractType } from '../../../core/model/market.js'
import { FACTS_AGE_MAX_MS } from '../../../core/contracts/perpetual.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import type { Command } from '../../../core/model/command.js'
import { holdMarket, liftHold, standingOf } from '../../../core/engine/holds.js'
import { FAULT_HOLD_MS } from '../../../core/model/limits.js'
import { beginStep } from '../../../core/engine/emit-change.js'
import { restoreSnapshot } from '../../../core/engine/snapshot.js'
import type { MarketHolds } from '../../../core/engine/state.js'
import type { Side } from '../../../core/model/order.js'
import { openedState } from '../../support/builders.js'
import { perpetualFacts } from '../../support/perpetual.js'
import { matcherOrder, START_MS, testMatcher, type TestMatcher } from '../../support/matching.js'
import { takeSnapshot } from '../../support/snapshots.js'

/** An order of the side's own account at the one price of these tests. */
const place = (market: TestMatcher, orderId: string, side: Side) =>
  market.apply({
    kind: 'PlaceOrder',
    order: matcherOrder({ orderId, side, subaccountId: side === 'buy' ? 1n : 2n }),
  }).changes

const kinds = (market: TestMatcher): string[] =>
  market.apply({ kind: 'Tick' }).changes.map(({ kind, orderId }) => `${kind} ${orderId}`)

describe('holds of a whole market', () => {
  it('matches nothing while there is one, and what crosses when the last has ended (MAT-043)', () => {
    const market = testMatcher()
    const step = beginStep(market.state)
    holdMarket(step, 'operator', { reason: 'maintenance' })
    holdMarket(step, 'chain', { reason: 'chain_paused' })
    place(market, 'ask', 'sell')
    expect(place(market, 'bid', 'buy').map(({ kind }) => kind)).to.deep.equal(['OrderPlaced'])
    liftHold(step, 'operator')
    expect(kinds(market)).to.deep.equal([])
    liftHold(step, 'chain')
    expect(kinds(market)).to.deep.equal(['OrderMatched ask', 'OrderReleased bid'])
    expect(market.state.holds.size).to.equal(0)
  })

  it('ends a hold at its time', () => {
    const market = testMatcher()
    holdMarket(beginStep(market.state), 'chain', {
      reason: 'chain_paused',
      untilMs: START_MS + 5_000,
    })
    place(market, 'ask', 'sell')
    place(market, 'bid', 'buy')
    market.advance(4_999)
    expect(kinds(market)).to.deep.equal([])
    market.advance(1)
    expect(kinds(market)).to.deep.equal(['OrderMatched ask', 'OrderReleased bid'])
  })

  it('shows an operator’s pause before a restored gap, that before a clock, and that before any other', () => {
    const holds: MarketHolds = new Map()
    expect(standingOf(holds)).to.deep.equal({ status: 'open' })
    holds.set('facts', { reason: 'chain_stale' })
    expect(standingOf(holds)).to.deep.equal({ status: 'held', reason: 'chain_stale' })
    holds.set('chain', { reason: 'BM_AdjustmentsPaused' })
    expect(standingOf(holds)).to.deep.equal({ status: 'held', reason: 'chain_stale' })
    holds.set('clock', { reason: 'clock_skew' })
    expect(standingOf(holds)).to.deep.equal({ status: 'held', reason: 'clock_skew' })
    holds.set('restored', { reason: 'restored' })
    expect(standingOf(holds)).to.deep.equal({ status: 'held', reason: 'restored' })
    holds.set('operator', { reason: 'maintenance' })
    expect(standingOf(holds)).to.deep.equal({ status: 'paused', reason: 'maintenance' })
  })

  it('states a standing anew once it differs, and not with a hold that it does not show', () => {
    const market = testMatcher()
    const stated = (change: (step: ReturnType<typeof beginStep>) => void): boolean => {
      const step = beginStep(market.state)
      change(step)
      return step.restated
    }
    const held = (reason: 'chain_stale' | 'market_unread') =>
      stated((step) => holdMarket(step, 'facts', { reason }))
    expect(held('chain_stale')).to.equal(true)
    expect(held('chain_stale')).to.equal(false)
    expect(held('market_unread')).to.equal(true)
    expect(stated((step) => holdMarket(step, 'operator', { reason: 'x' }))).to.equal(true)
    expect(stated((step) => liftHold(step, 'facts'))).to.equal(false)
    expect(stated((step) => liftHold(step, 'facts'))).to.equal(false)
    expect(stated((step) => liftHold(step, 'operator'))).to.equal(true)
    expect(market.state.standing).to.deep.equal({ status: 'open' })
  })

  it('is kept in a snapshot', () => {
    const market = testMatcher()
    holdMarket(beginStep(market.state), 'chain', { reason: 'chain_paused', untilMs: START_MS })
    const restored = restoreSnapshot(takeSnapshot(market.state))
    expect([...restored.holds]).to.deep.equal([...market.state.holds])
    expect(restored.closed).to.equal(true)
  })
})

/** Applies messages of one command each to a market of this type. */
function feedOf(contractType: ContractType) {
  const state = openedState({ ordinal: 1, contractType })
  let commandSeq = 0
  /** The standing that the message's block states; undefined when there is no block, or it states no terms. */
  return (afterMs: number, command: Command) => {
    commandSeq += 1
    const logged = { source: 'test', sourceNo: commandSeq, atMs: START_MS + afterMs, command }
    const [step] = [...applyMessage(state, commandSeq, [logged])]
    return step?.block?.terms?.standing
  }
}

describe('the standing that a market’s feed states', () => {
  const OPEN = { status: 'open' }
  const held = (reason: string) => ({ status: 'held', reason })
  const tick = { kind: 'Tick' } as const

  it('is held with a fault that the executor reads, and open without it, though no order changes', () => {
    const after = feedOf('spot')
    const revert = 'BM_AdjustmentsPaused'
    expect(after(0, tick)).to.equal(undefined)
    expect(after(0, { kind: 'ChainFaultObserved', revert })).to.deep.equal(held(revert))
    expect(after(60_000, tick)).to.equal(undefined)
    expect(after(60_000, { kind: 'ChainFaultObserved' })).to.deep.equal(OPEN)
    expect(after(60_000, tick)).to.equal(undefined)
  })

  it('is held with a fault that a match has met, until time ends the hold', () => {
    const after = feedOf('spot')
    for (const [side, subaccountId] of [
      ['sell', 1n],
      ['buy', 2n],
    ] as const)
      after(0, { kind: 'PlaceOrder', order: matcherOrder({ orderId: side, side, subaccountId }) })
    const revert = 'BM_AdjustmentsPaused'
    const outcome = { kind: 'reverted', revert, guilty: 'venue' } as const
    const settlementId = 'cNGN-USDC:2'
    expect(after(0, { kind: 'SettlementReported', settlementId, outcome })).to.deep.equal(
      held(revert),
    )
    expect(after(FAULT_HOLD_MS - 1, tick)).to.equal(undefined)
    expect(after(FAULT_HOLD_MS, tick)).to.deep.equal(OPEN)
  })

  it('follows the facts of its gate, each reason once', () => {
    const after = feedOf('perpetual')
    const observed = (fields: Parameters<typeof perpetualFacts>[0]) => ({
      kind: 'MarketObserved' as const,
      observation: {
        ...{ facts: hidePerpetual(perpetualFacts(fields)), blockNumber: 1n },
        ...{ blockTimeSec: START_MS / 1_000, readAtMs: START_MS },
      },
    })
    expect(after(0, tick)).to.deep.equal(held('market_unread'))
    after(0, observed({ paused: true }))
    expect(after(0, tick)).to.deep.equal(held('trading_paused'))
    expect(after(0, tick)).to.equal(undefined)
    after(0, observed({}))
    expect(after(0, tick)).to.deep.equal(OPEN)
    expect(after(FACTS_AGE_MAX_MS, tick)).to.equal(undefined)
    expect(after(FACTS_AGE_MAX_MS + 1, tick)).to.deep.equal(held('chain_stale'))
  })
})
