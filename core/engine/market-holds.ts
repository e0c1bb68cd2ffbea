import type { MarketHold } from '../contracts/contract.js'
import { OPEN, type MarketStanding } from '../contracts/market-terms.js'
import type { Step } from './emit-change.js'

/**
 * What may hold a whole market: an operator, a restored gap, the facts that its contract's gate reads, or a fault of the
 * chain that no order caused. Each cause has at most one hold, which it sets and lifts without regard to the others.
 */
export type HoldCause = 'operator' | 'restored' | 'facts' | 'chain'

/** The market's holds, by cause. While there is one, orders rest visibly and nothing crosses. */
export type MarketHolds = Map<HoldCause, MarketHold>

/** Holds the market at once; a hold of the same cause is replaced. */
export function holdMarket(step: Step, cause: HoldCause, hold: MarketHold): void {
  const { state } = step
  state.holds.set(cause, hold)
  state.closed = true
  restate(step)
}

/** Ends the hold of one cause. What crosses matches when the market next follows its holds. */
export function liftHold(step: Step, cause: HoldCause): void {
  if (step.state.holds.delete(cause)) restate(step)
}

/** The standing that follows from the holds: an operator's pause comes first. */
export function standingOf(holds: MarketHolds): MarketStanding {
  const paused = holds.get('operator')
  if (paused !== undefined) return { status: 'paused', reason: paused.reason }
  const restored = holds.get('restored')
  if (restored !== undefined) return { status: 'held', reason: restored.reason }
  for (const { reason } of holds.values()) return { status: 'held', reason }
  return OPEN
}

function restate(step: Step): void {
  const { state } = step
  const { status, reason } = state.standing
  const standing = standingOf(state.holds)
  if (standing.status === status && standing.reason === reason) return
  state.standing = standing
  step.restated = true
}

/** Brings the holds up to the market's facts and time: the gate's own, and those that time ends. */
export function refreshHolds(step: Step): void {
  const { state } = step
  const { gate } = state.trading
  if (gate !== undefined) {
    const hold = gate(state.observed, state.nowMs)
    if (hold === undefined) liftHold(step, 'facts')
    else holdMarket(step, 'facts', hold)
  }
  if (state.holds.size === 0) return
  for (const [cause, { untilMs }] of state.holds) {
    if (untilMs !== undefined && untilMs <= state.nowMs) liftHold(step, cause)
  }
}
