import type { CancelReason } from '../../interface/reasons.js'
import { assert } from '../assert.js'
import type {
  CancelsCommandAnswer,
  LeaseCommandAnswer,
  LeaseRefused,
} from '../model/command-answer.js'
import type { Command } from '../model/command.js'
import { LEASES_MAX } from '../model/limits.js'
import type { Order } from '../model/order.js'
import { cancelScope } from './cancel-many.js'
import type { Step } from './emit-change.js'
import { leaseOf } from './lease-id.js'
import type { MatcherState, Lease, Leases } from './state.js'

/** `cancel_reason` of a socket's orders when the socket is gone. */
export const CANCEL_ON_DISCONNECT = 'cancel_on_disconnect'
/** `cancel_reason` of an owner's orders when the owner has not renewed in time. */
export const CANCEL_ALL_AFTER = 'cancel_all_after'

export const leasesOf = (list: Iterable<Lease>): Leases => {
  const byKey = new Map(Array.from(list, (lease) => [keyOf(lease), lease]))
  return { byKey, dueMs: earliestOf(byKey) }
}

/** Lease ids have no `0x`, so that no lease has an owner's key. */
const keyOf = ({ owner, leaseId }: Pick<Lease, 'owner' | 'leaseId'>): string => leaseId ?? owner

function earliestOf(byKey: ReadonlyMap<string, Lease>): number {
  let dueMs = Infinity
  for (const { endsAtMs } of byKey.values()) dueMs = Math.min(dueMs, endsAtMs)
  return dueMs
}

type SetLease = Extract<Command, { kind: 'SetLease' }>

/**
 * Sets a lease anew from the market's time on, or from where that goes on when it stands still. One that has ended is only begun
 * again by a command that opens it.
 */
export function applySetLease(
  { state: { leases, nowMs, holds } }: Step,
  { owner, leaseId, seconds, opens }: SetLease,
): LeaseCommandAnswer | LeaseRefused {
  const key = keyOf({ owner, ...(leaseId !== undefined && { leaseId }) })
  const known = leases.byKey.get(key)
  assert(known === undefined || known.owner === owner, `lease ${key} is of another owner`)
  if (known === undefined && !opens) return { kind: 'refused', code: 'lease_ended' }
  if (known === undefined && leases.byKey.size >= LEASES_MAX) {
    return { kind: 'refused', code: 'too_many_leases' }
  }
  const endsAtMs = nowMs + seconds * 1000
  leases.byKey.set(key, {
    owner,
    ...(leaseId !== undefined && { leaseId }),
    endsAtMs,
    ...(holds.has('clock') && { awaitsTime: true }),
  })
  leases.dueMs = Math.min(leases.dueMs, endsAtMs)
  return { kind: 'lease', endsAtMs }
}

type EndLease = Extract<Command, { kind: 'EndLease' }>

/**
 * Ends a lease at once; its orders are cancelled if the command says so. An order that names it later is cancelled. Of a part
 * of a lease only the orders are cancelled: the lease goes on for the other parts.
 */
export function applyEndLease(
  step: Step,
  { owner, leaseId, cancels }: EndLease,
): CancelsCommandAnswer | LeaseCommandAnswer {
  const lease = { owner, ...(leaseId !== undefined && { leaseId }) }
  step.state.leases.byKey.delete(keyOf(lease))
  return cancels ? cancelScope(step, lease, reasonOf(lease)) : { kind: 'lease', endsAtMs: 0 }
}

const reasonOf = ({ leaseId }: Pick<Lease, 'leaseId'>): CancelReason =>
  leaseId === undefined ? CANCEL_ALL_AFTER : CANCEL_ON_DISCONNECT

/** Moves the leases that were set while market time stood still by as much as it then went ahead at once, in milliseconds. */
export function resumeLeases({ state: { leases } }: Step, aheadMs: number): void {
  for (const [key, { awaitsTime, ...lease }] of leases.byKey) {
    if (awaitsTime) leases.byKey.set(key, { ...lease, endsAtMs: lease.endsAtMs + aheadMs })
  }
}

/** Cancels the orders of the leases that have ended; what one step has no room for is matched no more. */
export function endLeases(step: Step): void {
  const { leases, nowMs } = step.state
  if (leases.dueMs > nowMs) return
  for (const [key, lease] of leases.byKey) {
    if (lease.endsAtMs > nowMs) continue
    leases.byKey.delete(key)
    const { owner, leaseId } = lease
    cancelScope(step, { owner, ...(leaseId !== undefined && { leaseId }) }, reasonOf(lease))
  }
  leases.dueMs = earliestOf(leases.byKey)
}

/** Whether an order names a lease that has ended, or never was its owner's: it comes too late and is cancelled. */
export function isOfEndedLease({ leases }: MatcherState, { leaseId, owner }: Order): boolean {
  return leaseId !== undefined && leases.byKey.get(leaseOf(leaseId))?.owner !== owner
}
