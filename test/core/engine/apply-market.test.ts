import { expect } from 'chai'
import fc from 'fast-check'
import { applyMessage } from '../../../core/engine/apply-message.js'
import { checkBook } from '../../../core/engine/check-state.js'
import type { Command, LoggedCommand, MarketCommand } from '../../../core/model/command.js'
import { CANCELLED_MAX_PER_STEP } from '../../../core/model/limits.js'
import { amountE18, E18, feePerUnitE18, priceE18 } from '../../../core/money.js'
import { openedState } from '../../support/builders.js'
import { commandOf, ruledActs } from '../../support/market-commands.js'
import {
  matcherOrder,
  testMatcher,
  type OrderFields,
  type TestMatcher,
} from '../../support/matching.js'

const BY = { by: 'ada', reason: 'maintenance' }
const order = (market: TestMatcher, fields: OrderFields) =>
  market.apply({
    kind: 'PlaceOrder',
    order: matcherOrder({ subaccountId: fields.side === 'buy' ? 1n : 2n, ...fields }),
  })
const setFee = (takerFeeBps: number): MarketCommand => ({
  kind: 'MarketRulesSet',
  rules: { takerFeeBps },
  ...BY,
})
const kinds = (applied: ReturnType<TestMatcher['apply']>): string[] =>
  applied.changes.map(({ kind, orderId }) => `${kind} ${orderId}`)

describe('commands that change a market', () => {
  let market: TestMatcher
  beforeEach(() => (market = testMatcher(25)))

  it('set the fee of the matches after it, and state the terms (MON-019, OPE-002)', () => {
    order(market, { orderId: 'ask', side: 'sell' })
    order(market, { orderId: 'before', side: 'buy', desiredAmount: amountE18(4n * E18) })
    const { changes, answer, terms } = market.apply(setFee(30))
    expect(changes).to.deep.equal([])
    expect(terms).to.deep.include({ enabled: true, standing: { status: 'open' } })
    expect(terms?.rules.takerFeeBps).to.equal(30)
    expect(answer).to.deep.equal({ kind: 'market', terms })
    order(market, { orderId: 'after', side: 'buy', desiredAmount: amountE18(4n * E18) })
    const fees = [...market.state.matches.values()].map(({ takerFee }) => takerFee)
    expect(fees).to.deep.equal([E18 / 100n, (12n * E18) / 1_000n])
  })

  it('leave the rules that they do not name, also of a market with a step of its own', () => {
    const { tickSize, minSize } = market.state.rules
    market.apply({
      kind: 'MarketRulesSet',
      rules: { amountStep: amountE18(E18) },
      ...BY,
    })
    market.apply(setFee(7))
    expect(market.state.rules).to.deep.equal({
      takerFeeBps: 7,
      tickSize,
      minSize,
      amountStep: E18,
    })
  })

  it('let a bound below the new schedule rest, and cancel it as a taker', () => {
    const worstFee = feePerUnitE18(E18 / 400n)
    market.apply(setFee(30))
    order(market, { orderId: 'ask', side: 'sell', worstFee })
    expect(kinds(order(market, { orderId: 'bid', side: 'buy', worstFee }))).to.deep.equal([
      'OrderPlaced bid',
    ])
    expect(market.changes.at(-1)).to.include({ cancelReason: 'fee_bound_too_low' })
  })

  it('leave orders where they are under a coarser tick (OPE-005, STR-014)', () => {
    order(market, { orderId: 'ask', side: 'sell', limitPrice: priceE18((125n * E18) / 100n) })
    market.apply({ kind: 'MarketRulesSet', rules: { tickSize: priceE18(E18) }, ...BY })
    expect(market.state.orders.get('ask')?.shownOpen).to.equal(10n * E18)
  })

  it('pause: an order that comes afterwards rests, visibly, and matches once it is resumed', () => {
    order(market, { orderId: 'ask', side: 'sell' })
    const paused = market.apply({ kind: 'MarketPaused', ...BY })
    const standing = { status: 'paused', reason: 'maintenance' }
    expect(paused.terms?.standing).to.deep.equal(standing)
    expect(market.apply({ kind: 'MarketPaused', ...BY }).terms).to.equal(undefined)
    order(market, { orderId: 'bid', side: 'buy' })
    expect(market.changes.at(-1)).to.include({ open: 10n * E18 })
    const resumed = market.apply({ kind: 'MarketResumed', ...BY })
    expect(resumed).to.deep.include({ changes: [], moreIsDue: true })
    expect(resumed.terms?.standing).to.deep.equal({ status: 'open' })
    expect(kinds(market.apply({ kind: 'Tick' }))).to.deep.equal([
      'OrderMatched ask',
      'OrderReleased bid',
    ])
  })

  it('disable: cancel a bounded number of orders in a step, whatever is placed or enabled meanwhile (OPE-007)', () => {
    const count = 2 * CANCELLED_MAX_PER_STEP + 1
    for (let n = 0; n < count; n++) order(market, { orderId: `o${n}`, side: 'sell' })
    const disabled = market.apply({ kind: 'MarketDisabled', ...BY })
    expect(disabled.changes).to.have.length(CANCELLED_MAX_PER_STEP)
    expect(disabled).to.include({ moreIsDue: true })
    expect(disabled.terms?.enabled).to.equal(false)
    order(market, { orderId: 'late', side: 'sell' })
    expect(market.changes.at(-1)).to.include({ cancelReason: 'market_disabled' })
    market.apply({ kind: 'MarketEnabled', ...BY })
    expect(market.apply({ kind: 'Tick' }).moreIsDue).to.equal(false)
    expect(market.state.orders.size).to.equal(0)
    expect(kinds(order(market, { orderId: 'new', side: 'sell' }))).to.deep.equal([
      'OrderPlaced new',
    ])
    expect(market.state.orders.size).to.equal(1)
  })

  it('disable while paused: nothing matches when it is resumed', () => {
    order(market, { orderId: 'ask', side: 'sell' })
    market.apply({ kind: 'MarketPaused', ...BY })
    order(market, { orderId: 'bid', side: 'buy' })
    market.apply({ kind: 'MarketDisabled', ...BY })
    expect(market.apply({ kind: 'MarketResumed', ...BY }).changes).to.deep.equal([])
    expect(market.apply({ kind: 'Tick' }).changes).to.deep.equal([])
    expect(market.state.matches.size).to.equal(0)
  })

  it('are refused as the opening of a market that has orders', () => {
    order(market, { orderId: 'ask', side: 'sell' })
    const opening = { ...openedState({ ordinal: 1 }) }
    expect(() => market.apply({ kind: 'MarketOpened', opening })).to.throw('a second time')
  })
})

