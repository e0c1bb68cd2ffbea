import { priceE18, type PriceE18 } from '../money.js'
import { bestOf } from './book.js'
import { EXPIRY_MARGIN_MS, LIVE_ORDERS_MAX } from './limits.js'
import type { Order, Side } from './order.js'
import type { MatcherState } from './state.js'

/** Code of the refusal, and `cancel_reason` of an order that would be the taker of a match after all. */
export const POST_ONLY_WOULD_CROSS = 'post_only_would_cross'

/**
 * A new order as the market books it. A post-only order that crosses the best visible order of the other side is booked one
 * tick behind that, if it asks for it; undefined when the market refuses it. An order that ends or waits hidden when it
 * comes takes nothing now, and stays as it is.
 */
export function bookedOrder(state: MatcherState, order: Order): Order | undefined {
  const { postOnly, side, limitPrice } = order
  if (postOnly === undefined || !mayMatch(state, order)) return order
  const touch = touchOf(state, side, limitPrice)
  if (touch === undefined) return order
  const booked = behind(touch, side, state.rules.tickSize)
  if (postOnly === 'reject' || booked <= 0n) return undefined
  return { ...order, limitPrice: priceE18(booked), signedLimitPrice: limitPrice }
}

function mayMatch(state: MatcherState, order: Order): boolean {
  const { enabled, nowMs, orders } = state
  const isChecked = order.signatureStatus === 'checked'
  const isOpen = order.initialFilled < order.desiredAmount
  const isInTime = nowMs < order.goodUntilSec * 1000 - EXPIRY_MARGIN_MS
  const hasRoom = orders.size < LIVE_ORDERS_MAX || order.replaces !== undefined
  return enabled && isChecked && isOpen && isInTime && hasRoom
}

/** The best visible price of the other side, if an order with this limit crosses it; also while nothing may cross. */
function touchOf({ book }: MatcherState, side: Side, limit: PriceE18): PriceE18 | undefined {
  const price = bestOf(book, side === 'buy' ? 'sell' : 'buy')?.limitPrice
  if (price === undefined) return undefined
  const crosses = side === 'buy' ? limit >= price : limit <= price
  return crosses ? price : undefined
}

/** The next price on the tick that does not cross; rounded away from the touch. */
const behind = (touch: PriceE18, side: Side, tick: bigint): bigint =>
  side === 'buy' ? ((touch - 1n) / tick) * tick : (touch / tick + 1n) * tick
