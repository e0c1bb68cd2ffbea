import { balancesOf, riskSnapshotOf } from '../../../core/contracts/balances.js'
import type { TestMatcher } from '../../support/matching.js'
import { expect } from 'chai'
import fc from 'fast-check'
import { applyCommand } from '../../../core/engine/apply-command.js'
import { checkBook } from '../../../core/engine/check-state.js'
import type { Command } from '../../../core/model/command.js'
import { ACCOUNTS_IDLE_MAX, REVIEWED_MAX_PER_STEP } from '../../../core/model/limits.js'
import type { Order, Side } from '../../../core/model/order.js'
import { openedState } from '../../support/builders.js'
import { notionalFloor } from '../../../core/contracts/fees.js'
import type { Match } from '../../../core/model/match.js'
import type { AccountObservation } from '../../../core/model/observation.js'
import { amountE18, E18 } from '../../../core/money.js'
import {
  fundedActs,
  fundedCommandOf,
  anObservation as observation,
  type FundedAct,
} from '../../support/funded-acts.js'
import { matcherOrder, START_MS, testMatcher } from '../../support/matching.js'
import { runs } from '../../support/property-runs.js'

const OWNER = `0x${'a'.repeat(40)}` as const

/** What the accounts of a market may pay, kept by lists alone: what was said, what is reserved, what was settled. */
interface Ledger {
  readonly orders: Map<string, Order>
  readonly said: Map<bigint, AccountObservation>
  readonly reserved: Match[]
  readonly settled: { readonly match: Match; readonly block: bigint }[]
}

/** What a match moves on one side's account, signed. */
function moved(ledger: Ledger, match: Match, orderId: string): { base: bigint; quote: bigint } {
  const buying = ledger.orders.get(orderId)?.side === 'buy'
  const fee = orderId === match.takerOrderId ? match.takerFee : 0n
  const notional = notionalFloor(match.price, match.amount)
  return buying
    ? { base: match.amount, quote: 0n - notional - fee }
    : { base: 0n - match.amount, quote: notional - fee }
}

function sidesOf(ledger: Ledger, { makerOrderId, takerOrderId }: Match, id: bigint): string[] {
  return [makerOrderId, takerOrderId].filter(
    (orderId) => ledger.orders.get(orderId)?.subaccountId === id,
  )
}

/** Moves of the account that an observation may lack, as a checkpoint keeps them. */
function settledOf({ state }: TestMatcher, id: bigint) {
  const account = state.accounts.get(id)
  if (account === undefined) throw new Error(`no account ${id}`)
  return riskSnapshotOf(state.trading.means.snapshot(account.riskAccount)).settled
}

/** What is left of the account's asset when everything reserved is paid; undefined when it was never read. */
function leftOf(ledger: Ledger, id: bigint, side: Side): bigint | undefined {
  const said = ledger.said.get(id)
  if (said === undefined) return undefined
  const asset = side === 'buy' ? 'quote' : 'base'
  let left: bigint = balancesOf(said.facts)[asset]
  for (const { match, block } of ledger.settled) {
    if (block <= said.blockNumber) continue
    for (const orderId of sidesOf(ledger, match, id)) left += moved(ledger, match, orderId)[asset]
  }
  for (const match of ledger.reserved) {
    for (const orderId of sidesOf(ledger, match, id)) {
      const move = moved(ledger, match, orderId)[asset]
      if (move < 0n) left += move
    }
  }
  return left
}

