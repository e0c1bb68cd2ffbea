import { expect } from 'chai'
import type { ContractType } from '../../../core/model/market.js'
import { BAND_AGE_MAX_MS } from '../../../core/contracts/future.js'
import { hideFuture } from '../../../core/contracts/future-facts.js'
import { OPEN } from '../../../core/model/market.js'
import { FACTS_AGE_MAX_MS } from '../../../core/contracts/perpetual.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import type { Command } from '../../../core/model/command.js'
import {
  SPARED_FACTS_VERSION,
  UNREADABLE_MARGIN_VERSION,
} from '../../../core/engine/engine-version.js'
import { holdMarket, liftHold, standingOf } from '../../../core/engine/holds.js'
import type { MarketHolds } from '../../../core/engine/state.js'
import { FACTS_SPARE_MS, FAULT_HOLD_MS } from '../../../core/model/limits.js'
import { beginStep } from '../../../core/engine/emit-change.js'
import { restoreSnapshot } from '../../../core/engine/snapshot.js'
import type { Side } from '../../../core/model/order.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { openedState } from '../../support/builders.js'
import { futureFacts } from '../../support/future.js'
import { perpetualAccount, perpetualFacts } from '../../support/perpetual.js'
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

  it('follows the facts of its contract, each reason once', () => {
    const after = feedOf('perpetual')
    const observed = (fields: Parameters<typeof perpetualFacts>[0]) => ({
      kind: 'MarketObserved' as const,
      observation: {
        facts: hidePerpetual(perpetualFacts(fields)),
        blockNumber: 1n,
        blockTimeSec: START_MS / 1_000,
        readAtMs: START_MS,
      },
    })
    expect(after(0, tick)).to.deep.equal(held('market_unread'))
    after(0, observed({ paused: true }))
    expect(after(0, tick)).to.deep.equal(held('trading_paused'))
    expect(after(0, tick)).to.equal(undefined)
    after(0, observed({}))
    expect(after(0, tick)).to.deep.equal(OPEN)
    after(0, { kind: 'PlaceOrder', order: matcherOrder({ orderId: 'o', side: 'buy' }) })
    expect(after(FACTS_AGE_MAX_MS, tick)).to.equal(undefined)
    expect(after(FACTS_AGE_MAX_MS + 1, tick)).to.deep.equal(held('chain_stale'))
  })
})

