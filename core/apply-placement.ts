import { joinAccount } from './accounts.js'
import type { Command } from './command.js'
import { emitChange, markCancelled, standing, type Step } from './emit-change.js'
import { isExpired, isExpiring, newLiveOrder, progressOf, type LiveOrder } from './live-order.js'
import { matchIncoming } from './match-incoming.js'
import { ownerNonceKey, scheduleOrder } from './matcher-state.js'
import { LIVE_ORDERS_MAX } from './matching-limits.js'
import { observeIfNewer } from './review-account.js'
import type { CommandAnswer } from './apply-command.js'

type Placement = Extract<Command, { kind: 'PlaceOrder' }>

/** Puts an order into the market: it matches what it crosses, the rest joins the book or waits hidden. */
export function applyPlacement(step: Step, { order, account }: Placement): CommandAnswer {
  const { state } = step
  const nonceKey = ownerNonceKey(order.owner, order.nonce)
  if (state.orders.has(order.orderId)) return { kind: 'refused', code: 'duplicate_order_id' }
  if (state.orderIdByNonce.has(nonceKey)) return { kind: 'refused', code: 'duplicate_nonce' }
  state.rank += 1
  const live = newLiveOrder(order, state.rank, state.nowMs)
  state.orders.set(order.orderId, live)
  state.orderIdByNonce.set(nonceKey, order.orderId)
  const own = joinAccount(state, live)
  if (account !== undefined) observeIfNewer(step, own, account)
  enter(step, live)
  emitChange(step, live, { kind: 'OrderPlaced', order, rank: live.rank, ...standing(live) })
  scheduleOrder(state, live)
  return { kind: 'order', order, progress: progressOf(live) }
}

function enter(step: Step, live: LiveOrder): void {
  const { state } = step
  if (live.filled === live.order.desiredAmount) return
  if (isExpired(live, state.nowMs)) {
    live.gone = 'expired'
  } else if (state.orders.size > LIVE_ORDERS_MAX) {
    markCancelled(step, live, 'market_full')
  } else if (live.order.signatureStatus === 'unchecked') {
    live.hold = { reason: 'signature_unchecked' }
  } else if (isExpiring(live, state.nowMs)) {
    live.hold = { reason: 'expiring' }
  } else {
    matchIncoming(step, live)
  }
}
