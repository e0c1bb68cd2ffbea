import { expect } from 'chai'
import fc from 'fast-check'
import { foreseeOrder } from '../../api-gateway/foresee-order.js'
import { judgedFacts } from '../../bus-schemas/order-verdict.js'
import type { Market } from '../../core/model/market.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import type { Block } from '../../core/model/change.js'
import type { Match } from '../../core/model/match.js'
import type { Command } from '../../core/model/command.js'
import type { CommandAnswer } from '../../core/model/command-answer.js'
import { SWEEP_MAX_MATCHES } from '../../core/model/limits.js'
import type { Order, TimeInForce } from '../../core/model/order.js'
import { formatDecimal } from '../../core/decimal.js'
import { amountE18, E18, priceE18 } from '../../core/money.js'
import { openReadModel } from '../../data/history/read-model.js'
import { aFuture, aMarket, openedState } from '../support/builders.js'
import { observedFuture } from '../support/future.js'
import { openHistory, streamed } from '../support/history.js'
import { matcherOrder, START_MS } from '../support/matching.js'
import { runs } from '../support/property-runs.js'

const e18 = (value: number): bigint => BigInt(Math.round(value * 1_000)) * (E18 / 1_000n)
const text = (value: bigint): string => formatDecimal(value, 18)

interface Kind {
  readonly market: Market
  /** What the chain shows of it. */
  readonly observed?: ReturnType<typeof observedFuture>
  /** In order, some of them where the chain fills nothing now. */
  readonly prices: readonly number[]
  /** Those in the middle: what crosses the lowest or the highest of them may match. */
  readonly near: readonly [low: number, middle: number, high: number]
}

const SPOT: Kind = {
  market: aMarket(),
  prices: [0.5, 0.6, 0.7, 0.8, 9, 10, 11],
  near: [0.7, 0.8, 9],
}
/** Its index is 1,500. */
const FUTURE: Kind = {
  market: aFuture(),
  observed: observedFuture(),
  prices: [90, 1_100, 1_200, 1_480, 1_500, 1_520, 1_800, 10_000],
  near: [1_480, 1_500, 1_520],
}

interface Wish {
  readonly price: number
  /** In thousands. */
  readonly size: number
}

interface Coming extends Wish {
  readonly buy: boolean
  readonly timeInForce: TimeInForce | undefined
  readonly postOnly: 'slide' | 'reject' | undefined
}

/** The matcher of a market whose book these orders have made, its blocks, and what it does with one more. */
function bookOf({ market, observed }: Kind, resting: readonly Order[]) {
  const state = openedState({ ...market, takerFeeBps: 25 })
  const blocks: Block[] = []
  let sourceNo = 0
  const apply = (command: Command) => {
    sourceNo += 1
    const logged = { source: 'test', sourceNo, atMs: START_MS, command }
    const matches: Match[] = []
    let answer: CommandAnswer | undefined
    for (const { block, results } of applyMessage(state, sourceNo, [logged])) {
      if (block !== undefined) blocks.push(block)
      answer = results[0]?.applied.answer ?? answer
      for (const change of block?.changes ?? [])
        if (change.kind === 'OrderMatched') matches.push(change.match)
    }
    return { answer, matches }
  }
  if (observed !== undefined) apply({ kind: 'MarketObserved', observation: observed })
  for (const order of resting) apply({ kind: 'PlaceOrder', order })
  return { blocks, place: (order: Order) => apply({ kind: 'PlaceOrder', order }) }
}

const orderOf = (
  { market }: Kind,
  { buy, size, price }: Wish & { readonly buy: boolean },
  fields: Partial<Order> & Pick<Order, 'orderId'>,
): Order =>
  matcherOrder({
    market: market.market,
    side: buy ? 'buy' : 'sell',
    subaccountId: buy ? 1n : 2n,
    desiredAmount: amountE18(e18(size * 1_000)),
    limitPrice: priceE18(e18(price)),
    ...fields,
  })

