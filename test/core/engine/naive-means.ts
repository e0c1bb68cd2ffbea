import type { AccountObservation } from '../../../core/model/observation.js'
import { rest, type NaiveHold, type NaiveMarket, type NaiveOrder } from './naive-market.js'
import { signed, sizeOf, type NaiveLeg } from './naive-rules.js'

/** What an account carries, summed up from all its orders, matches and observations for every question. */

type NaiveMatch = NaiveMarket['matches'][number]

const legFor = ({ order }: NaiveOrder, price: bigint, amount: bigint, fee = 0n): NaiveLeg => {
  const size = signed(order.side, amount)
  return { size, worth: price * size, fee }
}

const add = (a: NaiveLeg, b: NaiveLeg): NaiveLeg => ({
  size: a.size + b.size,
  worth: a.worth + b.worth,
  fee: a.fee + b.fee,
})
const NOTHING: NaiveLeg = { size: 0n, worth: 0n, fee: 0n }
const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)
const sizes = (legs: readonly NaiveLeg[]): bigint => sum(legs.map(({ size }) => size))
const lossOf = (value: bigint): bigint => (value < 0n ? value : 0n)
const gainOf = (value: bigint): bigint => (value > 0n ? value : 0n)

function legsOf(market: NaiveMarket, id: bigint, which: (it: NaiveMatch) => boolean): NaiveLeg[] {
  return market.matches.filter(which).flatMap(({ makerOrderId, takerOrderId, ...match }) =>
    market.orders
      .filter(({ order }) => order.subaccountId === id)
      .filter(({ order }) => [makerOrderId, takerOrderId].includes(order.orderId))
      .map((it) => {
        const fee = it.order.orderId === takerOrderId ? match.takerFee : 0n
        return legFor(it, match.price, match.amount, fee)
      }),
  )
}

const newest = (market: NaiveMarket, id: bigint): AccountObservation | undefined =>
  market.seen.findLast(({ subaccountId }) => subaccountId === id)

/** What was settled in blocks that the newest observation does not show: one leg for each block. */
function laterMoves(market: NaiveMarket, id: bigint): NaiveLeg[] {
  const shown = newest(market, id)?.blockNumber ?? 0n
  const blocks = market.matches.flatMap(({ block }) => ((block ?? 0n) > shown ? [block] : []))
  return [...new Set(blocks)].map((block) =>
    legsOf(market, id, (it) => it.block === block).reduce(add, NOTHING),
  )
}

/** Undefined while the account was not observed. */
function positionOf(market: NaiveMarket, id: bigint): bigint | undefined {
  const seen = newest(market, id)
  const { margin } = market.rules
  if (seen === undefined || margin === undefined) return undefined
  return margin.position(seen.facts) + sizes(laterMoves(market, id))
}

const flightOf = (market: NaiveMarket, id: bigint): NaiveLeg[] =>
  legsOf(market, id, ({ done }) => !done)

/** How much of an order would only shrink its account's position; undefined while that is not known. */
export function reducible(market: NaiveMarket, { order }: NaiveOrder): bigint | undefined {
  const position = positionOf(market, order.subaccountId)
  if (position === undefined) return undefined
  const own = flightOf(market, order.subaccountId).filter(({ size }) => isOfSide(order.side, size))
  return gainOf(-signed(order.side, position + sizes(own)))
}

const isOfSide = (side: 'buy' | 'sell', size: bigint): boolean => signed(side, size) > 0n

/** Whether a reduce-only order has nothing to reduce, and nothing that may come back. */
export function isSpent(market: NaiveMarket, it: NaiveOrder): boolean {
  const { reduceOnly, subaccountId, side } = it.order
  if (reduceOnly !== true || reducible(market, it) !== 0n) return false
  return !flightOf(market, subaccountId).some(({ size }) => isOfSide(side, size))
}

/** Whether a match of two orders may raise the sum of all positions above the cap. */
export function exceedsCap(
  market: NaiveMarket,
  pair: readonly NaiveOrder[],
  amount: bigint,
): boolean {
  const { rules, observed, matches } = market
  if (rules.margin === undefined || observed === undefined) return false
  const raised = pair.map(({ order: { subaccountId: id, side } }) => {
    const before = (positionOf(market, id) ?? 0n) + sizes(flightOf(market, id))
    return sizeOf(before + signed(side, amount)) - sizeOf(before)
  })
  const awaiting = sum(matches.filter(({ done }) => !done).map((match) => match.amount))
  const { total, cap } = rules.margin.positions(observed.facts)
  return sum(raised) > 0n && total + 2n * awaiting + sum(raised) > cap
}

interface Asked {
  /** Whether matches in flight are counted. */
  readonly counted: 'alone' | 'with_flight'
  /** The match in question; without it all that is left of the order, at its own limit. */
  readonly at?: { readonly price: bigint; readonly amount: bigint; readonly fee: bigint }
}

