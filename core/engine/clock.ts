import type { LoggedCommand } from '../model/command.js'
import { CLOCK_OFF_MAX_MS } from '../model/limits.js'
import type { Step } from './emit-change.js'
import { holdMarket, liftHold } from './holds.js'
import type { MatcherState } from './state.js'

/** Why a market is held while its clock cannot be trusted. */
const CLOCK_SKEW = { reason: 'clock_skew' } as const

/**
 * Moves the market's time to that of the command, unless the clock of the log was more than CLOCK_OFF_MAX_MS off the one of the
 * chain when they were last compared, or the command is so far ahead of all that was trusted: only the next comparison can tell
 * then whether that much time has passed. Meanwhile time stands still, so that nothing expires, and the result is false. A log
 * without a comparison goes by its commands alone.
 */
export function followClock(state: MatcherState, { atMs, command }: LoggedCommand): boolean {
  if (command.kind === 'ClockObserved') state.clock = { atMs, chainMs: command.chainMs }
  if (!isTimeTrusted(state, atMs)) return false
  state.nowMs = Math.max(state.nowMs, atMs)
  return true
}

/** Whether a command of this time, unix milliseconds, would move the market's time, as far as it is no comparison itself. */
export function isTimeTrusted({ clock, nowMs }: MatcherState, atMs: number): boolean {
  if (clock === undefined) return true
  if (Math.abs(clock.atMs - clock.chainMs) > CLOCK_OFF_MAX_MS) return false
  return atMs - Math.max(clock.atMs, nowMs) <= CLOCK_OFF_MAX_MS
}

/** Holds the market while its clock is not trusted. */
export function holdForClock(step: Step, isTrusted: boolean): void {
  if (isTrusted) liftHold(step, 'clock')
  else holdMarket(step, 'clock', CLOCK_SKEW)
}
