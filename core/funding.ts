import { available, holdings, isOutOfCustody, paidAsset, restCost } from './accounts.js'
import type { Hold, LiveOrder } from './live-order.js'

const OUT_OF_CUSTODY: Hold = { reason: 'not_in_custody' }

/**
 * Why one side of a match cannot carry what that takes from it, as far as its account is known; undefined when nothing
 * speaks against it.
 */
export function whyNotMatched(live: LiveOrder, cost: bigint): Hold | undefined {
  if (isOutOfCustody(live)) return OUT_OF_CUSTODY
  return ifShort(available(live.account, paidAsset(live)), cost)
}

/** Why an order may not be open: its account could not pay if all of it were hit. */
export function whyNotOpen(live: LiveOrder): Hold | undefined {
  if (isOutOfCustody(live)) return OUT_OF_CUSTODY
  const has = available(live.account, paidAsset(live))
  return has === undefined ? undefined : ifShort(has, restCost(live))
}

/**
 * Why an open order may not stay so. What is promised counts as still there: its settlement may be in the observation
 * already and be reported only next, and an order must not leave and return for that.
 */
export function whyNotStay(live: LiveOrder): Hold | undefined {
  if (isOutOfCustody(live)) return OUT_OF_CUSTODY
  return ifShort(holdings(live.account, paidAsset(live)), restCost(live))
}

function ifShort(has: bigint | undefined, needed: bigint): Hold | undefined {
  if (has === undefined || has >= needed) return undefined
  return { reason: 'insufficient_balance', needed }
}

/** Whether an order that waits for its account has got what it waits for. */
export function mayReturn(live: LiveOrder): boolean {
  const { reason, needed = 0n } = live.hold ?? {}
  if (isOutOfCustody(live)) return false
  if (reason === 'not_in_custody') return true
  const has = available(live.account, paidAsset(live))
  return reason === 'insufficient_balance' && (has === undefined || has >= needed)
}

/** Holds an order until its account has changed. Emits nothing. */
export function holdForAccount(live: LiveOrder, hold: Hold): void {
  live.hold = hold
  live.account.waiting.add(live)
}
