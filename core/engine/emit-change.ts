import { assert } from '../assert.js'
import {
  OF_NO_ORDER,
  orderAfter,
  type Change,
  type ChangeBase,
  type ChangeFacts,
  type ChangeKind,
} from '../model/change.js'
import type { LoggedCommand, ReversedLeg } from '../model/command.js'
import type { EndReason } from '../model/hold.js'
import { CANCEL_ROOM_PER_STEP } from '../model/limits.js'
import {
  endsWithKey,
  isFinished,
  openAmount,
  statusOf,
  type LiveOrder,
} from '../model/live-order.js'
import type { Match } from '../model/match.js'
import { amountE18 } from '../money.js'
import { leaveAccount } from './accounts.js'
import { addToBook, removeFromBook } from './book.js'
import { leaveOwner, type MatcherState } from './state.js'

/** One application of a command: the state it works on and the changes it has made so far. */
export interface Step {
  readonly state: MatcherState
  changes: Change[]
  /** Pairs tried in this step, over all incoming orders. */
  met: number
  /** Orders passed over in this step, over all incoming orders. */
  passedOver: number
  /** Orders held or released in this step because their account changed. */
  reviewed: number
  /** Weight of the orders that it may still cancel together. */
  cancelRoom: number
  /** Orders that stopped at the sweep limit and continue by ContinueOrder. */
  continueOrderIds: string[]
  /** The market's terms have changed; its feed states them with the step's changes. */
  restated: boolean
}

/** Initial empty lists, which most steps leave empty; never mutated. */
const NO_CHANGES: Change[] = []
const NO_IDS: string[] = []

export function beginStep(state: MatcherState): Step {
  return {
    state,
    changes: NO_CHANGES,
    met: 0,
    passedOver: 0,
    reviewed: 0,
    cancelRoom: CANCEL_ROOM_PER_STEP,
    continueOrderIds: NO_IDS,
    restated: false,
  }
}

function addChange(step: Step, change: Change): void {
  if (step.changes === NO_CHANGES) step.changes = [change]
  else step.changes.push(change)
}

/** Lets the order continue by ContinueOrder. */
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
  // Spreading into a literal this wide costs several times as much.
  const complete: Change = Object.assign(change, facts)
  live.order = orderAfter(complete, live.order)
  record(step, live, complete)
}

/** emitChange for a placement, with the fields set one by one: one of the two most frequent kinds. */
export function emitPlaced(step: Step, live: LiveOrder): void {
  const change = standingAfter(step.state, live) as Mutable<ChangeOf<'OrderPlaced'>>
  change.kind = 'OrderPlaced'
  change.order = live.order
  change.rank = live.rank
  if (live.hold !== undefined) change.hold = live.hold.reason
  if (live.cancelReason !== undefined) change.cancelReason = live.cancelReason
  record(step, live, change)
}

/** A resting order was hit. */
export function emitMatched(step: Step, live: LiveOrder, match: Match): void {
  const change = standingAfter(step.state, live) as Mutable<ChangeOf<'OrderMatched'>>
  change.kind = 'OrderMatched'
  change.match = match
  record(step, live, change)
}

/** Cancels what is open of an order and emits the change. */
export function cancelOrder(step: Step, live: LiveOrder, reason: EndReason): void {
  markCancelled(step, live, reason)
  const change = standingAfter(step.state, live) as Mutable<ChangeOf<'OrderCancelled'>>
  change.kind = 'OrderCancelled'
  change.cancelReason = reason
  record(step, live, change)
}

type ChangeOf<Kind extends ChangeKind> = Extract<Change, { kind: Kind }>
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Updates the book, advances `seq`, and returns the fields that every kind of change has. */
function standingAfter(state: MatcherState, live: LiveOrder): ChangeBase {
  state.capture?.keep(live)
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

/** Records that a command was refused. It is of no order, so the book stays as it is. */
export function emitRefused(step: Step, { source, sourceNo, command }: LoggedCommand): void {
  const { state } = step
  state.seq += 1
  const at = { seq: state.seq, atMs: state.nowMs }
  addChange(step, {
    ...OF_NO_ORDER,
    ...at,
    kind: 'CommandRefused',
    command: command.kind,
    source,
    sourceNo,
  })
}

function record(step: Step, live: LiveOrder, change: Change): void {
  addChange(step, change)
  if (isFinished(live)) forget(step.state, live)
}

/** How the settled amount of an ended order moves, and why. */
interface EndedChange {
  readonly filled: bigint
  readonly facts: ChangeFacts
}

/**
 * Emits a change of an order that has ended and is no longer kept. It stays ended; a filled order that loses a fill
 * becomes cancelled.
 */
export function emitEnded(
  step: Step,
  { ended, orderId, owner, side, limitPrice, desired }: ReversedLeg,
  { filled: moved, facts }: EndedChange,
): void {
  const { state } = step
  assert(ended !== undefined, `the end of ${orderId} is not stated`)
  const filled = amountE18(ended.filled + moved)
  assert(filled >= 0n && filled <= desired, `amounts of ${orderId} are broken`)
  const isShort = ended.status === 'filled' && filled < desired
  state.seq += 1
  addChange(step, {
    orderId,
    owner,
    side,
    limitPrice,
    desired,
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
  if (live.order.signedByCode === true) state.windows.orders -= 1
  leaveOwner(state, live)
  leaveAccount(state, live)
}

/** Marks an order as cancelled; what is pending still settles (CAN-003). Emits nothing. */
export function markCancelled(step: Step, live: LiveOrder, reason: EndReason): void {
  step.state.capture?.keep(live)
  live.gone = 'cancelled'
  live.cancelReason = reason
  live.cancelledAtMs = step.state.nowMs
  live.hold = undefined
}

/** Marks an order whose time is over: expired, or cancelled when the session key that signed it has ended before. */
export function markEnded(step: Step, live: LiveOrder): void {
  if (endsWithKey(live)) return markCancelled(step, live, 'signature_revoked')
  step.state.capture?.keep(live)
  live.gone = 'expired'
  live.hold = undefined
}

const NO_REASONS = {}

/** The order's hold and cancel reason as fields of a change. */
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
