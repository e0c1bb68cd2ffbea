import type { AccountObservation, FundedAsset, Funds } from './account.js'
import type { Match } from './change.js'
import type { LiveOrder } from './live-order.js'
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
  observed: AccountObservation | undefined
  /** By block, ascending: what an observation of an earlier block does not show. */
  readonly settled: SettledMove[]
  /** What the account's matches that await settlement would take from it. Follows from them. */
  promisedBase: bigint
  promisedQuote: bigint
  /** What it can still promise of each: its holdings without what is promised. Follows; unknown while unobserved. */
  freeBase: bigint | undefined
  freeQuote: bigint | undefined
  /** The account's live orders, linked from the earliest on. Follows from them. */
  first: LiveOrder | undefined
  last: LiveOrder | undefined
  /** Orders that wait for the account to change: a reminder to look at them, their hold says whether they still do. */
  readonly waiting: Set<LiveOrder>
}

/** The account of an order that is about to come, which is remembered from its first order on. */
export function accountFor(state: MatcherState, subaccountId: bigint): Account {
  const known = state.accounts.get(subaccountId)
  if (known !== undefined) return known
  const account = newAccount(subaccountId)
  state.accounts.set(subaccountId, account)
  return account
}

/** Takes a new order under its account, behind the others. */
export function joinAccount(state: MatcherState, live: LiveOrder): void {
  const { account } = live
  const { last } = account
  if (last === undefined) {
    if (state.idleAccounts.size > 0) state.idleAccounts.delete(account.subaccountId)
    account.first = live
  } else {
    last.nextOfAccount = live
    live.previousOfAccount = last
  }
  account.last = live
}

/** An account without observation, settlements and orders. */
export function newAccount(subaccountId: bigint): Account {
  return {
    subaccountId,
    observed: undefined,
    settled: [],
    promisedBase: 0n,
    promisedQuote: 0n,
    freeBase: undefined,
    freeQuote: undefined,
    first: undefined,
    last: undefined,
    waiting: new Set(),
  }
}

/**
 * Lets a finished order go. An account without orders is kept for a while: what has just been settled on it may be
 * missing in what is read of it next.
 */
export function leaveAccount(state: MatcherState, live: LiveOrder): void {
  const { account, previousOfAccount: previous, nextOfAccount: next } = live
  if (account.waiting.size > 0) account.waiting.delete(live)
  if (previous === undefined) account.first = next
  else previous.nextOfAccount = next
  if (next === undefined) account.last = previous
  else next.previousOfAccount = previous
  live.previousOfAccount = undefined
  live.nextOfAccount = undefined
  if (account.first === undefined) keepIdle(state, account)
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

/** The account's live orders in the order of their placement. */
export function* ordersOfAccount(account: Account): Generator<LiveOrder> {
  for (let live = account.first; live !== undefined; live = live.nextOfAccount) yield live
}

/** What the account has when all that is settled is counted: the observation and what settled after it. */
export function holdings(account: Account, asset: FundedAsset): bigint | undefined {
  const free = available(account, asset)
  if (free === undefined) return undefined
  return free + (asset === 'base' ? account.promisedBase : account.promisedQuote)
}

/** What the account can still promise: its holdings without what is promised already. Undefined when not known. */
export function available(account: Account, asset: FundedAsset): bigint | undefined {
  return asset === 'base' ? account.freeBase : account.freeQuote
}

/** Counts anew what the account can promise, from what was observed, settled and promised. */
export function countFree(account: Account): void {
  const { observed, settled } = account
  if (observed === undefined) return
  let base: bigint = observed.base
  let quote: bigint = observed.quote
  for (const move of settled) {
    if (move.blockNumber <= observed.blockNumber) continue
    base += move.base
    quote += move.quote
  }
  account.freeBase = base - account.promisedBase
  account.freeQuote = quote - account.promisedQuote
}

/** The asset that an order pays with. */
export const paidAsset = ({ side }: LiveOrder): FundedAsset => (side === 'buy' ? 'quote' : 'base')

/** What a match takes from one of its orders; a selling taker's fee comes out of what it receives. */
export function matchCost({ side, orderId }: LiveOrder, match: Match): bigint {
  if (side === 'sell') return match.amount
  const notional = notionalFloor(match.price, match.amount)
  return match.takerOrderId === orderId ? notional + match.takerFee : notional
}

/** What all that is unmatched of a resting order takes from its account when it is hit. */
export function restCost({ side, limitPrice, unmatched }: LiveOrder): bigint {
  return side === 'sell' ? unmatched : notionalFloor(limitPrice, unmatched)
}

/** Counts so much of what the order pays with as promised by its account. */
export function promise({ account, side }: LiveOrder, cost: bigint): void {
  if (side === 'buy') {
    account.promisedQuote += cost
    if (account.freeQuote !== undefined) account.freeQuote -= cost
  } else {
    account.promisedBase += cost
    if (account.freeBase !== undefined) account.freeBase -= cost
  }
}

/** The match has an outcome and is no promise any more. */
export function unpromise(live: LiveOrder, match: Match): void {
  promise(live, -matchCost(live, match))
}

/** Notes what a settled match moved in its block. */
export function recordSettled(live: LiveOrder, match: Match, blockNumber: bigint): void {
  addMove(live.account.settled, moveOf(live, match, blockNumber))
  forgetSettled(live.account)
}

/** The match moved nothing after all: the chain has lost it. */
export function recordReversed(live: LiveOrder, match: Match, blockNumber: bigint): void {
  const { base, quote } = moveOf(live, match, blockNumber)
  addMove(live.account.settled, { blockNumber, base: -base, quote: -quote })
  forgetSettled(live.account)
}

function moveOf(live: LiveOrder, match: Match, blockNumber: bigint): SettledMove {
  const notional = notionalFloor(match.price, match.amount)
  const fee = match.takerOrderId === live.orderId ? match.takerFee : 0n
  const bought = live.side === 'buy' ? 1n : -1n
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
  countFree(account)
}

/** Replaces what is known of the account; an earlier block than before is as good, for the chain may go back. */
export function setObserved(account: Account, observation: AccountObservation): void {
  account.observed = observation
  forgetSettled(account)
}

/** Whether the account is known not to be at the order's owner's disposal. */
export function isOutOfCustody({ account, owner }: LiveOrder): boolean {
  const { observed } = account
  return observed !== undefined && (observed.leaving || observed.custodyOwner !== owner)
}
