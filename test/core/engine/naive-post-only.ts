import type { Order } from '../../../core/engine/order.js'
import { open, type NaiveMarket } from './naive-market.js'

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
  return { ...order, limitPrice: price as Order['limitPrice'] }
}

/** The best price of the other side, if the order crosses it. */
function touched(market: NaiveMarket, { side, limitPrice }: Order): bigint | undefined {
  const [best] = open(market, side === 'buy' ? 'sell' : 'buy')
  if (best === undefined) return undefined
  const price = best.order.limitPrice
  return side === 'buy'
    ? price <= limitPrice
      ? price
      : undefined
    : price >= limitPrice
      ? price
      : undefined
}