/** What the gateway foresees of an order by the book that the feed has made. */
function foreseen(
  { market, observed }: Kind,
  { blocks, order, nowMs = START_MS }: { blocks: readonly Block[]; order: Order; nowMs?: number },
) {
  const history = openHistory([market])
  const readModel = openReadModel(history.path)
  try {
    history.projection.applyBatch(streamed(blocks))
    const facts = judgedFacts(market).write(observed === undefined ? {} : { observed })
    return foreseeOrder({ readModel, nowMs: () => nowMs }, market, { kind: 'valid', order, facts })
  } finally {
    readModel.close()
    history.remove()
  }
}

function compare(kind: Kind, resting: readonly Order[], coming: Order) {
  const book = bookOf(kind, resting)
  const { outcome, refusal } = foreseen(kind, { blocks: book.blocks, order: coming })
  const { answer, matches } = book.place(coming)
  if (answer?.kind !== 'order') {
    expect(refusal, 'the market refuses it').not.to.equal(undefined)
    return undefined
  }
  const { status, open, heldReason, cancelReason } = answer.progress
  const shown = {
    status: outcome?.status,
    open: outcome?.open_amount,
    limit: outcome?.limit_price,
    held: outcome?.held_reason,
    cancelled: outcome?.cancel_reason,
    orders: outcome?.fills?.orders ?? 0,
    amount: outcome?.fills?.amount ?? '0',
    fee: outcome?.fills?.fee ?? '0',
    worst: outcome?.fills?.worst_price,
    complete: outcome?.complete,
  }
  const sum = (of: (match: Match) => bigint): string =>
    text(matches.reduce((total, match) => total + of(match), 0n))
  const worst = matches.at(-1)?.price
  expect(shown).to.deep.equal({
    status,
    open: text(open),
    limit: text(answer.order.limitPrice),
    held: heldReason,
    cancelled: cancelReason,
    orders: matches.length,
    amount: sum(({ amount }) => amount),
    fee: sum(({ takerFee }) => takerFee),
    worst: worst === undefined ? undefined : text(worst),
    complete: heldReason !== 'continuing',
  })
  return outcome
}

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `o${index}`)

