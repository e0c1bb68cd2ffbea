import type { AccountObservation } from './account.js'
import { setObserved, type Account } from './accounts.js'
import { emitChange, type Step } from './emit-change.js'
import { holdForAccount, mayReturn, whyNotStay } from './funding.js'
import type { LiveOrder } from './live-order.js'
import { REVIEWED_MAX_PER_STEP } from './matching-limits.js'
import { releaseHold } from './release-hold.js'

/** Takes what the chain shows of an account. One that has no orders here, and had none lately, is not kept. */
export function observeAccount(step: Step, observation: AccountObservation): void {
  const account = step.state.accounts.get(observation.subaccountId)
  if (account === undefined) return
  setObserved(account, observation)
  reviewAccount(step, account)
}

/**
 * Takes what an order's own reading of its account shows, if that is newer than what is known. The follower of the
 * chain has the last word: what it says replaces this whatever block it is of.
 */
export function observeIfNewer(
  step: Step,
  account: Account,
  observation: AccountObservation,
): void {
  const known = account.observed
  if (known !== undefined && known.blockNumber >= observation.blockNumber) return
  setObserved(account, observation)
  reviewAccount(step, account)
}

/** Open orders that the account cannot pay for any more leave the book, those that waited for it return. */
export function reviewAccount(step: Step, account: Account): void {
  if (step.state.reviews.size > 0) step.state.reviews.delete(account.subaccountId)
  for (let live = account.first; live !== undefined; live = live.nextOfAccount) {
    if (live.level === undefined) continue
    const unfit = whyNotStay(live)
    if (unfit === undefined) continue
    if (!mayReview(step, account)) return
    holdForAccount(live, unfit)
    emitChange(step, live, { kind: 'OrderHeld', hold: unfit.reason })
  }
  releaseWaiting(step, account)
}

/**
 * Lets orders return for which the account has enough again, the earliest first, each as far as those before it leave
 * something. One that is short again waits for more than it did, so this comes to an end.
 */
export function releaseWaiting(step: Step, account: Account): void {
  if (account.waiting.size === 0) return
  for (const live of [...account.waiting].sort((a, b) => a.rank - b.rank)) {
    if (!isWaiting(live)) account.waiting.delete(live)
    else if (mayReturn(live)) {
      if (!mayReview(step, account)) return
      account.waiting.delete(live)
      releaseHold(step, live)
    }
  }
}

const isWaiting = ({ gone, hold }: LiveOrder): boolean =>
  gone === undefined &&
  (hold?.reason === 'insufficient_balance' || hold?.reason === 'not_in_custody')

/** Counts one more order; false when the step has done enough, and the account is looked at again in the next. */
function mayReview(step: Step, account: Account): boolean {
  if (step.reviewed === REVIEWED_MAX_PER_STEP) {
    step.state.reviews.add(account.subaccountId)
    return false
  }
  step.reviewed += 1
  return true
}

/** Goes on with accounts whose orders a step before could not all look at. */
export function continueReviews(step: Step): void {
  if (step.state.reviews.size === 0) return
  for (const subaccountId of [...step.state.reviews]) {
    if (step.reviewed === REVIEWED_MAX_PER_STEP) return
    const account = step.state.accounts.get(subaccountId)
    if (account !== undefined) reviewAccount(step, account)
  }
}
