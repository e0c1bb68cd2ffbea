import { emitChange, standing, type Step } from './emit-change.js'
import { isExpiring, type LiveOrder } from './live-order.js'
import { holdExpiring, matchIncoming } from './match-incoming.js'
import { scheduleOrder } from './matcher-state.js'

/**
 * Ends a hold: the order returns to its place in time, matching like an incoming one (decision A2). One that has to
 * wait on just as before makes no change, so that a congested market does not fill its feed with waiting.
 */
export function releaseHold(step: Step, live: LiveOrder): void {
  const { hold: before, pending } = live
  live.hold = undefined
  if (isExpiring(live, step.state.nowMs)) {
    holdExpiring(step, live)
    return
  }
  matchIncoming(step, live)
  const now = standing(live)
  const waitsOn = now.hold !== undefined && now.hold === before?.reason
  if (!waitsOn || live.pending !== pending) {
    emitChange(step, live, { kind: 'OrderReleased', ...now })
  }
  scheduleOrder(step.state, live)
}