describe('what is foreseen of an order by the book of the read model', () => {
  const size = fc.integer({ min: 1, max: 3 })
  const timeInForce = fc.constantFrom(undefined, undefined, 'IOC' as const, 'FOK' as const)
  const postOnly = fc.constantFrom(undefined, undefined, undefined, 'slide' as const)
  const buy = fc.boolean()
  const wishes = (prices: readonly number[], minLength: number, maxLength: number) =>
    fc.array(fc.record({ price: fc.constantFrom(...prices), size }), { minLength, maxLength })
  const controlled = (wish: fc.Arbitrary<Wish & { readonly buy: boolean }>) =>
    fc
      .record({ wish, timeInForce, postOnly })
      .map(({ wish: wished, ...controls }): Coming => ({ ...wished, ...controls }))

  interface Case {
    readonly coming: Coming
    /** Of the other side. */
    readonly meets: readonly Wish[]
    readonly others: readonly Wish[]
  }

  /** Few orders at any price, or about as many as one step matches that a sweep meets, and others that it does not. */
  const cases = ({ prices, near }: Kind): fc.Arbitrary<Case> => {
    const [low, , high] = near
    const any = fc.record({
      buy,
      price: fc.constantFrom(...prices),
      size: fc.integer({ min: 1, max: 30 }),
    })
    const sweep = buy.map((isBuy) => ({ buy: isBuy, price: isBuy ? high : low, size: 1_000 }))
    const few = fc.record({
      coming: controlled(any),
      meets: wishes(prices, 0, 12),
      others: wishes(prices, 0, 12),
    })
    const many = fc.record({
      coming: controlled(sweep),
      others: wishes(prices, 0, 40),
      meets: wishes(near, SWEEP_MAX_MATCHES - 2, SWEEP_MAX_MATCHES + 3),
    })
    return fc.oneof({ weight: 3, arbitrary: few }, { weight: 2, arbitrary: many })
  }

  for (const kind of [SPOT, FUTURE]) {
    it(`is what the matcher does with it, on a ${kind.market.contractType} (ORD-090)`, () => {
      const seen = { whole: 0, inPart: 0, filled: 0 }
      const property = fc.property(cases(kind), ({ coming, meets, others }) => {
        const { buy, timeInForce, postOnly } = coming
        const all = [
          ...meets.map((wish) => ({ ...wish, buy: !buy })),
          // Beyond all that may match.
          ...others.map((wish) => ({ ...wish, price: wish.price * (buy ? 30 : 0.01), buy: !buy })),
          ...others.map((wish) => ({ ...wish, price: wish.price * (buy ? 0.4 : 2.5), buy })),
        ]
        const ids = idsOf(all.length)
        const resting = all.map((wish, i) => orderOf(kind, wish, { orderId: ids[i] ?? '' }))
        const order = orderOf(kind, coming, {
          orderId: 'coming',
          ...(timeInForce === undefined ? { ...(postOnly && { postOnly }) } : { timeInForce }),
        })
        const outcome = compare(kind, resting, order)
        if (outcome === undefined) return
        seen[outcome.complete ? 'whole' : 'inPart'] += 1
        if (outcome.fills !== undefined) seen.filled += 1
      })
      fc.assert(property, { numRuns: runs(80) })
      for (const [what, times] of Object.entries(seen)) expect(times, what).to.be.greaterThan(0)
    })
  }

  it('finds what is in reach behind any number of orders that the band has left', () => {
    const far = idsOf(SWEEP_MAX_MATCHES + 50).map((orderId) =>
      orderOf(FUTURE, { buy: false, price: 90, size: 1 }, { orderId }),
    )
    const near = orderOf(FUTURE, { buy: false, price: 1_500, size: 7 }, { orderId: 'near' })
    const coming = orderOf(FUTURE, { buy: true, price: 1_520, size: 7 }, { orderId: 'coming' })
    const outcome = compare(FUTURE, [...far, near], coming)
    expect(outcome?.fills).to.include({ amount: '7000', orders: 1 })
    expect(outcome?.complete).to.equal(true)
  })

  it('says when the sweep goes on beyond what one step matches', () => {
    const many = idsOf(SWEEP_MAX_MATCHES + 10).map((orderId) =>
      orderOf(SPOT, { buy: false, price: 0.5, size: 1 }, { orderId }),
    )
    const sweeping = (fields: Partial<Order> = {}, count = many.length) => {
      const wish = { buy: true, price: 0.6, size: count }
      return compare(SPOT, many, orderOf(SPOT, wish, { orderId: 'coming', ...fields }))
    }
    const shown = sweeping()
    expect(shown).to.include({ complete: false, held_reason: 'continuing' })
    expect(shown?.fills?.orders).to.equal(SWEEP_MAX_MATCHES)
    expect(sweeping({}, SWEEP_MAX_MATCHES)).to.include({ complete: true, open_amount: '0' })
    expect(sweeping({ timeInForce: 'FOK' })).to.include({ complete: true })
  })

  it('is not hidden by orders that are about to expire, and says where there are too many', () => {
    const late = (count: number) =>
      idsOf(count).map((orderId) => {
        const goodUntilSec = START_MS / 1_000 + 40
        return orderOf(SPOT, { buy: false, price: 0.5, size: 1 }, { orderId, goodUntilSec })
      })
    const rests = orderOf(SPOT, { buy: false, price: 0.6, size: 7 }, { orderId: 'rests' })
    const coming = orderOf(SPOT, { buy: true, price: 0.6, size: 7 }, { orderId: 'coming' })
    const foreseenLater = (count: number) => {
      const { blocks } = bookOf(SPOT, [...late(count), rests])
      return foreseen(SPOT, { blocks, order: coming, nowMs: START_MS + 35_000 }).outcome
    }
    const some = foreseenLater(SWEEP_MAX_MATCHES + 50)
    expect(some).to.deep.include({ complete: true, open_amount: '0' })
    expect(some?.fills).to.include({ amount: '7000', orders: 1 })
    expect(foreseenLater(1_000)).to.include({ complete: false })
  })
})
