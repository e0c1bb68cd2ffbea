import { venueFaultOf } from '../contracts/faults.js'
import type { SettlementOutcome } from '../model/command.js'
import type { Hold, MarketHold } from '../model/hold.js'
import {
  FACTS_SPARE_MS,
  FAULT_HOLD_MAX_MS,
  FAULT_HOLD_MS,
  REFUSAL_HOLD_MS,
  REFUSALS_MAX,
  REFUSALS_SPAN_MS,
} from '../model/limits.js'
import type { LiveOrder } from '../model/live-order.js'
import { OPEN, type MarketStanding } from '../model/market.js'
import type { Blame } from '../model/match.js'
import type { PriceE18 } from '../money.js'
import { isUnnamed } from '../revert.js'
import { holdForAccount } from './accounts.js'
import { isByCode } from './code-signers.js'
import { markCancelled, type Step } from './emit-change.js'
import { SPARED_FACTS_VERSION } from './engine-version.js'
import { scheduleOrder, type HoldCause, type MarketHolds, type MatcherState } from './state.js'

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

/** The standing that follows from the holds: an operator's pause comes first, a clock before what is judged by it. */
export function standingOf(holds: MarketHolds): MarketStanding {
  const paused = holds.get('operator')
  if (paused !== undefined) return { status: 'paused', reason: paused.reason }
  const restored = holds.get('restored')
  if (restored !== undefined) return { status: 'held', reason: restored.reason }
  const clock = holds.get('clock')
  if (clock !== undefined) return { status: 'held', reason: clock.reason }
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

/**
 * The hold at the market's facts at this time. Without an order nothing can cross, so facts that stay as they are need not be logged
 * each second, and may be older. The first order is one in the next step, and so judged by facts of their full age.
 */
export function holdOfFacts(state: MatcherState, nowMs: number): MarketHold | undefined {
  const { trading, observed, orders, engineVersion } = state
  const isSpared = orders.size === 0 && engineVersion >= SPARED_FACTS_VERSION
  return trading.holdOf?.(observed, nowMs, isSpared ? FACTS_SPARE_MS : 0)
}

/** Brings the holds up to the market's facts and time: those of the contract, and those that time ends. */
export function refreshHolds(step: Step): void {
  const { state } = step
  if (state.trading.holdOf !== undefined) {
    const hold = holdOfFacts(state, state.nowMs)
    if (hold === undefined) liftHold(step, 'facts')
    else holdMarket(step, 'facts', hold)
  }
  if (state.holds.size === 0) return
  for (const [cause, { untilMs }] of state.holds) {
    if (untilMs !== undefined && untilMs <= state.nowMs) liftHold(step, cause)
  }
}

type RevertedOutcome = Extract<SettlementOutcome, { kind: 'reverted' }>
type MatchPair = readonly [LiveOrder, LiveOrder]

/**
 * What bears a reverted match (SET-022, SET-033). An unclear one is judged by the revert's name; where that says nothing
 * either, no order bears it. A revert without a name is the venue's once it has hit two pairs without a common account, so
 * that one hostile order cannot hold a market.
 */
export function blameFor(
  step: Step,
  { guilty, revert }: RevertedOutcome,
  pair: MatchPair,
): Blame | 'neither' {
  const { trading } = step.state
  if (guilty !== 'unclear') return guilty
  const fault = venueFaultOf(trading, revert)
  if (fault !== undefined) return fault === 'holdings' ? 'neither' : 'venue'
  // Only the taker pays a fee, so only the taker can have signed one too low.
  if (revert === 'TM_FeeTooHigh') return 'taker'
  return isUnnamed(revert) && hasHitOthers(step, revert, pair) ? 'venue' : 'neither'
}

/**
 * Whether a match that is blamed on a side counts as a refusal of its order. A fault of the account's manager does not, nor
 * what the venue itself has promised twice.
 */
export const isRefusal = (
  { state: { trading } }: Step,
  { revert, spentElsewhere }: RevertedOutcome,
): boolean => spentElsewhere !== true && venueFaultOf(trading, revert) === undefined

function hasHitOthers({ state }: Step, revert: string, pair: MatchPair): boolean {
  // Code at a signer may end in any way: its matches say nothing of the venue.
  if (pair.some((live) => isByCode(state, live))) return false
  const accounts = pair.map(({ account }) => account.subaccountId)
  const { fault } = state
  if (fault?.revert !== revert) {
    state.fault = { revert, accounts, holdMs: 0 }
    return false
  }
  return !fault.accounts.some((known) => accounts.includes(known))
}

/**
 * Follows a fault that a match at this price has met. It holds the market for 5 s, doubling to 60 s while matches keep
 * meeting it; a fault of the price keeps fills at that price alone from being tried until the next observation of the
 * market (FUT-017).
 */
export function holdForFault(step: Step, revert: string, price: PriceE18): void {
  const { state } = step
  if (venueFaultOf(state.trading, revert) === 'price') {
    state.refusedPrices.add(price)
    return
  }
  // A match that was in flight when the hold began says nothing new.
  if (state.holds.has('chain')) return
  const before = state.fault?.revert === revert ? state.fault.holdMs : 0
  const holdMs = before === 0 ? FAULT_HOLD_MS : Math.min(2 * before, FAULT_HOLD_MAX_MS)
  state.fault = { revert, accounts: [], holdMs }
  holdMarket(step, 'chain', { reason: revert, untilMs: state.nowMs + holdMs })
}

/** Follows what the executor reads of the chain: a fault holds the market for as long as it stands. */
export function observeFault(step: Step, revert: string | undefined): void {
  if (revert !== undefined) {
    holdMarket(step, 'chain', { reason: revert })
    return
  }
  liftHold(step, 'chain')
  step.state.fault = undefined
}

/**
 * Holds an order that its account does not carry until the account has changed. Where its contract counts an order short
 * of margin as refused, it is held for half a minute instead, and cancelled with the third refusal if that is at least a
 * minute after the first (FUT-026). Emits nothing.
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

/** Holds an order until time ends that. Emits nothing. */
export function holdUntil({ state }: Step, live: LiveOrder, hold: Hold): void {
  state.capture?.keep(live)
  live.hold = hold
  scheduleOrder(state, live)
}

/** Counts one more refusal; true with the third, if that is at least a minute after the first. */
export function isRefusedForGood(live: LiveOrder, nowMs: number): boolean {
  if (live.refusals === 0) live.firstRefusedAtMs = nowMs
  live.refusals += 1
  return live.refusals >= REFUSALS_MAX && nowMs - live.firstRefusedAtMs >= REFUSALS_SPAN_MS
}
