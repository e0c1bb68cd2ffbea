import { ENDED_BY_ACCOUNT } from '../model/hold.js'
import { REVIEWED_MAX_PER_STEP } from '../model/limits.js'
import { statusOf, type LiveOrder, type Account } from '../model/live-order.js'
import type { MarketObservation, AccountObservation } from '../model/observation.js'
import { mayReturn, setObserved, whyNotStay } from './accounts.js'
import { bestOf } from './book.js'
import { cancelOrder, type Step } from './emit-change.js'
import { holdUnfit } from './holds.js'
import { emitAside, releaseHold } from './match.js'
import type { MatcherState } from './state.js'

/** Takes an observation of an account. One that has no orders here, and lately had none, is not kept. */
export function observeAccount(step: Step, observation: AccountObservation): void {
  const account = step.state.accounts.get(observation.subaccountId)
  if (account === undefined) return
  setObserved(step.state, account, observation)
  reviewAccount(step, account)
}

/**
 * Takes the observation that came with an order, if it is newer than the known one. An observation of the chain reader
 * always replaces it, whatever its block.
 */
export function observeIfNewer(
  step: Step,
  account: Account,
  observation: AccountObservation,
): void {
  const known = account.observed
  if (known !== undefined && known.blockNumber >= observation.blockNumber) return
  setObserved(step.state, account, observation)
  reviewAccount(step, account)
}

/** Holds open orders that the account cannot carry any more, and releases those that waited for it. */
export function reviewAccount(step: Step, account: Account): void {
  step.state.reviews.delete(account.subaccountId)
  for (const live of account.orders) {
    if (live.level === undefined) continue
    const unfit = whyNotStay(step.state, live)
    if (unfit === undefined) continue
    if (!mayReview(step, account)) return
    holdUnfit(step, live, unfit)
    emitAside(step, live)
  }
  endPointless(step, account)
  releaseWaiting(step, account)
}

/** Cancels the orders that the account has left without purpose, as many as a step may. */
export function endPointless(step: Step, account: Account): void {
  const { endOf } = step.state.trading.means
  if (endOf === undefined) return
  for (const live of account.orders) {
    const reason = statusOf(live) === 'active' ? endOf(account.riskAccount, live) : undefined
    if (reason === undefined) continue
    if (!mayReview(step, account)) return
    cancelOrder(step, live, reason)
  }
}

/**
 * Releases the orders for which the account has enough again, the earliest first; each takes its part of what is
 * available. One that is short again needs more than before, so this ends.
 */
export function releaseWaiting(step: Step, account: Account): void {
  if (account.waiting.size === 0) return
  step.state.capture?.keepAccount(account)
  for (const live of [...account.waiting].sort((a, b) => a.rank - b.rank)) {
    if (!isWaiting(live)) account.waiting.delete(live)
    else if (mayReturn(step.state, live)) {
      if (!mayReview(step, account)) return
      account.waiting.delete(live)
      releaseHold(step, live)
    }
  }
}

const isWaiting = ({ gone, hold }: LiveOrder): boolean =>
  gone === undefined &&
  hold !== undefined &&
  hold.untilMs === undefined &&
  ENDED_BY_ACCOUNT.has(hold.reason)

/** Counts one more order; false when the step has done enough and the account is left for the next step. */
function mayReview(step: Step, account: Account): boolean {
  if (step.reviewed === REVIEWED_MAX_PER_STEP) {
    step.state.reviews.add(account.subaccountId)
    return false
  }
  step.reviewed += 1
  return true
}

/** Reviews the accounts that an earlier step left. */
export function continueReviews(step: Step): void {
  for (const subaccountId of [...step.state.reviews]) {
    if (step.reviewed === REVIEWED_MAX_PER_STEP) return
    const account = step.state.accounts.get(subaccountId)
    if (account !== undefined) reviewAccount(step, account)
  }
}

/** Takes an observation of the market; accounts whose worth depends on it are reviewed, as many as a step may. */
export function observeMarket({ state }: Step, observation: MarketObservation): void {
  state.observed = observation
  state.refusedPrices.clear()
  // What was passed over may be within reach now: the next step looks for it.
  if (state.trading.fillRange !== undefined && isCrossed(state)) state.closed = true
  const { revalue } = state.trading.means
  if (revalue === undefined) return
  for (const account of state.accounts.values()) {
    revalue(account.riskAccount, observation)
    if (account.orders.size > 0) state.reviews.add(account.subaccountId)
  }
}

function isCrossed({ book }: MatcherState): boolean {
  const bid = bestOf(book, 'buy')
  const ask = bestOf(book, 'sell')
  return bid !== undefined && ask !== undefined && bid.limitPrice >= ask.limitPrice
}
