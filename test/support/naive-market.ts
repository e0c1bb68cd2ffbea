import type { Match } from '../../core/change.js'
import type { Command } from '../../core/command.js'
import type { Order } from '../../core/order.js'

/**
 * The market's rules once more, written without any structure: a list of orders that is filtered and sorted afresh
 * for every question. Slow, short, and sharing no code with the real step beyond the types.
 */
interface NaiveOrder {
  readonly order: Order
  readonly rank: number
  filled: bigint
  pending: bigint
  gone?: string
  /** Infinity while the chain is to be asked about its signature. */
  heldUntilMs?: number
  refusals: number[]
}

export interface NaiveMarket {
  readonly orders: NaiveOrder[]
  readonly matches: (Match & { done: boolean })[]
  nowMs: number
}

export const naiveMarket = (): NaiveMarket => ({ orders: [], matches: [], nowMs: 0 })

const rest = (it: NaiveOrder): bigint => it.order.desiredAmount - it.filled - it.pending

const expiringAt = (it: NaiveOrder): number => it.order.goodUntilSec * 1000 - 10_000

/** What can be hit of an order at the market's time. */
export function naiveOpen(market: NaiveMarket, it: NaiveOrder): bigint {
  const held = it.heldUntilMs !== undefined || market.nowMs >= expiringAt(it)
  return it.gone !== undefined || held ? 0n : rest(it)
}

export function naiveStatus(it: NaiveOrder): string {
  if (it.gone !== undefined) return it.gone
  if (it.filled === it.order.desiredAmount) return 'filled'
  return rest(it) === 0n ? 'matching' : 'active'
}

/** Applies one command at a time; the settlement of a match is named by its index. */
export function naiveApply(market: NaiveMarket, command: Command, nowMs: number): void {
  passTime(market, nowMs)
  if (command.kind === 'PlaceOrder') {
    const { order } = command
    const it = {
      order,
      rank: market.orders.length + 1,
      filled: order.initialFilled,
      pending: 0n,
      refusals: [],
    }
    market.orders.push(it)
    if (nowMs >= order.goodUntilSec * 1000) expire(it)
    else if (order.signatureStatus === 'unchecked') hold(it, Infinity)
    else if (nowMs < expiringAt(it)) enter(market, it)
  } else if (command.kind === 'SignatureChecked') {
    judgeSignature(market, command)
  } else if (command.kind === 'CancelOrder') {
    const it = market.orders.find((one) => one.order.nonce === command.nonce)
    if (it !== undefined && naiveStatus(it) === 'active') it.gone = 'cancelled'
  } else if (command.kind === 'SettlementReported') {
    settle(market, command)
  }
}

function hold(it: NaiveOrder, untilMs: number): void {
  if (naiveStatus(it) !== 'filled') it.heldUntilMs = untilMs
}

function judgeSignature(
  market: NaiveMarket,
  { orderId, valid }: Extract<Command, { kind: 'SignatureChecked' }>,
): void {
  const it = market.orders.find((one) => one.order.orderId === orderId)
  if (it === undefined || it.gone !== undefined) return
  if (!valid && naiveStatus(it) === 'active') it.gone = 'cancelled'
  else if (!valid) hold(it, it.heldUntilMs ?? Infinity)
  else if (it.heldUntilMs === Infinity && market.nowMs < expiringAt(it)) {
    delete it.heldUntilMs
    enter(market, it)
  }
}

function expire(it: NaiveOrder): void {
  if (naiveStatus(it) === 'active') it.gone = 'expired'
}

/** Lets each order's moments come in the order of time, then of placement. */
function passTime(market: NaiveMarket, nowMs: number): void {
  market.nowMs = nowMs
  const due = market.orders
    .filter((it) => it.gone === undefined)
    .map((it) => ({ it, atMs: Math.min(it.heldUntilMs ?? Infinity, expiringAt(it)) }))
    .filter(({ atMs }) => atMs <= nowMs)
    .sort((a, b) => a.atMs - b.atMs || a.it.rank - b.it.rank)
  for (const { it } of due) {
    if (nowMs >= it.order.goodUntilSec * 1000) expire(it)
    else if (nowMs < expiringAt(it) && it.heldUntilMs !== undefined) {
      delete it.heldUntilMs
      enter(market, it)
    }
  }
}

function enter(market: NaiveMarket, incoming: NaiveOrder): void {
  const buying = incoming.order.side === 'buy'
  for (;;) {
    const [best] = market.orders
      .filter((it) => it.order.side !== incoming.order.side && naiveOpen(market, it) > 0n)
      .filter((it) =>
        buying
          ? it.order.limitPrice <= incoming.order.limitPrice
          : it.order.limitPrice >= incoming.order.limitPrice,
      )
      .sort((a, b) => {
        const byPrice = Number(a.order.limitPrice - b.order.limitPrice)
        return (buying ? byPrice : -byPrice) || a.rank - b.rank
      })
    if (best === undefined || rest(incoming) === 0n || incoming.gone !== undefined) return
    if (best.order.subaccountId === incoming.order.subaccountId) incoming.gone = 'cancelled'
    else match(market, incoming, best)
  }
}

function match(market: NaiveMarket, incoming: NaiveOrder, best: NaiveOrder): void {
  const offered = naiveOpen(market, best)
  const amount = offered < rest(incoming) ? offered : rest(incoming)
  const maker = best.rank < incoming.rank ? best : incoming
  const taker = maker === best ? incoming : best
  incoming.pending += amount
  best.pending += amount
  market.matches.push({
    settlementId: `${market.matches.length}`,
    makerOrderId: maker.order.orderId,
    takerOrderId: taker.order.orderId,
    price: maker.order.limitPrice,
    amount: amount as Match['amount'],
    takerFee: 0n as Match['takerFee'],
    done: false,
  })
}

function settle(
  market: NaiveMarket,
  command: Extract<Command, { kind: 'SettlementReported' }>,
): void {
  const it = market.matches[Number(command.settlementId)]
  if (it === undefined || it.done) return
  it.done = true
  const [maker, taker] = [it.makerOrderId, it.takerOrderId].map((id) =>
    market.orders.find((one) => one.order.orderId === id),
  ) as [NaiveOrder, NaiveOrder]
  maker.pending -= it.amount
  taker.pending -= it.amount
  if (command.outcome.kind === 'success') {
    maker.filled += it.amount
    taker.filled += it.amount
    return
  }
  const { guilty } = command.outcome
  const legs = guilty === 'taker' ? [taker, maker] : [maker, taker]
  for (const leg of legs) {
    const innocent = guilty === (leg === maker ? 'taker' : 'maker')
    if (leg.gone === undefined) comeBack(market, leg, innocent)
  }
}

function comeBack(market: NaiveMarket, it: NaiveOrder, innocent: boolean): void {
  const { nowMs } = market
  if (!innocent) it.refusals.push(nowMs)
  const [first = nowMs] = it.refusals
  if (!innocent && it.refusals.length >= 3 && nowMs - first >= 60_000) it.gone = 'cancelled'
  else if (nowMs >= it.order.goodUntilSec * 1000) it.gone = 'expired'
  else if (nowMs >= expiringAt(it)) return
  else if (!innocent) hold(it, nowMs + 30_000)
  else if (it.heldUntilMs === undefined) enter(market, it)
}
