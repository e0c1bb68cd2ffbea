import type { Order } from '../../../core/model/order.js'
import { crossing, type NaiveMarket, type NaiveOrder } from './naive-market.js'
import { hiddenOf } from './naive-pairs.js'
import { isOwn } from './naive-changes.js'
import { lacksRoom } from './naive-windows.js'

/** A post-only order as it is booked; nothing when it is refused. */
export function asBooked(market: NaiveMarket, order: Order): Order | undefined {
  const waits = order.signatureStatus === 'unchecked' || order.initialFilled === order.desiredAmount
  const isLate = market.nowMs >= order.goodUntilSec * 1000 - 10_000
  const touch = order.postOnly === undefined ? undefined : touched(market, order)
  if (touch === undefined || waits || isLate) return order
  const { tick } = market
  let price = touch
  // To the next price on the tick that is not the touch or beyond.
  do price += order.side === 'buy' ? -1n : 1n
  while (price % tick !== 0n)
  if (order.postOnly === 'reject' || price <= 0n) return undefined
  const range = market.rules.range?.(market.observed, market.nowMs)
  const isOut = range !== undefined && (price < range.low || price > range.high)
  if (isOut || market.refusedPrices.includes(price)) return undefined
  return { ...order, limitPrice: price as Order['limitPrice'] }
}

/** The price of the first order that it would meet: tried on a copy of the market, where some step aside instead. */
function touched(market: NaiveMarket, order: Order): bigint | undefined {
  const orders = market.orders.map((each) => ({ ...each }))
  const copy = { ...market, orders, trust: market.trust.map((each) => ({ ...each })) }
  const incoming: NaiveOrder = {
    order,
    rank: orders.length + 1,
    filled: order.initialFilled,
    pending: 0n,
    refusals: [],
  }
  const met = crossing(copy, incoming).findIndex((it, i) => {
    if (i === 100 || isOwn(it.order, order)) return true
    const hidden = hiddenOf(copy, incoming, it)
    if (hidden !== undefined) return hidden.it === incoming
    return !lacksRoom(copy, incoming, it) || it.hold === undefined
  })
  return crossing(market, incoming)[met]?.order.limitPrice
}
