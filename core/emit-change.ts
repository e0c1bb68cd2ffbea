import { leaveAccount } from './accounts.js'
import { assert } from './assert.js'
import { addToBook, removeFromBook } from './book.js'
import type { ReversedLeg } from './command.js'
import type { Change, ChangeBase, ChangeFacts, ChangeKind, Match } from './change.js'
import { isFinished, openAmount, statusOf, type LiveOrder } from './live-order.js'
import { amountE18 } from './money.js'
import type { MatcherState } from './matcher-state.js'
import { leaveOwner } from './owner-orders.js'

/** One application of a command: the state it works on and the changes it has made so far. */
export interface Step {
  readonly state: MatcherState
  changes: Change[]
  /** Counterparts that incoming orders have met in this step, all of them together. */
  met: number
  /** Orders that left or returned in this step because their account changed. */
  reviewed: number
  /** Orders that stopped at the sweep limit and are to go on by ContinueOrder. */
  continueOrderIds: string[]
}

/** What a step begins with, and most leave so: no step adds to it. */
const NO_CHANGES: Change[] = []
const NO_IDS: string[] = []

export function beginStep(state: MatcherState): Step {
  return { state, changes: NO_CHANGES, met: 0, reviewed: 0, continueOrderIds: NO_IDS }
}

function addChange(step: Step, change: Change): void {
  // A list that begins with one has room for one; most steps make no second.
  if (step.changes === NO_CHANGES) step.changes = [change]
  else step.changes.push(change)
}

/** The order is to go on by ContinueOrder. */
export function continueLater(step: Step, orderId: string): void {
  if (step.continueOrderIds === NO_IDS) step.continueOrderIds = [orderId]
  else step.continueOrderIds.push(orderId)
}

/**
 * Records what has just happened to an order as the market's next change. The only place where `seq` advances and
 * where the book follows an order's open amount, so that book, feed and state cannot disagree.
 */
export function emitChange(step: Step, live: LiveOrder, facts: ChangeFacts): void {
  const change = standingAfter(step.state, live)
  // Spreading into so wide a literal costs several times as much.
  record(step, live, Object.assign(change, facts))
}

/** The same of the kinds that happen most, whose facts are set one by one. */
export function emitPlaced(step: Step, live: LiveOrder): void {
  const change = standingAfter(step.state, live) as Mutable<Of<'OrderPlaced'>>
  change.kind = 'OrderPlaced'
  change.order = live.order
  change.rank = live.rank
  if (live.hold !== undefined) change.hold = live.hold.reason
  if (live.cancelReason !== undefined) change.cancelReason = live.cancelReason
  record(step, live, change)
}

/** A resting order was hit. */
export function emitMatched(step: Step, live: LiveOrder, match: Match): void {
  const change = standingAfter(step.state, live) as Mutable<Of<'OrderMatched'>>
  change.kind = 'OrderMatched'
  change.match = match
  record(step, live, change)
}

/** Cancels what is open of an order and says so. */
export function cancelOrder(step: Step, live: LiveOrder, reason: string): void {
  markCancelled(step, live, reason)
  const change = standingAfter(step.state, live) as Mutable<Of<'OrderCancelled'>>
  change.kind = 'OrderCancelled'
  change.cancelReason = reason
  record(step, live, change)
}

type Of<Kind extends ChangeKind> = Extract<Change, { kind: Kind }>
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Takes the book along and advances `seq`; what it gives is a change but for its kind. */
function standingAfter(state: MatcherState, live: LiveOrder): ChangeBase {
  const { shownOpen } = live
  const open = openAmount(live)
  if (live.pending < 0n || live.unmatched < 0n) {
    assert(false, `amounts of ${live.orderId} are broken`)
  }
  live.updatedAtMs = state.nowMs
  if (open !== 0n) {
    if (live.level === undefined) addToBook(state.book, live)
  } else if (live.level !== undefined) removeFromBook(state.book, live)
  live.shownOpen = open
  state.seq += 1
  return {
    seq: state.seq,
    atMs: state.nowMs,
    orderId: live.orderId,
    owner: live.owner,
    side: live.side,
    limitPrice: live.limitPrice,
    desired: live.desired,
    filled: live.filled,
    pending: live.pending,
    open,
    openDelta: shownOpen === 0n ? open : open - shownOpen,
    status: statusOf(live),
  }
}

function record(step: Step, live: LiveOrder, change: Change): void {
  addChange(step, change)
  if (isFinished(live)) forget(step.state, live)
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
  addChange(step, {
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
  state.orders.delete(live.orderId)
  leaveOwner(state.owners, live)
  leaveAccount(state, live)
}

/** Ends an order's life in the book; what is pending still settles (decision B4). Emits nothing. */
export function markCancelled(step: Step, live: LiveOrder, reason: string): void {
  live.gone = 'cancelled'
  live.cancelReason = reason
  live.cancelledAtMs = step.state.nowMs
  live.hold = undefined
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
