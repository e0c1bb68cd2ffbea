import {
  tooManyAMinute,
  tooManyDepositsAnHour,
  transferInProgress,
} from '../../core/transfer-refusals.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import type { Address, Hex } from '../../core/action.js'
import type { RequestCounts } from '../../data/request-counts.js'
import type { TransferStore } from '../../data/transfer-store.js'
import type { TransferKind } from '../../core/transfer.js'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** Requests a minute whose signature does not hold, for one network address. */
const STRANGERS_PER_MINUTE = 3

export interface LimitsDeps {
  readonly kind: TransferKind
  readonly perMinute: number
  readonly perHour?: number
  readonly store: Pick<TransferStore, 'othersInProgress' | 'submittedAfter'>
  readonly owners: RequestCounts
  readonly clients: RequestCounts
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** How often an owner may ask, and a stranger in an owner's name. The action's own record never counts against it. */
export interface Limits {
  /** Why the owner has to wait; undefined when it has not. */
  refuse(owner: Address, actionHash: Hex): TransferRefusal | undefined
  /** The same, as far as it is about the hour; to be asked again right before the claim. */
  refuseHourly(owner: Address, actionHash: Hex): TransferRefusal | undefined
  /** A request whose signature held. */
  countOwner(owner: Address): void
  /** A request whose signature did not hold; the refusal when there were too many from this address already. */
  countStranger(clientAddress: string): TransferRefusal | undefined
}

export function createLimits(deps: LimitsDeps): Limits {
  const { kind, perMinute, perHour, store, owners, clients, nowMs } = deps

  function refuse(owner: Address, actionHash: Hex): TransferRefusal | undefined {
    if (store.othersInProgress(owner, actionHash)) return transferInProgress(kind)
    const now = nowMs()
    const minute = waitMs(owners.within(owner, now), perMinute, MINUTE_MS, now)
    if (minute !== undefined) return tooManyAMinute(kind, perMinute, seconds(minute))
    return refuseHourly(owner, actionHash)
  }

  function refuseHourly(owner: Address, actionHash: Hex): TransferRefusal | undefined {
    if (perHour === undefined) return undefined
    const now = nowMs()
    const submitted = store.submittedAfter(owner, now - HOUR_MS, actionHash)
    const hour = waitMs(submitted, perHour, HOUR_MS, now)
    return hour === undefined ? undefined : tooManyDepositsAnHour(perHour, seconds(hour))
  }

  return {
    refuse,
    refuseHourly,
    countOwner: (owner) => owners.count(owner, nowMs()),
    countStranger(clientAddress) {
      const now = nowMs()
      const wait = waitMs(clients.within(clientAddress, now), STRANGERS_PER_MINUTE, MINUTE_MS, now)
      if (wait !== undefined) return tooManyAMinute(kind, STRANGERS_PER_MINUTE, seconds(wait))
      clients.count(clientAddress, now)
      return undefined
    },
  }
}

/** How long until fewer than `limit` of the moments lie within the window; undefined when that is so now. */
function waitMs(
  moments: readonly number[],
  limit: number,
  windowMs: number,
  nowMs: number,
): number | undefined {
  const freedBy = moments.at(-limit)
  return freedBy === undefined ? undefined : freedBy + windowMs - nowMs
}

/** Whole seconds, rounded up, so that whoever waits that long is let in. */
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))
