import { expect } from 'chai'
import fc from 'fast-check'
import type { PerpetualAccount, PerpetualFacts } from '../../../core/contracts/perpetual-facts.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import { restoreSnapshot, type MatcherSnapshot } from '../../../core/engine/snapshot.js'
import type { MatcherState } from '../../../core/engine/state.js'
import type { Command } from '../../../core/model/command.js'
import type { Match } from '../../../core/model/match.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { commandOf, marketActs, type MarketAct } from '../../support/market-commands.js'
import { testMatcher, type TestMatcher } from '../../support/matching.js'
import { perpetualAccount, perpetualFacts } from '../../support/perpetual.js'
import { runs } from '../../support/property-runs.js'
import { startCapture, takeSnapshot, type CaptureReading } from '../../support/snapshots.js'

const OWNER = `0x${'a'.repeat(40)}` as const
const CENT = E18 / 100n

type PerpetualAct =
  | { readonly act: 'market'; readonly it: MarketAct; readonly reduceOnly: boolean }
  | {
      readonly act: 'account'
      readonly id: number
      readonly position: number
      readonly cash: number
      readonly inAuction: boolean
      readonly isPriced: boolean
    }
  | {
      readonly act: 'facts'
      readonly mark: number
      readonly cap: number
      readonly total: number
      readonly trouble: 'none' | 'paused' | 'stale'
      readonly borrowing: boolean
    }

const days: fc.Arbitrary<PerpetualAct[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        act: fc.constant('market' as const),
        it: marketActs(1)
          .filter(({ length }) => length === 1)
          .map(([it]) => it as MarketAct),
        reduceOnly: fc.integer({ min: 1, max: 5 }).map((fifth) => fifth === 1),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        act: fc.constant('account' as const),
        id: fc.integer({ min: 1, max: 5 }),
        position: fc.integer({ min: -30, max: 30 }),
        cash: fc.integer({ min: -2, max: 12 }),
        inAuction: fc.integer({ min: 1, max: 8 }).map((eighth) => eighth === 1),
        isPriced: fc.integer({ min: 1, max: 8 }).map((eighth) => eighth !== 1),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        act: fc.constant('facts' as const),
        mark: fc.integer({ min: 90, max: 110 }),
        cap: fc.constantFrom(20, 1_000_000),
        total: fc.integer({ min: 0, max: 20 }),
        trouble: fc.constantFrom(
          'none' as const,
          'none',
          'none',
          'none',
          'none',
          'paused',
          'stale',
        ),
        borrowing: fc.boolean(),
      }),
    },
  ),
  // fast-check would make most days a few acts long.
  { minLength: 40, maxLength: 100, size: 'max' },
)

/** What the market may propose, kept by lists alone. */
interface Ledger {
  readonly orders: Map<string, Order>
  readonly accounts: Map<bigint, { readonly facts: PerpetualAccount; readonly block: bigint }>
  facts: PerpetualFacts | undefined
  readonly inFlight: Match[]
  readonly settled: { readonly match: Match; readonly block: bigint }[]
  block: bigint
}

const newLedger = (): Ledger => ({
  orders: new Map(),
  accounts: new Map(),
  facts: undefined,
  inFlight: [],
  settled: [],
  block: 1n,
})

function orderOf(ledger: Ledger, orderId: string): Order {
  const order = ledger.orders.get(orderId)
  if (order === undefined) throw new Error(`no order ${orderId}`)
  return order
}

interface Leg {
  readonly size: bigint
  readonly price: bigint
  readonly fee: bigint
}

/** What a match is to an account: nothing, or its leg. */
function legsOf(ledger: Ledger, match: Match, id: bigint): Leg[] {
  return [match.makerOrderId, match.takerOrderId].flatMap((orderId) => {
    const { subaccountId, side } = orderOf(ledger, orderId)
    if (subaccountId !== id) return []
    const size = side === 'buy' ? match.amount : 0n - match.amount
    return [{ size, price: match.price, fee: orderId === match.takerOrderId ? match.takerFee : 0n }]
  })
}

const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value)
const least = (...values: bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b))
const most = (...values: bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b))
const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)

function positionOf(ledger: Ledger, id: bigint): bigint | undefined {
  const known = ledger.accounts.get(id)
  if (known === undefined) return undefined
  const later = ledger.settled.filter(({ block }) => block > known.block)
  const moved = later.flatMap(({ match }) => legsOf(ledger, match, id))
  return known.facts.position + sum(moved.map(({ size }) => size))
}

