import { EXPIRY_MARGIN_MS, LIVE_ORDERS_MAX, PASSED_OVER_MAX } from '../model/limits.js'
import { isExpiring, newLiveOrder, type LiveOrder, type Parents } from '../model/live-order.js'
import type { Order, Side } from '../model/order.js'
import { priceE18, type PriceE18 } from '../money.js'
import { deadlineMs } from '../time.js'
import { whyCancelled } from './cancel-many.js'
import { areOwn } from './controls.js'
import { crossingOrders, reachOf } from './match.js'
import { barredOf } from './signer-pairs.js'
import type { MatcherState } from './state.js'
import { withoutRoom } from './window-room.js'

/**
 * A new order as the market books it. A post-only order that would meet an order of the other side is booked one tick behind
 * the first of them, if it asks for it; undefined when the market refuses it, also where that price is out of reach. An order
 * that may not match when it comes (`mayMatch`) stays as it is.
 */
export function bookedOrder(
  state: MatcherState,
  order: Order,
  parents: Parents,
): Order | undefined {
  const { postOnly, side, limitPrice } = order
  if (postOnly === undefined || !mayMatch(state, order)) return order
  const touch = touchOf(state, order, parents)
  if (touch === undefined) return order
  const booked = priceE18(behind(touch, side, state.rules.tickSize))
  if (postOnly === 'reject' || booked <= 0n || !reachOf(state)(booked)) return undefined
  return { ...order, limitPrice: booked, signedLimitPrice: limitPrice }
}

function mayMatch(state: MatcherState, order: Order): boolean {
  const { enabled, nowMs, orders } = state
  const isChecked = order.signatureStatus === 'checked'
  const isOpen = order.initialFilled < order.desiredAmount
  const isInTime = nowMs < deadlineMs(order.goodUntilSec) - EXPIRY_MARGIN_MS
  const hasRoom = orders.size < LIVE_ORDERS_MAX || order.replaces !== undefined
  return enabled && isChecked && isOpen && isInTime && hasRoom
}

/**
 * The price of the first order that this one would meet, also while nothing may cross; undefined when it would meet none. What
 * matching passes over counts as little as there: prices out of reach, and orders that leave the book where they are met.
 */
function touchOf(state: MatcherState, order: Order, parents: Parents): PriceE18 | undefined {
  const { rank, nowMs } = state
  const incoming = newLiveOrder(order, { ...parents, rank: rank + 1, nowMs })
  let left = 0
  for (const resting of crossingOrders(state, incoming)) {
    if (left === PASSED_OVER_MAX || !leavesWhenMet(state, incoming, resting)) {
      return resting.limitPrice
    }
    left += 1
  }
  return undefined
}

/** Whether the resting order would be cancelled or hidden, not matched, as an incoming one meets it. */
function leavesWhenMet(state: MatcherState, incoming: LiveOrder, resting: LiveOrder): boolean {
  if (isExpiring(resting, state.nowMs)) return true
  if (areOwn(incoming, resting)) return false
  if (whyCancelled(state, resting) !== undefined) return true
  const barred = barredOf(state, incoming, resting)
  if (barred !== undefined) return barred.live === resting
  return withoutRoom(state, incoming, resting)?.aside === resting
}

/** The next price on the tick that does not cross; rounded away from the touch. */
const behind = (touch: PriceE18, side: Side, tick: bigint): bigint =>
  side === 'buy' ? ((touch - 1n) / tick) * tick : (touch / tick + 1n) * tick