describe('facts of a market without orders', () => {
  const AGES = { perpetual: FACTS_AGE_MAX_MS, future: BAND_AGE_MAX_MS } as const
  const STALE = { perpetual: 'chain_stale', future: 'band_stale' } as const

  const one = priceE18(E18)
  const expirySec = START_MS / 1_000 + 86_400
  const factsOf = (kind: keyof typeof AGES) =>
    kind === 'future'
      ? hideFuture(futureFacts({ expirySec, index: one, mark: one }))
      : hidePerpetual(perpetualFacts())
  const observe = (market: TestMatcher, kind: keyof typeof AGES) => {
    const readAtMs = market.nowMs()
    const place = { blockNumber: 1n, blockTimeSec: Math.ceil(readAtMs / 1_000), readAtMs }
    market.apply({ kind: 'MarketObserved', observation: { facts: factsOf(kind), ...place } })
  }
  /** A contract of a future is a thousand of them. */
  const placeWhole = (market: TestMatcher, orderId: string, side: Side) =>
    market.apply({
      kind: 'PlaceOrder',
      order: matcherOrder({
        orderId,
        side,
        subaccountId: side === 'buy' ? 1n : 2n,
        desiredAmount: amountE18(1_000n * E18),
      }),
    }).changes
  const standingAfter = (market: TestMatcher, ms: number) => {
    market.advance(ms)
    market.apply({ kind: 'Tick' })
    return market.state.standing
  }

  for (const kind of ['perpetual', 'future'] as const) {
    const open = () => {
      const market = testMatcher(25, kind)
      observe(market, kind)
      market.apply({ kind: 'Tick' })
      return market
    }
    const stale = { status: 'held', reason: STALE[kind] }

    it(`may be older, ${kind} (OPE-054)`, () => {
      const market = open()
      expect(standingAfter(market, AGES[kind] + FACTS_SPARE_MS)).to.deep.equal(OPEN)
      expect(standingAfter(market, 1)).to.deep.equal(stale)
    })

    it(`let the first order rest, and hold from then on until they are read anew, ${kind}`, () => {
      const market = open()
      market.advance(FACTS_SPARE_MS)
      expect(placeWhole(market, 'ask', 'sell').map(({ status }) => status)).to.deep.equal([
        'active',
      ])
      expect(market.state.standing).to.deep.equal(OPEN)
      expect(placeWhole(market, 'bid', 'buy').map(({ kind: what }) => what)).to.deep.equal([
        'OrderPlaced',
      ])
      expect(market.state.standing).to.deep.equal(stale)
      observe(market, kind)
      expect(kinds(market)).to.deep.equal(['OrderMatched ask', 'OrderReleased bid'])
      expect(market.state.standing).to.deep.equal(OPEN)
    })

    it(`hold it while a match of an order that has ended awaits settlement, ${kind}`, () => {
      const market = open()
      placeWhole(market, 'ask', 'sell')
      const settlementIds = placeWhole(market, 'bid', 'buy').flatMap((change) =>
        change.kind === 'OrderMatched' ? [change.match.settlementId] : [],
      )
      expect(market.state.orders.size).to.equal(2)
      expect(standingAfter(market, AGES[kind] + 1)).to.deep.equal(stale)
      for (const settlementId of settlementIds) {
        const outcome = { kind: 'success', txHash: '0x1', blockNumber: 1n } as const
        market.apply({ kind: 'SettlementReported', settlementId, outcome })
      }
      expect(market.state.orders.size).to.equal(0)
      expect(standingAfter(market, 0)).to.deep.equal(OPEN)
    })

    it(`have their full age in a log of the first engine version, ${kind} (OPE-023)`, () => {
      const market = open()
      market.state.engineVersion = SPARED_FACTS_VERSION - 1
      expect(standingAfter(market, AGES[kind])).to.deep.equal(OPEN)
      expect(standingAfter(market, 1)).to.deep.equal(stale)
    })
  }

  it('hold an order whose margin is unreadable as short of it in a log of an earlier version (OPE-023)', () => {
    const { inAuction, position, cash, collateral } = perpetualAccount()
    const facts = hidePerpetualAccount({ inAuction, position, cash, collateral })
    const reasonIn = (engineVersion: number) => {
      const market = testMatcher(25, 'perpetual')
      market.state.engineVersion = engineVersion
      observe(market, 'perpetual')
      placeWhole(market, 'ask', 'sell')
      const custodyOwner = `0x${'a'.repeat(40)}` as const
      const observation = { subaccountId: 1n, blockNumber: 1n, blockTimeSec: START_MS / 1_000 }
      const order = matcherOrder({ orderId: 'bid', side: 'buy', subaccountId: 1n })
      const account = { ...observation, custodyOwner, leaving: false, facts }
      market.apply({ kind: 'PlaceOrder', order, account })
      return market.state.orders.get('bid')?.hold?.reason
    }
    expect(reasonIn(UNREADABLE_MARGIN_VERSION)).to.equal('margin_unreadable')
    expect(reasonIn(UNREADABLE_MARGIN_VERSION - 1)).to.equal('insufficient_margin')
  })

  it('do not put off the end of trading', () => {
    const market = testMatcher(25, 'future')
    observe(market, 'future')
    market.advance((expirySec - 3_600) * 1_000 - START_MS - 1)
    observe(market, 'future')
    expect(standingAfter(market, 0)).to.deep.equal(OPEN)
    expect(standingAfter(market, 1)).to.deep.equal({ status: 'held', reason: 'trading_ended' })
  })
})