describe('the opening of a market', () => {
  it('states its terms, and is refused of another market or once there was an order (OPE-001)', () => {
    const { state, apply } = testMatcher()
    const { identity, rules } = state
    const opening = { identity, rules, enabled: true }
    const opened = apply({ kind: 'MarketOpened', opening })
    expect(opened.changes).to.deep.equal([])
    expect(opened.terms).to.deep.equal({
      identity,
      rules,
      enabled: true,
      standing: { status: 'open' },
    })
    const other = { ...opening, identity: { ...identity, market: 'cNGN-PERP' } }
    expect(() => apply({ kind: 'MarketOpened', opening: other })).to.throw('another market')
    state.rank = 1
    expect(() => apply({ kind: 'MarketOpened', opening })).to.throw('a second time')
  })
})

/** A log of random acts, in messages of several commands. */
function logOf(acts: Parameters<typeof commandOf>[0][], perMessage: number): LoggedCommand[][] {
  const market = testMatcher(25)
  const settlementIds: string[] = []
  const log: LoggedCommand[][] = []
  let placed = 0
  for (const [index, act] of acts.entries()) {
    if (act.act === 'wait') market.advance(act.sec * 1_000)
    const context = { placed, nowMs: market.nowMs(), settlementIds, changes: market.changes }
    const command: Command = commandOf(act, context)
    if (act.act === 'place') placed += 1
    for (const change of market.apply(command).changes) {
      if (change.kind === 'OrderMatched') settlementIds.push(change.match.settlementId)
    }
    if (index % perMessage === 0) log.push([])
    log.at(-1)?.push({ source: 'test', sourceNo: index + 1, atMs: market.nowMs(), command })
  }
  return log
}

describe('blocks under changing rules', () => {
  // What is due when others are set matches before them, in the block that states them.
  it('are each made under the rules stated last, or before in that block, and state every change', () => {
    fc.assert(
      fc.property(ruledActs(60), fc.integer({ min: 1, max: 6 }), (acts, perMessage) => {
        const state = openedState({ ordinal: 1, takerFeeBps: 25 })
        let { rules, enabled, standing } = state
        for (const [index, commands] of logOf(acts, perMessage).entries()) {
          for (const { block } of applyMessage(state, index + 1, commands)) {
            const inForce = [rules, block?.terms?.rules ?? rules]
            ;({ rules, enabled, standing } = block?.terms ?? { rules, enabled, standing })
            for (const change of block?.changes ?? []) {
              if (change.kind !== 'OrderMatched') continue
              const { takerFee, price, amount } = change.match
              const fees = inForce.map((each) => state.trading.takerFee(each, price, amount))
              expect(fees).to.include(takerFee)
            }
          }
          checkBook(state)
          expect({ rules, enabled, standing }).to.deep.equal({
            rules: state.rules,
            enabled: state.enabled,
            standing: state.standing,
          })
          const isIdle = !enabled && state.cancelUpToRank === 0
          if (isIdle)
            expect([...state.book.buy.levels, ...state.book.sell.levels]).to.have.length(0)
        }
      }),
    )
  })
})
