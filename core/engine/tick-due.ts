import { TICK_AFTER_MS } from '../model/limits.js'
import { isTimeTrusted } from './clock.js'
import { earliestMs } from './deadlines.js'
import { holdOfFacts } from './holds.js'
import { isReopening } from './match.js'
import type { MatcherState } from './state.js'

// When a market needs a command that carries nothing but time. What asks here is a shell with a clock: the answer is no part of a
// replay, and the tick is.

/** Whether earlier steps have begun what the next one goes on with, whatever its time. */
export const isUnfinished = (state: MatcherState): boolean =>
  state.reviews.size > 0 ||
  isReopening(state) ||
  state.cancelUpToRank > 0 ||
  state.massCancels.size > 0

/**
 * Whether a tick at this time, unix milliseconds, has something to do: an end of an order, a hold or a lease, facts that have become too old
 * or good again, a clock that is trusted again or not any more, what a step has begun; or the log has been without a command for
 * TICK_AFTER_MS. Without one of these a tick changes nothing that is published, and the next command does all that it would have done.
 * May be true once for a deadline that has moved since. Takes a moment, whatever the size of the market.
 */
export function isTickDue(state: MatcherState, atMs: number): boolean {
  const { clock, deadlines, holds, leases } = state
  const isTrusted = isTimeTrusted(state, atMs)
  const nowMs = isTrusted ? Math.max(state.nowMs, atMs) : state.nowMs
  if (isUnfinished(state)) return true
  if (earliestMs(deadlines) <= nowMs || leases.dueMs <= nowMs) return true
  if (isHoldDue(state, nowMs)) return true
  // A market that is held for its clock needs a comparison, not a tick, until its time is trusted.
  if (isTrusted === holds.has('clock')) return true
  return isTrusted && nowMs - Math.max(clock?.atMs ?? 0, state.nowMs) >= TICK_AFTER_MS
}

/** Whether a hold of the market ends or begins by itself at this time. */
function isHoldDue(state: MatcherState, nowMs: number): boolean {
  const { holds, trading } = state
  for (const { untilMs } of holds.values()) {
    if (untilMs !== undefined && untilMs <= nowMs) return true
  }
  if (trading.holdOf === undefined) return false
  return holdOfFacts(state, nowMs)?.reason !== holds.get('facts')?.reason
}