/** Holds a proposed match to what the chain asks of one of its orders, with everything else in flight. */
function judge(ledger: Ledger, match: Match, order: Order): void {
  const { facts } = ledger
  const known = ledger.accounts.get(order.subaccountId)
  const position = positionOf(ledger, order.subaccountId)
  if (facts === undefined || known === undefined || position === undefined) {
    expect(order.reduceOnly, 'reduces what is not known').to.equal(undefined)
    return
  }
  const name = `${order.orderId} in ${match.settlementId}`
  expect(known.facts.inAuction, `${name} is under liquidation`).to.equal(false)
  const flight = ledger.inFlight.flatMap((it) => legsOf(ledger, it, order.subaccountId))
  const [leg] = legsOf(ledger, match, order.subaccountId)
  if (leg === undefined) throw new Error('no leg')
  const isOwn = ({ size }: Leg): boolean => size > 0n === leg.size > 0n
  const own = flight.filter(isOwn)
  const before = position + sum(own.map(({ size }) => size))
  const after = before + leg.size
  const shrinks = before > 0n === after >= 0n && sizeOf(after) <= sizeOf(before)
  const isReduction = shrinks || after === 0n
  if (order.reduceOnly === true) expect(isReduction, `${name} only reduces`).to.equal(true)
  if (isReduction) return
  expect(known.facts.valued, `${name} could be priced`).not.to.equal(undefined)
  const { mark } = facts
  const resultOf = ({ size, price, fee }: Leg): bigint => ((mark - price) * size) / E18 - fee
  const lossesOf = (legs: readonly Leg[]) => sum(legs.map((it) => least(0n, resultOf(it))))
  const requires = (held: bigint): bigint => (sizeOf(held) * mark) / E18 / 10n
  const later = ledger.settled.filter(({ block }) => block > known.block)
  const moved = later.flatMap((it) => legsOf(ledger, it.match, order.subaccountId))
  const profit = ((mark - (known.facts.valued?.mark ?? 0n)) * known.facts.position) / E18
  const cash = known.facts.cash + profit + sum(moved.map(resultOf))
  const other = flight.filter((it) => !isOwn(it))
  const released = requires(position) - requires(position + sum(other.map(({ size }) => size)))
  const uncovered = most(0n, -lossesOf(other) - most(0n, released))
  const result = resultOf(leg)
  const left = cash - requires(after) + lossesOf(own) - uncovered + result
  expect(left >= 0n, `${name} has margin`).to.equal(true)
  if (result >= 0n || facts.borrowing) return
  const rest = cash + lossesOf(own) + lossesOf(other) + result
  expect(rest >= 0n, `${name} has cash`).to.equal(true)
}

/** The sum of positions after the match alone. */
function judgeCap(ledger: Ledger, match: Match): void {
  const { facts } = ledger
  if (facts === undefined) return
  const raised = [match.makerOrderId, match.takerOrderId].map((orderId) => {
    const { subaccountId: id } = orderOf(ledger, orderId)
    const legs = ledger.inFlight.flatMap((it) => legsOf(ledger, it, id))
    const before = (positionOf(ledger, id) ?? 0n) + sum(legs.map(({ size }) => size))
    const [leg] = legsOf(ledger, match, id)
    return sizeOf(before + (leg?.size ?? 0n)) - sizeOf(before)
  })
  const total = sum(raised)
  const fits = total <= 0n || facts.totalPosition + total <= facts.positionCap
  expect(fits, `${match.settlementId} is below the cap`).to.equal(true)
}

function commandFor(act: PerpetualAct, ledger: Ledger, context: Parameters<typeof commandOf>[1]) {
  if (act.act === 'market') {
    const command = commandOf(act.it, context)
    if (command.kind !== 'PlaceOrder' || !act.reduceOnly) return command
    return { ...command, order: { ...command.order, reduceOnly: true as const } }
  }
  ledger.block += 1n
  const blockTimeSec = context.nowMs / 1000
  const place = { blockNumber: ledger.block, blockTimeSec }
  if (act.act === 'facts') {
    const facts = perpetualFacts({
      mark: priceE18(BigInt(act.mark) * CENT),
      positionCap: amountE18(BigInt(act.cap) * E18),
      totalPosition: amountE18(BigInt(act.total) * E18),
      paused: act.trouble === 'paused',
      pricesStale: act.trouble === 'stale',
      borrowing: act.borrowing,
    })
    const observation = { facts: hidePerpetual(facts), ...place, readAtMs: context.nowMs }
    return { command: { kind: 'MarketObserved', observation } as const, facts }
  }
  const mark = ledger.facts?.mark ?? priceE18(E18)
  const { valued, ...rest } = perpetualAccount({
    position: BigInt(act.position) * E18,
    cash: BigInt(act.cash) * E18,
    inAuction: act.inAuction,
    valued: { unsettled: 0n, mark, elsewhere: 0n },
  })
  const facts = act.isPriced && valued ? { ...rest, valued } : rest
  const account = {
    subaccountId: BigInt(act.id),
    custodyOwner: OWNER,
    leaving: false,
    ...place,
    facts: hidePerpetualAccount(facts),
  }
  return { command: { kind: 'AccountObserved', account } as const, account: facts }
}

