import { holdForAccount } from './accounts.js'
import { markCancelled, type Step } from './emit-change.js'
import { REFUSAL_HOLD_MS, REFUSALS_MAX, REFUSALS_SPAN_MS } from './limits.js'
import type { Hold, LiveOrder } from './live-order.js'
import { scheduleOrder } from './state.js'

/**
 * Holds an order that its account does not carry until the account has changed. Where its contract counts an order short
 * of margin as refused, it is held for half a minute instead, and cancelled with the third refusal if that is at least a
 * minute after the first (decision F10). Emits nothing.
 */
export function holdUnfit(step: Step, live: LiveOrder, hold: Hold): void {
  const { trading, nowMs, capture } = step.state
  capture?.keep(live)
  const { reason } = hold
  if (trading.countsShortMargin !== true || reason !== 'insufficient_margin') {
    holdForAccount(live, hold)
    return
  }
  if (isRefusedForGood(live, nowMs)) {
    markCancelled(step, live, reason)
    return
  }
  live.hold = { reason, untilMs: nowMs + REFUSAL_HOLD_MS }
  // Time alone ends it.
  live.account.waiting.delete(live)
  scheduleOrder(step.state, live)
}

/** Counts one more refusal; true with the third, if that is at least a minute after the first. */
export function isRefusedForGood(live: LiveOrder, nowMs: number): boolean {
  if (live.refusals === 0) live.firstRefusedAtMs = nowMs
  live.refusals += 1
  return live.refusals >= REFUSALS_MAX && nowMs - live.firstRefusedAtMs >= REFUSALS_SPAN_MS
}
