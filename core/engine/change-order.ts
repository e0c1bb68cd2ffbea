import { answerOrder, type CommandAnswer, type RefusedByMarket } from '../model/command-answer.js'
import type { Command } from '../model/command.js'
import { ENDED_BY_ACCOUNT, type AskedReason } from '../model/hold.js'
import { LIVE_ORDERS_MAX } from '../model/limits.js'
import { isExpired, statusOf, type LiveOrder } from '../model/live-order.js'
import type { Order } from '../model/order.js'
import { amountE18, type AmountE18 } from '../money.js'
import { whyCancelled } from './cancel-many.js'
import { cancelOrder, emitChange, type Step } from './emit-change.js'
import { isOfEndedLease } from './leases.js'
import { releaseHold } from './match.js'
import type { MatcherState } from './state.js'

/** `cancel_reason` of an order that another one has replaced. */
export const REPLACED = 'replaced'

/**
 * The active order of the new order's owner that it replaces, or why it does not: both must be of one subaccount and one
 * side, and the new one must ask for more than is settled or matched of the old one.
 */
export function findReplaced(
  state: MatcherState,
  { owner, subaccountId, side, desiredAmount }: Order,
  nonce: bigint,
): LiveOrder | RefusedByMarket {
  const old = state.owners.get(owner)?.get(nonce)
  if (old === undefined || statusOf(old) !== 'active') return 'active_order_not_found'
  if (whyCancelled(state, old) !== undefined) return 'active_order_not_found'
  if (old.order.subaccountId !== subaccountId || old.side !== side) return 'replacement_differs'
  return desiredAmount > old.filled + old.pending ? old : 'replacement_too_small'
}

/** The new order with what is settled or matched of the old one counted as filled: only the rest opens. */
export const asReplacement = (order: Order, { filled, pending, orderId }: LiveOrder): Order => ({
  ...order,
  initialFilled: amountE18(filled + pending),
  replaces: orderId,
})

/** Why the new order would end with its placement, whatever the book holds; the old one then stays. */
export function whyEndsAtOnce(
  state: MatcherState,
  live: LiveOrder,
  old: LiveOrder,
): RefusedByMarket | undefined {
  const { nowMs, enabled, orders } = state
  const { means } = state.trading
  if (isOfEndedLease(state, live.order)) return 'replacement_ends'
  const isFull = orders.size >= LIVE_ORDERS_MAX && old.pending > 0n
  const isPointless = means.endOf?.(live.account.riskAccount, live) !== undefined
  return isExpired(live, nowMs) || !enabled || isFull || isPointless
    ? 'replacement_ends'
    : undefined
}

type Reduction = Extract<Command, { kind: 'ReduceOrder' }>

/**
 * Shrinks an active order to the desired amount; it keeps its rank. What leaves nothing open cancels it, as 0 does. The
 * amount that it has already is answered as done, so that a reduction may be sent again.
 */
export function applyReduction(
  step: Step,
  { owner, nonce, desired, reason }: Reduction,
): CommandAnswer {
  const live = step.state.owners.get(owner)?.get(nonce)
  if (live === undefined || statusOf(live) !== 'active') {
    return { kind: 'refused', code: 'active_order_not_found' }
  }
  const least = amountE18(live.filled + live.pending)
  if (desired !== 0n && desired < least) {
    return { kind: 'refused', code: 'reduction_too_small', amount: least }
  }
  if (desired > live.desired) {
    return { kind: 'refused', code: 'reduction_not_smaller', amount: live.desired }
  }
  if (desired === 0n || desired === least) cancelOrder(step, live, reason as AskedReason)
  else if (desired < live.desired) reduce(step, live, desired)
  return answerOrder(live)
}

function reduce(step: Step, live: LiveOrder, desired: AmountE18): void {
  step.state.capture?.keep(live)
  live.unmatched = amountE18(live.unmatched + desired - live.desired)
  restateDesired(step, live, desired)
  const { hold } = live
  // Its account may carry the smaller order.
  const waits = hold !== undefined && hold.untilMs === undefined
  if (waits && ENDED_BY_ACCOUNT.has(hold.reason)) releaseHold(step, live)
}

/** States another desired amount of an order, at least what is filled, pending and unmatched of it. */
export function restateDesired(step: Step, live: LiveOrder, desired: AmountE18): void {
  step.state.capture?.keep(live)
  live.desired = desired
  const { hold } = live
  emitChange(step, live, { kind: 'OrderResized', ...(hold && { hold: hold.reason }) })
}