/** Plays a day and holds each proposed match to the ledger. */
function play(
  acts: readonly PerpetualAct[],
  beforeStep: (state: MatcherState) => void = () => undefined,
): { market: TestMatcher; matches: number } {
  const market = testMatcher(25, 'perpetual')
  const ledger = newLedger()
  const settlementIds: string[] = []
  let placed = 0
  const apply = (command: Command): boolean => {
    beforeStep(market.state)
    const { changes, moreIsDue } = market.apply(command)
    for (const change of changes) {
      if (change.kind !== 'OrderMatched') continue
      const { match } = change
      expect(ledger.facts?.paused ?? true, 'matched while held').to.equal(false)
      for (const id of [match.makerOrderId, match.takerOrderId]) {
        judge(ledger, match, orderOf(ledger, id))
      }
      judgeCap(ledger, match)
      ledger.inFlight.push(match)
      settlementIds.push(match.settlementId)
    }
    return moreIsDue
  }
  const settle = (): void => {
    for (let steps = 0; apply({ kind: 'Tick' }); steps += 1) expect(steps).to.be.below(200)
  }
  const observe = (facts: PerpetualFacts): void => {
    ledger.facts = facts
    ledger.block += 1n
    const atMs = market.nowMs()
    const place = { blockNumber: ledger.block, blockTimeSec: atMs / 1000, readAtMs: atMs }
    const observation = { facts: hidePerpetual(facts), ...place }
    apply({ kind: 'MarketObserved', observation })
  }
  observe(perpetualFacts())
  for (const act of acts) {
    // A day without reversals: the ledger knows settlements by their first outcome.
    if (act.act === 'market' && act.it.act === 'reverse') continue
    if (act.act === 'market' && act.it.act === 'wait') market.advance(act.it.sec * 1000)
    // The chain reader observes each second: only the ledger's own acts make facts old.
    if (act.act === 'market' && act.it.act === 'wait' && ledger.facts) observe(ledger.facts)
    settle()
    const made = commandFor(act, ledger, { placed, nowMs: market.nowMs(), settlementIds })
    const command = 'command' in made ? made.command : made
    if ('facts' in made) ledger.facts = made.facts
    if (command.kind === 'AccountObserved' && 'account' in made) {
      const { subaccountId, blockNumber } = command.account
      if (market.state.accounts.has(subaccountId)) {
        const facts = made.account as PerpetualAccount
        ledger.accounts.set(subaccountId, { facts, block: blockNumber })
      }
    }
    if (command.kind === 'PlaceOrder') {
      placed += 1
      ledger.orders.set(command.order.orderId, command.order)
    }
    if (command.kind === 'SettlementReported') {
      const at = ledger.inFlight.findIndex((it) => it.settlementId === command.settlementId)
      const [match] = at < 0 ? [] : ledger.inFlight.splice(at, 1)
      const { outcome } = command
      if (match !== undefined && outcome.kind === 'success') {
        ledger.settled.push({ match, block: outcome.blockNumber })
      }
    }
    apply(command)
  }
  settle()
  return { market, matches: settlementIds.length }
}

describe('margin', () => {
  it('carries every proposed match, with all that is in flight, whatever is seen and settles', () => {
    let matches = 0
    fc.assert(
      fc.property(days, (acts) => {
        matches += play(acts).matches
      }),
      { numRuns: runs(300) },
    )
    expect(matches, 'matches in all days').to.be.above(60)
  })

  it('is kept in a snapshot', () => {
    fc.assert(
      fc.property(days, (acts) => {
        const { state } = play(acts).market
        const kept = takeSnapshot(state)
        expect(takeSnapshot(restoreSnapshot(kept))).to.deep.equal(kept)
      }),
      { numRuns: runs(20) },
    )
  })

  it('is captured as it was, however far the market goes on meanwhile', () => {
    fc.assert(
      fc.property(days, fc.nat(60), fc.nat(3), (acts, place, pace) => {
        let steps = 0
        let expected: MatcherSnapshot | undefined
        let reading: CaptureReading | undefined
        play(acts, (state) => {
          if (steps === place) {
            expected = takeSnapshot(state)
            reading = startCapture(state)
          }
          steps += 1
          reading?.read(pace)
        })
        expect(reading?.finish()).to.deep.equal(expected)
      }),
      { numRuns: runs(100) },
    )
  })
})
