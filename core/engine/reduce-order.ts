import { amountE18, type AmountE18 } from '../money.js'
import { ENDED_BY_ACCOUNT, type AskedReason } from './change.js'
import type { Command } from './command.js'
import { answerOrder, type CommandAnswer } from './command-answer.js'
import { cancelOrder, emitChange, type Step } from './emit-change.js'
import { statusOf, type LiveOrder } from './live-order.js'
import { releaseHold } from './match.js'

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
  resizeOrder(step, live, desired)
  const { hold } = live
  // Its account may carry the smaller order.
  const waits = hold !== undefined && hold.untilMs === undefined
  if (waits && ENDED_BY_ACCOUNT.has(hold.reason)) releaseHold(step, live)
}

/** Gives an order another desired amount, at least what is filled and pending of it. */
export function resizeOrder(step: Step, live: LiveOrder, desired: AmountE18): void {
  step.state.capture?.keep(live)
  live.unmatched = amountE18(live.unmatched + desired - live.desired)
  live.desired = desired
  const { hold } = live
  emitChange(step, live, { kind: 'OrderResized', ...(hold && { hold: hold.reason }) })
}
