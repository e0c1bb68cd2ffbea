import { expect } from 'chai'
import { addContract } from '../../core/contracts/registry.js'
import { applyCommand } from '../../core/engine/apply-command.js'
import { bestOf } from '../../core/engine/book.js'
import type { Change } from '../../core/model/change.js'
import { restoreSnapshot } from '../../core/engine/snapshot.js'
import type { Side } from '../../core/model/order.js'
import { amountE18, E18, priceE18 } from '../../core/money.js'
import { matcherOrder, START_MS, testMatcher, type TestMatcher } from '../support/matching.js'
import { TOY, toy, toyAccountFacts, toyMarketFacts } from './toy.js'
import { takeSnapshot } from '../support/snapshots.js'

addContract(toy)

const MARK = priceE18(100n * E18)

function observeMarket(market: TestMatcher, facts: { halted?: boolean; mark?: bigint } = {}) {
  const { halted = false, mark = MARK } = facts
  return market.apply({
    kind: 'MarketObserved',
    observation: {
      facts: toyMarketFacts({ halted, mark: priceE18(mark) }),
      blockNumber: 1n,
      blockTimeSec: START_MS / 1000,
      readAtMs: START_MS,
    },
  })
}

interface Placing {
  readonly orderId: string
  readonly side: Side
  readonly price: number
  readonly amount?: number
  readonly account?: number
  readonly credit?: number
}

function place(market: TestMatcher, { orderId, side, price, ...rest }: Placing): readonly Change[] {
  const { amount = 2, account = side === 'buy' ? 1 : 2, credit } = rest
  const order = matcherOrder({
    orderId,
    side,
    subaccountId: BigInt(account),
    limitPrice: priceE18(BigInt(price) * E18),
    desiredAmount: amountE18(BigInt(amount) * E18),
  })
  const facts = toyAccountFacts({ credit: BigInt(credit ?? 1_000_000) * E18 })
  return market.apply({
    kind: 'PlaceOrder',
    order,
    account: {
      subaccountId: BigInt(account),
      facts,
      custodyOwner: order.owner,
      leaving: false,
      blockNumber: 1n,
      blockTimeSec: START_MS / 1000,
    },
  }).changes
}

const kinds = (changes: readonly Change[]): string[] =>
  changes.map(({ kind, orderId }) => `${kind} ${orderId}`)

