import { emitChange, type Step } from './emit-change.js'
import { earliestMs, takeDueDeadline } from './deadlines.js'
import { isExpired, isExpiring, statusOf, type LiveOrder } from './live-order.js'
import { holdExpiring } from './match-incoming.js'
import { nextDeadlineMs } from './matcher-state.js'
import { DEADLINES_MAX_PER_STEP } from './matching-limits.js'
import { releaseHold } from './release-hold.js'

/**
 * Carries out what has become due at the market's time: holds end, orders enter their last seconds, orders expire
 * (decision B8). Returns whether more is due than one step may do.
 */
export function applyTime(step: Step): boolean {
  const { state } = step
  if (earliestMs(state.deadlines) > state.nowMs) return false
  for (let done = 0; done < DEADLINES_MAX_PER_STEP; done++) {
    const deadline = takeDueDeadline(state.deadlines, state.nowMs)
    if (deadline === undefined) return false
    const live = state.orders.get(deadline.orderId)
    if (live?.rank === deadline.rank && (nextDeadlineMs(live) ?? Infinity) <= state.nowMs) {
      applyDeadline(step, live)
    }
  }
  return earliestMs(state.deadlines) <= state.nowMs
}

function applyDeadline(step: Step, live: LiveOrder): void {
  const { nowMs } = step.state
  if (isExpired(live, nowMs)) {
    // One that is wholly in settlement waits for that: the result decides whether it ends filled or expired.
    if (statusOf(live) === 'active') expire(step, live)
  } else if (isExpiring(live, nowMs)) {
    holdExpiring(step, live)
  } else {
    releaseHold(step, live)
  }
}

function expire(step: Step, live: LiveOrder): void {
  live.gone = 'expired'
  live.hold = undefined
  emitChange(step, live, { kind: 'OrderExpired' })
}