/** Plays a market day and holds every proposed match to the ledger. */
function play(acts: readonly FundedAct[]) {
  const market = testMatcher()
  const ledger: Ledger = { orders: new Map(), said: new Map(), reserved: [], settled: [] }
  const settlementIds: string[] = []
  let placed = 0
  for (const act of acts) {
    if (act.act === 'market' && act.it.act === 'wait') market.advance(act.it.sec * 1000)
    const context = { placed, nowMs: market.nowMs(), settlementIds }
    const command = fundedCommandOf(act, context)
    if (command.kind === 'PlaceOrder') {
      placed += 1
      ledger.orders.set(command.order.orderId, command.order)
    }
    note(ledger, market.state.accounts.has.bind(market.state.accounts), command)
    const { changes } = market.apply(command)
    for (const change of changes) {
      if (change.kind !== 'OrderMatched') continue
      settlementIds.push(change.match.settlementId)
      ledger.reserved.push(change.match)
      for (const orderId of [change.match.makerOrderId, change.match.takerOrderId]) {
        const order = ledger.orders.get(orderId)
        if (order === undefined) throw new Error(`no order ${orderId}`)
        const left = leftOf(ledger, order.subaccountId, order.side) ?? 0n
        expect(left >= 0n, `${orderId} cannot pay for ${change.match.settlementId}`).to.equal(true)
        const leaving = ledger.said.get(order.subaccountId)?.leaving ?? false
        expect(leaving, `${orderId} is leaving`).to.equal(false)
      }
    }
  }
  return { market }
}

function note(ledger: Ledger, isKept: (id: bigint) => boolean, command: Command): void {
  if (command.kind === 'AccountObserved') {
    const { account } = command
    if (isKept(account.subaccountId)) ledger.said.set(account.subaccountId, account)
  } else if (command.kind === 'SettlementReported') {
    const at = ledger.reserved.findIndex((it) => it.settlementId === command.settlementId)
    const [match] = at < 0 ? [] : ledger.reserved.splice(at, 1)
    if (match === undefined || command.outcome.kind !== 'success') return
    ledger.settled.push({ match, block: command.outcome.blockNumber })
  }
}