describe('a contract type of its own in the engine', () => {
  let market: TestMatcher

  beforeEach(() => {
    market = testMatcher(25, TOY)
  })

  it('rests crossed orders visibly while the contract holds the market', () => {
    expect(kinds(place(market, { orderId: 'ask', side: 'sell', price: 99 }))).to.deep.equal([
      'OrderPlaced ask',
    ])
    const [placed] = place(market, { orderId: 'bid', side: 'buy', price: 101 })
    expect(placed).to.deep.include({ kind: 'OrderPlaced', open: amountE18(2n * E18) })
    expect(bestOf(market.state.book, 'buy')?.orderId).to.equal('bid')
    expect(bestOf(market.state.book, 'sell')?.orderId).to.equal('ask')
  })

  it('matches the best crossing pair first when the hold ends, the later order as the taker (MAT-044)', () => {
    place(market, { orderId: 'ask-99', side: 'sell', price: 99 })
    place(market, { orderId: 'ask-98', side: 'sell', price: 98 })
    place(market, { orderId: 'bid-101', side: 'buy', price: 101, amount: 3 })
    observeMarket(market)
    const { changes } = market.apply({ kind: 'Tick' })
    expect(kinds(changes)).to.deep.equal([
      'OrderMatched ask-98',
      'OrderMatched ask-99',
      'OrderReleased bid-101',
    ])
    const [first, second] = changes
    if (first?.kind !== 'OrderMatched' || second?.kind !== 'OrderMatched')
      throw new Error('no match')
    expect(first.match).to.deep.include({ takerOrderId: 'bid-101', price: priceE18(98n * E18) })
    expect(second.match.amount).to.equal(E18)
    expect(bestOf(market.state.book, 'buy')).to.equal(undefined)
  })

  it('closes again with the facts, and leaves no order out', () => {
    observeMarket(market)
    place(market, { orderId: 'ask', side: 'sell', price: 100 })
    observeMarket(market, { halted: true })
    expect(kinds(place(market, { orderId: 'bid', side: 'buy', price: 100 }))).to.deep.equal([
      'OrderPlaced bid',
    ])
    observeMarket(market)
    expect(kinds(market.apply({ kind: 'Tick' }).changes)).to.deep.equal([
      'OrderMatched ask',
      'OrderReleased bid',
    ])
  })

  it('clamps a match, and lets the order step aside that its pair rule names', () => {
    observeMarket(market)
    place(market, { orderId: 'ask', side: 'sell', price: 100, amount: 7 })
    const changes = place(market, { orderId: 'bid', side: 'buy', price: 100, amount: 7 })
    const amounts = changes.flatMap((change) =>
      change.kind === 'OrderMatched' ? [change.match.amount / E18] : [],
    )
    expect(amounts).to.deep.equal([5n, 2n])
    place(market, { orderId: 'far', side: 'sell', price: 111 })
    const [refused] = place(market, { orderId: 'bid-2', side: 'buy', price: 120 })
    expect(refused).to.deep.include({ status: 'cancelled', cancelReason: 'too_far_from_mark' })
  })

  it('holds an order beyond its own means, and returns it when these grow', () => {
    observeMarket(market)
    place(market, { orderId: 'ask', side: 'sell', price: 100 })
    const [held] = place(market, { orderId: 'bid', side: 'buy', price: 100, credit: 100 })
    expect(held).to.deep.include({ kind: 'OrderPlaced', hold: 'insufficient_balance' })
    const facts = toyAccountFacts({ credit: 200n * E18 })
    const { changes } = market.apply({
      kind: 'AccountObserved',
      account: {
        subaccountId: 1n,
        facts,
        custodyOwner: `0x${'a'.repeat(40)}`,
        leaving: false,
        blockNumber: 2n,
        blockTimeSec: START_MS / 1000,
      },
    })
    expect(kinds(changes)).to.deep.equal(['OrderMatched ask', 'OrderReleased bid'])
  })

  it('reviews accounts when the market is observed', () => {
    observeMarket(market)
    place(market, { orderId: 'ask', side: 'sell', price: 100 })
    place(market, { orderId: 'bid', side: 'buy', price: 100, credit: 190 })
    observeMarket(market, { mark: 95n * E18 })
    const { changes } = market.apply({ kind: 'Tick' })
    expect(kinds(changes)).to.deep.equal(['OrderMatched ask', 'OrderReleased bid'])
  })

  it('goes on from a snapshot as it would have gone on without', () => {
    observeMarket(market)
    place(market, { orderId: 'ask', side: 'sell', price: 100, amount: 4 })
    place(market, { orderId: 'bid', side: 'buy', price: 100, credit: 300 })
    const restored = restoreSnapshot(takeSnapshot(market.state))
    expect(takeSnapshot(restored)).to.deep.equal(takeSnapshot(market.state))
    const next = matcherOrder({
      orderId: 'bid-2',
      side: 'buy',
      subaccountId: 1n,
      limitPrice: MARK,
      desiredAmount: amountE18(2n * E18),
    })
    const logged = {
      source: 'test',
      sourceNo: 1_000,
      atMs: market.nowMs(),
      command: { kind: 'PlaceOrder', order: next },
    } as const
    const changes = applyCommand(restored, logged).changes
    expect(changes).to.deep.equal(applyCommand(market.state, logged).changes)
    expect(kinds(changes)).to.deep.equal(['OrderPlaced bid-2'])
    expect(changes[0]).to.have.property('hold', 'insufficient_balance')
  })
})
