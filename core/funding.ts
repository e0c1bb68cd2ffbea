import {
  accountOf,
  available,
  holdings,
  isOutOfCustody,
  matchCost,
  paidAsset,
  restCost,
  type Account,
} from './accounts.js'
import type { Match } from './change.js'
import type { Hold, LiveOrder } from './live-order.js'
import type { MatcherState } from './matcher-state.js'

const OUT_OF_CUSTODY: Hold = { reason: 'not_in_custody' }

/** Why one side of a match cannot carry it, as far as its account is known; undefined when nothing speaks against it. */
export function whyNotMatched(
  state: MatcherState,
  live: LiveOrder,
  match: Match,
): Hold | undefined {
  const account = accountOf(state, live)
  if (isOutOfCustody(account, live)) return OUT_OF_CUSTODY
  return ifShort(available(account, paidAsset(live)), matchCost(live, match))
}

/** Why an order may not be open: its account could not pay if all of it were hit. */
export function whyNotOpen(state: MatcherState, live: LiveOrder): Hold | undefined {
  const account = accountOf(state, live)
  if (isOutOfCustody(account, live)) return OUT_OF_CUSTODY
  return ifShort(available(account, paidAsset(live)), restCost(live))
}

/**
 * Why an open order may not stay so. What is promised counts as still there: its settlement may be in the observation
 * already and be reported only next, and an order must not leave and return for that.
 */
export function whyNotStay(account: Account, live: LiveOrder): Hold | undefined {
  if (isOutOfCustody(account, live)) return OUT_OF_CUSTODY
  return ifShort(holdings(account, paidAsset(live)), restCost(live))
}

function ifShort(has: bigint | undefined, needed: bigint): Hold | undefined {
  if (has === undefined || has >= needed) return undefined
  return { reason: 'insufficient_balance', needed }
}

/** Whether an order that waits for its account has got what it waits for. */
export function mayReturn(account: Account, live: LiveOrder): boolean {
  const { reason, needed = 0n } = live.hold ?? {}
  if (isOutOfCustody(account, live)) return false
  if (reason === 'not_in_custody') return true
  const has = available(account, paidAsset(live))
  return reason === 'insufficient_balance' && (has === undefined || has >= needed)
}

/** Holds an order until its account has changed. Emits nothing. */
export function holdForAccount(state: MatcherState, live: LiveOrder, hold: Hold): void {
  live.hold = hold
  accountOf(state, live).waiting.add(live)
}
