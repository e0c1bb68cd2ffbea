import type { Hold } from '../model/hold.js'
import type { LiveOrder, Account } from '../model/live-order.js'
import { ACCOUNTS_IDLE_MAX } from '../model/limits.js'
import type { Match } from '../model/match.js'
import type { Cost, RiskAccount, AccountObservation } from '../model/observation.js'
import { UNREADABLE_MARGIN_VERSION } from './engine-version.js'
import type { MatcherState } from './state.js'

/** The account of a new order; it is created with its first order. */
export function accountFor(state: MatcherState, subaccountId: bigint): Account {
  const known = state.accounts.get(subaccountId)
  if (known !== undefined) return known
  const account = newAccount(subaccountId, state.trading.means.openRiskAccount(state.observed))
  state.accounts.set(subaccountId, account)
  return account
}

/** Forgets an account that was created for an order which did not enter the market. */
export function forgetUnused(state: MatcherState, { subaccountId, orders }: Account): void {
  if (orders.size === 0 && !state.idleAccounts.has(subaccountId)) {
    state.accounts.delete(subaccountId)
  }
}

/** An account without observation and orders. */
export const newAccount = (subaccountId: bigint, riskAccount: RiskAccount): Account => ({
  subaccountId,
  observed: undefined,
  riskAccount,
  orders: new Set(),
  waiting: new Set(),
})

/** Adds a new order to its account. */
export function joinAccount(state: MatcherState, live: LiveOrder): void {
  const { account } = live
  if (account.orders.size === 0) state.idleAccounts.delete(account.subaccountId)
  account.orders.add(live)
}

/**
 * Removes a finished order. An account without orders is kept for a while: the next observation of it may
 * lack what was just settled.
 */
export function leaveAccount(state: MatcherState, live: LiveOrder): void {
  const { account } = live
  if (account.waiting.size > 0) account.waiting.delete(live)
  account.orders.delete(live)
  if (account.orders.size === 0) keepIdle(state, account)
}

function keepIdle(state: MatcherState, { subaccountId }: Account): void {
  state.idleAccounts.add(subaccountId)
  if (state.idleAccounts.size <= ACCOUNTS_IDLE_MAX) return
  const [oldest] = state.idleAccounts
  if (oldest === undefined) return
  state.idleAccounts.delete(oldest)
  state.accounts.delete(oldest)
  state.reviews.delete(oldest)
}

/** Replaces the account's observation; an earlier block than before is as good, for the chain may go back. */
export function setObserved(
  { trading, capture }: MatcherState,
  account: Account,
  observation: AccountObservation,
): void {
  capture?.keepAccount(account)
  account.observed = observation
  trading.means.observe(account.riskAccount, observation)
}

/** Whether the account is known to be outside the custody of the matching contract for the order's owner. */
export function isOutOfCustody({ account, owner }: LiveOrder): boolean {
  const { observed } = account
  return observed !== undefined && (observed.leaving || observed.custodyOwner !== owner)
}

const OUT_OF_CUSTODY: Hold = { reason: 'not_in_custody' }

/**
 * The hold of an order whose account cannot carry the match, as far as the account is known; undefined when it can.
 */
export function whyNotMatched(
  state: MatcherState,
  live: LiveOrder,
  cost: Cost,
  match: Match,
): Hold | undefined {
  if (isOutOfCustody(live)) return OUT_OF_CUSTODY
  const { means } = state.trading
  return inVersion(state, means.shortOfMatch(live.account.riskAccount, live, cost, match))
}

/** Earlier versions held what cannot be read as what does not suffice. */
const inVersion = ({ engineVersion }: MatcherState, hold: Hold | undefined): Hold | undefined =>
  hold?.reason === 'margin_unreadable' && engineVersion < UNREADABLE_MARGIN_VERSION
    ? { ...hold, reason: 'insufficient_margin' }
    : hold

/** Why an order may not be open: its account could not carry it if all of it were hit. */
export function whyNotOpen(state: MatcherState, live: LiveOrder): Hold | undefined {
  if (isOutOfCustody(live)) return OUT_OF_CUSTODY
  return inVersion(state, state.trading.means.shortToOpen(live.account.riskAccount, live))
}

/** Why an open order may not stay open. */
export function whyNotStay(state: MatcherState, live: LiveOrder): Hold | undefined {
  if (isOutOfCustody(live)) return OUT_OF_CUSTODY
  return inVersion(state, state.trading.means.shortToStay(live.account.riskAccount, live))
}

/** Whether an order that waits for its account has got what it waits for. */
export function mayReturn({ trading }: MatcherState, live: LiveOrder): boolean {
  const { hold } = live
  if (hold === undefined || isOutOfCustody(live)) return false
  if (hold.reason === OUT_OF_CUSTODY.reason) return true
  return trading.means.hasEnough(live.account.riskAccount, live, hold)
}

/** Holds an order until its account has changed. Emits nothing. */
export function holdForAccount(live: LiveOrder, hold: Hold): void {
  live.hold = hold
  live.account.waiting.add(live)
}