/** Why an account does not carry a match of its order. */
export function whyShort(
  market: NaiveMarket,
  it: NaiveOrder,
  { counted, at }: Asked,
): Omit<NaiveHold, 'untilMs'> | undefined {
  const { subaccountId, owner, reduceOnly, limitPrice } = it.order
  const seen = newest(market, subaccountId)
  const { margin } = market.rules
  if (seen === undefined) return undefined
  if (seen.leaving || seen.custodyOwner !== owner) return { reason: 'not_in_custody' }
  if (margin === undefined) return undefined
  if (margin.isFrozen(seen.facts)) return { reason: 'under_liquidation' }
  const left = reduceOnly === true ? (reducible(market, it) ?? 0n) : rest(it)
  const amount = left < rest(it) ? left : rest(it)
  const leg = at ? legFor(it, at.price, at.amount, at.fee) : legFor(it, limitPrice, amount)
  if (carries(market, it, leg, { counted, isRest: at === undefined })) return undefined
  // It is carried while the market has no prices.
  const reason = margin.isValued(seen.facts) ? 'insufficient_margin' : 'margin_unreadable'
  return { reason, needed: sizeOf(leg.size) }
}

/** Decision P7. */
function carries(
  market: NaiveMarket,
  { order }: NaiveOrder,
  leg: NaiveLeg,
  { counted, isRest }: { readonly counted: Asked['counted']; readonly isRest: boolean },
): boolean {
  const { subaccountId: id, side } = order
  const { margin } = market.rules
  const facts = market.observed?.facts
  const seen = newest(market, id)
  const position = positionOf(market, id)
  if (!margin || !facts || !seen || position === undefined || !margin.hasPrices(facts)) return true
  const flight = counted === 'alone' ? [] : flightOf(market, id)
  const own = flight.filter(({ size }) => isOfSide(side, size))
  const other = flight.filter(({ size }) => !isOfSide(side, size))
  const before = position + sizes(own)
  const after = before + leg.size
  const isSmaller = sizeOf(after) <= sizeOf(before) && (after === 0n || after > 0n === before > 0n)
  const isAgainst = leg.size === 0n || leg.size > 0n !== before > 0n
  const reduces = isSmaller && isAgainst
  const gains = margin.values(facts).every((value) => value * leg.size >= leg.worth)
  const isJudged = margin.judgesReductions && !(leg.fee === 0n && gains)
  if (reduces && (isRest || !isJudged)) return true
  if (!margin.isValued(seen.facts)) return false

  const lossesOf = (legs: readonly NaiveLeg[]) =>
    sum(legs.map((one) => lossOf(margin.result(facts, one))))
  const cashOf = (legs: readonly NaiveLeg[]) =>
    sum(legs.map((one) => lossOf(margin.cashResult(facts, one))))
  const later = laterMoves(market, id)
  const settled = sum(later.map((one) => margin.result(facts, one)))
  const cashSettled = sum(later.map((one) => margin.cashResult(facts, one)))
  const requires = (size: bigint) => margin.required(facts, size)
  const released = gainOf(requires(position) - requires(position + sizes(other)))
  const uncovered = gainOf(-lossesOf(other) - released)
  const result = margin.result(facts, leg)
  const equity = margin.equity(seen.facts, facts) + settled + lossesOf(own) + result
  const paid = margin.cashResult(facts, leg)
  const cash = margin.cash(seen.facts, facts) + cashSettled + cashOf(own) + cashOf(other) + paid
  if (paid < 0n && !margin.mayBorrow(facts) && cash < 0n) return false
  if (isJudged && equity < requires(position + leg.size)) return false
  const afterOther = position + sizes(other) + leg.size
  if (isJudged && equity + lossesOf(other) < requires(afterOther)) return false
  return reduces || equity - uncovered >= requires(after)
}

/** Whether an order that waits for its account or its market would be carried now, at the mark, the index or better. */
export function mayReturn(market: NaiveMarket, it: NaiveOrder): boolean {
  const { subaccountId, owner, side, limitPrice } = it.order
  const seen = newest(market, subaccountId)
  const { margin } = market.rules
  if (seen === undefined || it.hold === undefined) return true
  if (seen.leaving || seen.custodyOwner !== owner) return false
  const { reason, needed = rest(it) } = it.hold
  if (reason === 'not_in_custody' || !margin || !market.observed) return true
  if (margin.isFrozen(seen.facts)) return false
  if (reason === 'reduce_only') return reducible(market, it) !== 0n
  if (reason !== 'insufficient_margin' && reason !== 'margin_unreadable') return true
  const prices = [limitPrice, ...margin.values(market.observed.facts)]
  const best = prices.reduce((a, b) => ((side === 'buy') === a < b ? a : b))
  const amount = needed < rest(it) ? needed : rest(it)
  const leg = legFor(it, best, amount)
  return carries(market, it, leg, { counted: 'with_flight', isRest: false })
}

/** Holds that end when the account or the market changes. */
export const WAITS = [
  ...['insufficient_margin', 'margin_unreadable', 'open_interest_cap'],
  ...['reduce_only', 'under_liquidation'],
]
