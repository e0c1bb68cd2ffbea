import type { Address } from '../action.js'
import type { CancelOutcome, CancelsCommandAnswer } from '../model/command-answer.js'
import type { Command } from '../model/command.js'
import type { AskedReason, EndReason } from '../model/hold.js'
import { CANCEL_ROOM_OF_COMMAND } from '../model/limits.js'
import type { LiveOrder } from '../model/live-order.js'
import { cancelOrder, type Step } from './emit-change.js'
import { leaseOf } from './lease-id.js'
import { ownFilled } from './order-sums.js'
import type { MatcherState, CancelFilter, MassCancel } from './state.js'

/** Cancels by owner, those of one owner in their order. */
export function byOwner(cancels: Iterable<MassCancel>): Map<Address, readonly MassCancel[]> {
  const grouped = new Map<Address, readonly MassCancel[]>()
  for (const each of cancels) grouped.set(each.owner, [...(grouped.get(each.owner) ?? []), each])
  return grouped
}

/** About the bytes that a cancelled order takes in a block; a client's texts take up to three for each unit. */
const weightOf = (orderId: string, reason: string): number =>
  Math.max(450, 300 + 3 * (orderId.length + reason.length))

/** Takes room for one more cancelled order; false when the step has none left. */
function takeRoom(step: Step, orderId: string, reason: string): boolean {
  const weight = weightOf(orderId, reason)
  if (step.cancelRoom < weight) return false
  step.cancelRoom -= weight
  return true
}

type CancelAllCommand = Extract<Command, { kind: 'CancelAll' }>

/** Cancels the orders of an owner, as many as fit a block: a thousand with ids of usual length. The next steps do the rest. */
export function applyCancelAll(step: Step, command: CancelAllCommand): CancelsCommandAnswer {
  const { owner, side, subaccountId, reason } = command
  const narrowed = {
    ...(side !== undefined && { side }),
    ...(subaccountId !== undefined && { subaccountId }),
  }
  return cancelScope(step, { owner, ...narrowed }, reason as AskedReason)
}

/** The same for any scope. */
export function cancelScope(
  step: Step,
  scope: CancelFilter,
  reason: EndReason,
): CancelsCommandAnswer {
  const { massCancels, rank: upToRank } = step.state
  const outcomes: CancelOutcome[] = []
  const cancel: MassCancel = { ...scope, upToRank, reason }
  const left = carryOut(step, cancel, outcomes)
  if (left > 0) {
    const others = (massCancels.get(scope.owner) ?? []).filter((each) => !isSameScope(each, scope))
    massCancels.set(scope.owner, [...others, cancel])
  }
  return { kind: 'cancels', outcomes, left }
}

const isSameScope = (a: CancelFilter, b: CancelFilter): boolean =>
  a.side === b.side &&
  a.subaccountId === b.subaccountId &&
  a.leaseId === b.leaseId &&
  a.signer === b.signer

function isMeant(cancel: MassCancel, live: LiveOrder): boolean {
  const { side, subaccountId, leaseId, signer, upToRank } = cancel
  return (
    live.rank <= upToRank &&
    (side === undefined || live.side === side) &&
    (subaccountId === undefined || live.order.subaccountId === subaccountId) &&
    (signer === undefined || live.order.signer === signer) &&
    (leaseId === undefined || isUnder(leaseId, live.order.leaseId))
  )
}

/** Whether an order names this lease, or a part of it. */
const isUnder = (leaseId: string, named: string | undefined): boolean =>
  named === leaseId || (named !== undefined && leaseOf(named) === leaseId)

/** Cancels what there is room for; returns how many orders are left. */
function carryOut(step: Step, cancel: MassCancel, outcomes?: CancelOutcome[]): number {
  const { state } = step
  const { reason } = cancel
  let left = 0
  for (const live of state.owners.get(cancel.owner)?.values() ?? []) {
    if (live.gone !== undefined || !isMeant(cancel, live)) continue
    if (live.unmatched === 0n && live.cancelOnReturn !== undefined) continue
    const isSettling = live.unmatched === 0n
    if (isSettling) cancelOnReturn(state, live, reason)
    if (!takeRoom(step, live.orderId, reason)) left += 1
    else if (isSettling) outcomes?.push(outcomeOf('settling', live))
    else {
      cancelOrder(step, live, reason)
      outcomes?.push(outcomeOf('cancelled', live))
    }
  }
  return left
}

export function cancelOnReturn(state: MatcherState, live: LiveOrder, reason: EndReason): void {
  state.capture?.keep(live)
  live.cancelOnReturn = reason
}

const outcomeOf = (kind: 'cancelled' | 'settling', live: LiveOrder): CancelOutcome => ({
  kind,
  orderId: live.orderId,
  nonce: live.nonce,
  filled: ownFilled(live.order, live),
  pending: live.pending,
})

type CancelOrders = Extract<Command, { kind: 'CancelOrders' }>

/** Cancels the named orders of an owner; one that is not active, or another owner's, changes nothing for the others. */
export function applyCancelOrders(
  step: Step,
  { owner, orderIds, reason: asked }: CancelOrders,
): CancelsCommandAnswer {
  const reason = asked as AskedReason
  const { state } = step
  const outcomes = orderIds.map((orderId): CancelOutcome => {
    const live = state.orders.get(orderId)
    if (live === undefined || live.gone !== undefined) {
      return { kind: 'not_cancelled', orderId, code: 'active_order_not_found' }
    }
    if (live.owner !== owner) {
      return { kind: 'not_cancelled', orderId, code: 'order_of_another_owner' }
    }
    if (live.unmatched === 0n) {
      cancelOnReturn(state, live, reason)
      return outcomeOf('settling', live)
    }
    cancelOrder(step, live, reason)
    return outcomeOf('cancelled', live)
  })
  return { kind: 'cancels', outcomes, left: 0 }
}

/** Goes on with cancels that earlier steps did not finish. A command that cancels many itself leaves less room for them. */
export function continueMassCancels(step: Step, { kind }: Command): void {
  const { massCancels } = step.state
  if (massCancels.size === 0) return
  const kept = CANCELS_MANY.has(kind) ? CANCEL_ROOM_OF_COMMAND : 0
  step.cancelRoom -= kept
  for (const [owner, cancels] of massCancels) {
    const unfinished = cancels.filter((cancel) => carryOut(step, cancel) > 0)
    if (unfinished.length === 0) massCancels.delete(owner)
    else massCancels.set(owner, unfinished)
  }
  step.cancelRoom += kept
}

const CANCELS_MANY: ReadonlySet<Command['kind']> = new Set<Command['kind']>([
  'CancelAll',
  'CancelOrders',
  'EndLease',
])

/** Why an order that still stands in the book is matched no more; undefined for nearly all. */
export function whyCancelled(
  { massCancels }: MatcherState,
  live: LiveOrder,
): EndReason | undefined {
  if (massCancels.size === 0) return undefined
  return massCancels.get(live.owner)?.find((cancel) => isMeant(cancel, live))?.reason
}
