import type { AccountObservation, FundedAsset, Funds } from './account.js'
import { assert } from './assert.js'
import type { Match } from './change.js'
import { unmatched, type LiveOrder } from './live-order.js'
import type { MatcherState } from './matcher-state.js'
import { ACCOUNTS_IDLE_MAX, REORG_BLOCKS, SETTLED_BLOCKS_MAX } from './matching-limits.js'
import { notionalFloor } from './money.js'

/** What the settlements of one block moved on an account. */
export interface SettledMove extends Funds {
  readonly blockNumber: bigint
}

/** What the matcher knows of a subaccount whose orders it keeps. */
export interface Account {
  readonly subaccountId: bigint
  /** What the chain was last seen to hold; absent while nobody has read it. */
  observed?: AccountObservation
  /** By block, ascending: what an observation of an earlier block does not show. */
  readonly settled: SettledMove[]
  /** What the account's matches that await settlement would take from it. Follows from them. */
  pending: Funds
  /** The account's live orders. Follows from them. */
  readonly orders: Set<LiveOrder>
  /** Orders that wait for the account to change: a reminder to look at them, their hold says whether they still do. */
  readonly waiting: Set<LiveOrder>
}

const NO_FUNDS: Funds = { base: 0n, quote: 0n }

/** Takes an order under its account, which is remembered from its first order on. */
export function joinAccount(state: MatcherState, live: LiveOrder): Account {
  const { subaccountId } = live.order
  const known = state.accounts.get(subaccountId)
  const account = known ?? newAccount(subaccountId)
  if (known === undefined) state.accounts.set(subaccountId, account)
  else if (known.orders.size === 0) state.idleAccounts.delete(subaccountId)
  account.orders.add(live)
  return account
}

/** An account without observation, settlements and orders. */
export function newAccount(subaccountId: bigint): Account {
  return {
    subaccountId,
    settled: [],
    pending: NO_FUNDS,
    orders: new Set(),
    waiting: new Set(),
  }
}

/**
 * Lets a finished order go. An account without orders is kept for a while: what has just been settled on it may be
 * missing in what is read of it next.
 */
export function leaveAccount(state: MatcherState, live: LiveOrder): void {
  const account = accountOf(state, live)
  account.orders.delete(live)
  account.waiting.delete(live)
  if (account.orders.size > 0) return
  state.idleAccounts.add(account.subaccountId)
  if (state.idleAccounts.size <= ACCOUNTS_IDLE_MAX) return
  const [oldest] = state.idleAccounts
  if (oldest === undefined) return
  state.idleAccounts.delete(oldest)
  state.accounts.delete(oldest)
  state.reviews.delete(oldest)
}

/** The account of an order that the matcher keeps. */
export function accountOf(state: MatcherState, live: LiveOrder): Account {
  const account = state.accounts.get(live.order.subaccountId)
  assert(account !== undefined, `order ${live.order.orderId} has no account`)
  return account
}

/** What the account has when all that is settled is counted: the observation and what settled after it. */
export function holdings(account: Account, asset: FundedAsset): bigint | undefined {
  const { observed } = account
  if (observed === undefined) return undefined
  let held: bigint = observed[asset]
  for (const move of account.settled)
    if (move.blockNumber > observed.blockNumber) held += move[asset]
  return held
}

/** What the account can still promise: its holdings without what is promised already. Undefined when not known. */
export function available(account: Account, asset: FundedAsset): bigint | undefined {
  const held = holdings(account, asset)
  return held === undefined ? undefined : held - account.pending[asset]
}

/** The asset that an order pays with. */
export const paidAsset = ({ order }: LiveOrder): FundedAsset =>
  order.side === 'buy' ? 'quote' : 'base'

/** What a match takes from one of its orders; a selling taker's fee comes out of what it receives. */
export function matchCost({ order }: LiveOrder, match: Match): bigint {
  if (order.side === 'sell') return match.amount
  const fee = match.takerOrderId === order.orderId ? match.takerFee : 0n
  return notionalFloor(match.price, match.amount) + fee
}

/** What all that is unmatched of a resting order takes from its account when it is hit. */
export function restCost(live: LiveOrder): bigint {
  const { side, limitPrice } = live.order
  return side === 'sell' ? unmatched(live) : notionalFloor(limitPrice, unmatched(live))
}

/** Counts a match as promised by one of its orders. */
export function promise(account: Account, live: LiveOrder, match: Match): void {
  addPending(account, paidAsset(live), matchCost(live, match))
}

/** The match has an outcome and is no promise any more. */
export function unpromise(account: Account, live: LiveOrder, match: Match): void {
  addPending(account, paidAsset(live), -matchCost(live, match))
}

function addPending(account: Account, asset: FundedAsset, amount: bigint): void {
  const { base, quote } = account.pending
  account.pending =
    asset === 'base' ? { base: base + amount, quote } : { base, quote: quote + amount }
}

/** Notes what a settled match moved in its block. */
export function recordSettled(
  account: Account,
  live: LiveOrder,
  match: Match,
  blockNumber: bigint,
): void {
  addMove(account.settled, moveOf(live, match, blockNumber))
  forgetSettled(account)
}

/** The match moved nothing after all: the chain has lost it. */
export function recordReversed(
  account: Account,
  live: LiveOrder,
  match: Match,
  blockNumber: bigint,
): void {
  const { base, quote } = moveOf(live, match, blockNumber)
  addMove(account.settled, { blockNumber, base: -base, quote: -quote })
  forgetSettled(account)
}

function moveOf(live: LiveOrder, match: Match, blockNumber: bigint): SettledMove {
  const notional = notionalFloor(match.price, match.amount)
  const fee = match.takerOrderId === live.order.orderId ? match.takerFee : 0n
  const bought = live.order.side === 'buy' ? 1n : -1n
  return { blockNumber, base: bought * match.amount, quote: -bought * notional - fee }
}

/** One move a block, ascending; beyond the bound the oldest two become one, which counts as long as the later did. */
function addMove(moves: SettledMove[], move: SettledMove): void {
  let at = moves.length
  while (at > 0 && (moves[at - 1] as SettledMove).blockNumber > move.blockNumber) at -= 1
  const same = moves[at - 1]
  if (same?.blockNumber === move.blockNumber) moves[at - 1] = sum(move, same)
  else moves.splice(at, 0, move)
  if (moves.length <= SETTLED_BLOCKS_MAX) return
  const [first, second] = moves
  if (first !== undefined && second !== undefined) moves.splice(0, 2, sum(second, first))
}

const sum = (move: SettledMove, other: Funds): SettledMove => ({
  blockNumber: move.blockNumber,
  base: move.base + other.base,
  quote: move.quote + other.quote,
})

/** Moves that no observation will lack any more, however far the chain is reorganised. */
function forgetSettled(account: Account): void {
  const { observed } = account
  if (observed === undefined) return
  const { settled } = account
  const isSure = (move: SettledMove | undefined): boolean =>
    move !== undefined && move.blockNumber + REORG_BLOCKS <= observed.blockNumber
  while (isSure(settled[0])) settled.shift()
}

/** Replaces what is known of the account; an earlier block than before is as good, for the chain may go back. */
export function setObserved(account: Account, observation: AccountObservation): void {
  account.observed = observation
  forgetSettled(account)
}

/** Whether the account is known not to be at the order's owner's disposal. */
export function isOutOfCustody(account: Account, { order }: LiveOrder): boolean {
  const { observed } = account
  return observed !== undefined && (observed.leaving || observed.custodyOwner !== order.owner)
}