describe('funding', () => {
  it('proposes no match that its accounts cannot pay for, whatever is seen and settles (MAT-045)', () => {
    const property = fc.property(fundedActs(80), (acts) => void play(acts))
    fc.assert(property, { numRuns: runs(500) })
  })

  it('comes to rest: what was seen already changes nothing, and no step asks for another for ever', () => {
    const property = fc.property(fundedActs(80), (acts) => {
      const { market } = play(acts)
      let steps = 0
      while (market.apply({ kind: 'Tick' }).moreIsDue) {
        steps += 1
        expect(steps, 'steps that ask for another').to.be.below(20)
      }
      const again = (): number =>
        [...market.state.accounts.values()]
          .flatMap(({ observed }) => (observed === undefined ? [] : [observed]))
          .reduce((sum, account) => {
            const { changes } = market.apply({ kind: 'AccountObserved', account })
            return sum + changes.length
          }, 0)
      for (let round = 0; round < 3 && again() > 0; round++);
      expect(again()).to.equal(0)
    })
    fc.assert(property, { numRuns: runs(300) })
  })

  /** An account whose only balance is spread over more orders than one step may look at. */
  function crowdedAccount() {
    const market = testMatcher()
    const count = 2 * REVIEWED_MAX_PER_STEP + 10
    for (let n = 0; n < count; n++) {
      const order = matcherOrder({ orderId: `o${n}`, side: 'sell', subaccountId: 1n })
      market.apply({ kind: 'PlaceOrder', order })
    }
    const observe = (base: bigint) =>
      market.apply({ kind: 'AccountObserved', account: observation(1n, base) })
    return { market, count, observe }
  }

  it('lets many orders of an account go in several steps, and asks for the next at once', () => {
    const { market, count, observe } = crowdedAccount()
    const first = observe(0n)
    expect(first.changes).to.have.length(REVIEWED_MAX_PER_STEP)
    expect(first.moreIsDue).to.equal(true)
    const second = market.apply({ kind: 'Tick' })
    expect(second.changes).to.have.length(REVIEWED_MAX_PER_STEP)
    const third = market.apply({ kind: 'Tick' })
    expect(third.changes).to.have.length(count - 2 * REVIEWED_MAX_PER_STEP)
    expect(third.moreIsDue).to.equal(false)
    expect(observe(0n).changes, 'nothing new is seen').to.deep.equal([])
  })

  it('lets many orders of an account return in several steps', () => {
    const { market, count, observe } = crowdedAccount()
    observe(0n)
    for (let step = 0; step < 2; step++) market.apply({ kind: 'Tick' })
    const returned = [observe(10n * E18).changes.length]
    while (market.state.reviews.size > 0) {
      returned.push(market.apply({ kind: 'Tick' }).changes.length)
    }
    expect(returned).to.deep.equal([
      ...[REVIEWED_MAX_PER_STEP, REVIEWED_MAX_PER_STEP, count - 2 * REVIEWED_MAX_PER_STEP],
    ])
  })

  it('keeps what was settled on an account whose orders are all gone', () => {
    const market = testMatcher()
    const sell = matcherOrder({ orderId: 's', side: 'sell', subaccountId: 1n })
    const buy = matcherOrder({ orderId: 'b', side: 'buy', subaccountId: 2n })
    const account = observation(1n, 10n * E18)
    market.apply({ kind: 'PlaceOrder', order: sell, account })
    const [matched] = market.apply({ kind: 'PlaceOrder', order: buy }).changes
    if (matched?.kind !== 'OrderMatched') throw new Error('no match')
    const { settlementId } = matched.match
    const outcome = { kind: 'success', txHash: '0x1', blockNumber: 2n } as const
    market.apply({ kind: 'SettlementReported', settlementId, outcome })
    expect([...market.state.idleAccounts]).to.deep.equal([1n, 2n])
    const again = matcherOrder({ orderId: 's2', side: 'sell', subaccountId: 1n })
    const [placed] = market.apply({ kind: 'PlaceOrder', order: again, account }).changes
    expect(placed).to.include({ kind: 'OrderPlaced', hold: 'insufficient_balance', open: 0n })
  })

  it('remembers a bounded number of accounts without orders (OPE-028)', () => {
    const state = openedState({ takerFeeBps: 0 })
    let sourceNo = 0
    const apply = (command: Command) => {
      sourceNo += 1
      applyCommand(state, { source: 'test', sourceNo, atMs: START_MS, command })
    }
    for (let n = 1; n <= ACCOUNTS_IDLE_MAX + 5; n++) {
      const order = matcherOrder({ orderId: `o${n}`, side: 'buy', subaccountId: BigInt(n) })
      apply({ kind: 'PlaceOrder', order })
      apply({ kind: 'CancelOrder', owner: OWNER, nonce: order.nonce, reason: 'unspecified' })
    }
    expect(state.accounts.size).to.equal(ACCOUNTS_IDLE_MAX)
    expect(state.accounts.has(5n)).to.equal(false)
    expect(state.accounts.has(6n)).to.equal(true)
    checkBook(state)
  })

  it('remembers the settlements of a bounded number of blocks, without losing what they moved', () => {
    const market = testMatcher(0)
    const wall = { desiredAmount: amountE18(1_000n * E18), subaccountId: 1n }
    market.apply({
      kind: 'PlaceOrder',
      order: matcherOrder({ orderId: 's', side: 'sell', ...wall }),
    })
    const account = observation(1n, 1_000n * E18)
    market.apply({ kind: 'AccountObserved', account })
    for (let n = 0; n < 400; n++) {
      const order = matcherOrder({
        orderId: `b${n}`,
        side: 'buy',
        subaccountId: 2n,
        desiredAmount: amountE18(E18),
      })
      const [matched] = market.apply({ kind: 'PlaceOrder', order }).changes
      if (matched?.kind !== 'OrderMatched') throw new Error('no match')
      const outcome = { kind: 'success', txHash: '0x1', blockNumber: BigInt(n + 2) } as const
      const { settlementId } = matched.match
      market.apply({ kind: 'SettlementReported', settlementId, outcome })
    }
    const settled = settledOf(market, 1n)
    expect(settled).to.have.length(256)
    expect(settled.reduce((sum, move) => sum + move.base, 0n)).to.equal(-400n * E18)
    const later = {
      kind: 'AccountObserved',
      account: observation(1n, 600n * E18, { blockNumber: 500n }),
    } as const
    market.apply(later)
    expect(settledOf(market, 1n)).to.deep.equal([])
  })
})
