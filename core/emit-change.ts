import { leaveAccount } from './accounts.js'
import { assert } from './assert.js'
import { addToBook, removeFromBook } from './book.js'
import type { ReversedLeg } from './command.js'
import type { Change, ChangeBase, ChangeFacts } from './change.js'
import { isFinished, openAmount, statusOf, unmatched, type LiveOrder } from './live-order.js'
import { amountE18 } from './money.js'
import { ownerNonceKey, type MatcherState } from './matcher-state.js'

/** One application of a command: the state it works on and the changes it has made so far. */
export interface Step {
  readonly state: MatcherState
  readonly changes: Change[]
  /** Counterparts that incoming orders have met in this step, all of them together. */
  met: number
  /** Orders that left or returned in this step because their account changed. */
  reviewed: number
  /** Orders that stopped at the sweep limit and are to go on by ContinueOrder. */
  readonly continueOrderIds: string[]
}

/**
 * Records what has just happened to an order as the market's next change. The only place where `seq` advances and
 * where the book follows an order's open amount, so that book, feed and state cannot disagree.
 */
export function emitChange(step: Step, live: LiveOrder, facts: ChangeFacts): void {
  const { state } = step
  const open = openAmount(live)
  assert(live.pending >= 0n && unmatched(live) >= 0n, `amounts of ${live.order.orderId} are broken`)
  live.updatedAtMs = state.nowMs
  if (open > 0n && live.level === undefined) addToBook(state.book, live)
  if (open === 0n && live.level !== undefined) removeFromBook(state.book, live)
  state.seq += 1
  const standing: ChangeBase = {
    seq: state.seq,
    atMs: state.nowMs,
    orderId: live.order.orderId,
    owner: live.order.owner,
    side: live.order.side,
    limitPrice: live.order.limitPrice,
    desired: live.order.desiredAmount,
    filled: live.filled,
    pending: live.pending,
    open,
    openDelta: open - live.shownOpen,
    status: statusOf(live),
  }
  // Spreading into so wide a literal costs several times as much.
  step.changes.push(Object.assign(standing, facts))
  live.shownOpen = open
  if (isFinished(live)) forget(state, live)
}

/** What is said of an order that has ended: by how much its settled amount moves, and why. */
interface EndedChange {
  readonly filled: bigint
  readonly facts: ChangeFacts
}

/**
 * Records what has happened to an order that had ended, and that the market does not know any more. It stays ended; one
 * that was filled, and is not now, is cancelled.
 */
export function emitEnded(
  step: Step,
  { ended, ...order }: ReversedLeg,
  { filled: moved, facts }: EndedChange,
): void {
  const { state } = step
  assert(ended !== undefined, `nobody has said how ${order.orderId} ended`)
  const filled = amountE18(ended.filled + moved)
  assert(filled >= 0n && filled <= order.desired, `amounts of ${order.orderId} are broken`)
  const isShort = ended.status === 'filled' && filled < order.desired
  state.seq += 1
  step.changes.push({
    ...order,
    seq: state.seq,
    atMs: state.nowMs,
    filled,
    pending: amountE18(0n),
    open: amountE18(0n),
    openDelta: 0n,
    status: isShort ? 'cancelled' : ended.status,
    ...facts,
  })
}

function forget(state: MatcherState, live: LiveOrder): void {
  state.orders.delete(live.order.orderId)
  state.orderIdByNonce.delete(ownerNonceKey(live.order.owner, live.order.nonce))
  leaveAccount(state, live)
}

/** Ends an order's life in the book; what is pending still settles (decision B4). Emits nothing. */
export function markCancelled(step: Step, live: LiveOrder, reason: string): void {
  live.gone = 'cancelled'
  live.cancelReason = reason
  live.cancelledAtMs = step.state.nowMs
  if (live.hold !== undefined) delete live.hold
}

const NO_REASONS = {}

/** The reasons that the order's present stand gives a change: a hold, a cancellation, or neither. */
export function standing(
  live: LiveOrder,
): Pick<Extract<ChangeFacts, { kind: 'OrderReleased' }>, 'hold' | 'cancelReason'> {
  const { hold, cancelReason } = live
  if (hold === undefined && cancelReason === undefined) return NO_REASONS
  return {
    ...(hold !== undefined && { hold: hold.reason }),
    ...(cancelReason !== undefined && { cancelReason }),
  }
}
