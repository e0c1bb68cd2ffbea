import { matchCost, promise } from './accounts.js'
import { bestOf, removeFromBook } from './book.js'
import type { Match } from './change.js'
import {
  cancelOrder,
  continueLater,
  emitChange,
  emitMatched,
  markCancelled,
  type Step,
} from './emit-change.js'
import { holdForAccount, whyNotMatched, whyNotOpen } from './funding.js'
import { addPending, isExpiring, openAmount, type LiveOrder } from './live-order.js'
import { CONGESTION_HOLD_MS, PENDING_MATCHES_MAX, SWEEP_MAX_MATCHES } from './matching-limits.js'
import { feePerUnitFloor, takerFeeFloor } from './money.js'
import { scheduleOrder } from './matcher-state.js'

/**
 * Matches an order against the other side of the book: one that was just placed, or one that comes back after a hold.
 * Each counterpart's change is emitted here, so that the book is never seen crossed; the order's own change is left to
 * the caller, who knows its kind. Afterwards the order is whole or partly pending, or carries a hold or a cancellation.
 * Price-time priority, the maker's price, the later placement is the taker (decisions A2, B3, B7, C12). An order whose
 * account is known to be short of what a match takes is held instead, and the other side goes on without it (E13).
 */
export function matchIncoming(step: Step, incoming: LiveOrder): void {
  const { state } = step
  if (incoming.level !== undefined) removeFromBook(state.book, incoming)
  const opposite = incoming.side === 'buy' ? 'sell' : 'buy'
  while (incoming.unmatched > 0n) {
    const resting = bestOf(state.book, opposite)
    if (resting === undefined || !crosses(incoming, resting)) {
      const unfit = whyNotOpen(incoming)
      if (unfit !== undefined) holdForAccount(incoming, unfit)
      return
    }
    // An order that is no longer matched steps aside below; being one's own, it is no reason to cancel.
    if (incoming.account === resting.account && !isExpiring(resting, state.nowMs)) {
      markCancelled(step, incoming, 'self_trade')
      return
    }
    if (step.met === SWEEP_MAX_MATCHES) {
      incoming.hold = { reason: 'continuing' }
      continueLater(step, incoming.orderId)
      return
    }
    if (state.matches.size >= PENDING_MATCHES_MAX) {
      incoming.hold = { reason: 'continuing', untilMs: state.nowMs + CONGESTION_HOLD_MS }
      return
    }
    step.met += 1
    meet(step, incoming, resting)
    if (incoming.gone !== undefined || incoming.hold !== undefined) return
  }
}

function crosses(incoming: LiveOrder, resting: LiveOrder): boolean {
  const limit = incoming.limitPrice
  return incoming.side === 'buy' ? resting.limitPrice <= limit : resting.limitPrice >= limit
}

/** Lets two crossing orders meet: they match, or the one that may not be matched steps aside. */
function meet(step: Step, incoming: LiveOrder, resting: LiveOrder): void {
  const { state } = step
  if (isExpiring(resting, state.nowMs)) {
    holdExpiring(step, resting)
    return
  }
  const match = proposeMatch(step, incoming, resting)
  const taker = match.takerOrderId === incoming.orderId ? incoming : resting
  if (feePerUnitFloor(match.takerFee, match.amount) > taker.order.worstFee) {
    if (taker === resting) cancelOrder(step, resting, 'fee_bound_too_low')
    else markCancelled(step, incoming, 'fee_bound_too_low')
    return
  }
  const ofIncoming = matchCost(incoming, match)
  const ofResting = matchCost(resting, match)
  if (holdUnfit(step, { incoming, resting, ofIncoming, ofResting })) return
  addPending(incoming, match.amount)
  addPending(resting, match.amount)
  promise(incoming, ofIncoming)
  promise(resting, ofResting)
  state.matches.set(match.settlementId, match)
  emitMatched(step, resting, match)
}

/** Holds the incoming order, or else the resting one, when its account is known not to carry the match. */
function holdUnfit(step: Step, { incoming, resting, ofIncoming, ofResting }: Meeting): boolean {
  const unfit = whyNotMatched(incoming, ofIncoming)
  if (unfit !== undefined) {
    holdForAccount(incoming, unfit)
    return true
  }
  const unfitToo = whyNotMatched(resting, ofResting)
  if (unfitToo === undefined) return false
  holdForAccount(resting, unfitToo)
  emitChange(step, resting, { kind: 'OrderHeld', hold: unfitToo.reason })
  return true
}

interface Meeting {
  readonly incoming: LiveOrder
  readonly resting: LiveOrder
  /** What the match takes from each. */
  readonly ofIncoming: bigint
  readonly ofResting: bigint
}

function proposeMatch(step: Step, incoming: LiveOrder, resting: LiveOrder): Match {
  const { rules, seq } = step.state
  const isMaker = resting.rank < incoming.rank
  const maker = isMaker ? resting : incoming
  const taker = isMaker ? incoming : resting
  const wanted = incoming.unmatched
  const offered = openAmount(resting)
  const amount = wanted < offered ? wanted : offered
  const price = maker.limitPrice
  return {
    settlementId: `${rules.market}:${seq + 1}`,
    makerOrderId: maker.orderId,
    takerOrderId: taker.orderId,
    price,
    amount,
    takerFee: takerFeeFloor(price, amount, rules.takerFeeBps),
  }
}

/** Takes an order out of matching for its last seconds; visible only if something of it was open (decision B8). */
export function holdExpiring(step: Step, live: LiveOrder): void {
  live.hold = { reason: 'expiring' }
  if (live.shownOpen > 0n) emitChange(step, live, { kind: 'OrderHeld', hold: 'expiring' })
  scheduleOrder(step.state, live)
}
