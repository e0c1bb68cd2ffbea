import { countFree, joinAccount, newAccount, type Account, type SettledMove } from './accounts.js'
import { assert } from './assert.js'
import { addToBook, emptyBook } from './book.js'
import type { Match } from './change.js'
import type { AccountObservation, Funds } from './account.js'
import { deadlinesOf, listDeadlines, type Deadline } from './deadlines.js'
import { newLiveOrder, openAmount, type LiveOrder } from './live-order.js'
import { amountE18 } from './money.js'
import { joinOwner } from './owner-orders.js'
import { knownOrder, type MarketRules, type MatcherState } from './matcher-state.js'

/** What follows of an order from the rest: copies, its places in the book, under account and owner, and what is left. */
type DerivedOfOrder =
  | 'orderId'
  | 'owner'
  | 'side'
  | 'limitPrice'
  | 'desired'
  | 'unmatched'
  | 'account'
  | 'previousOfAccount'
  | 'nextOfAccount'
  | 'nonce'
  | 'own'
  | 'newerOfOwner'
  | 'olderOfOwner'
  | 'level'
  | 'previous'
  | 'next'
type KeptOfOrder = Omit<LiveOrder, DerivedOfOrder>
type Seldom = 'gone' | 'cancelReason' | 'cancelledAtMs' | 'hold'

/** An order as it is kept: everything that does not follow from the rest. */
export type OrderSnapshot = Readonly<Omit<KeptOfOrder, Seldom>> & {
  readonly [Key in Seldom]?: NonNullable<LiveOrder[Key]>
}

/** An account as it is kept: its orders follow from the orders, those that wait are named. */
export interface AccountSnapshot {
  readonly subaccountId: bigint
  readonly observed?: AccountObservation
  readonly settled: readonly SettledMove[]
  /** What it has promised. */
  readonly pending: Funds
  readonly waiting: readonly string[]
}

/** Parts of the state that are made anew from the others. */
type DerivedPart = 'book' | 'owners'
type KeptPart = Exclude<keyof MatcherState, DerivedPart>

/** A market's state at one moment, which later steps leave alone: restoring it gives a state that goes on alike. */
export interface MatcherSnapshot {
  readonly rules: MarketRules
  readonly seq: number
  readonly rank: number
  readonly nowMs: number
  /** In the order of placement. */
  readonly orders: readonly OrderSnapshot[]
  /** In the order in which they were proposed. */
  readonly matches: readonly Match[]
  /** The heap as it stands: entries that are stale by now count among those one step looks at. */
  readonly deadlines: readonly Deadline[]
  readonly accounts: readonly AccountSnapshot[]
  readonly idleAccounts: readonly bigint[]
  readonly reviews: readonly bigint[]
  readonly lastSourceNo: readonly (readonly [source: string, sourceNo: number])[]
  readonly reversals: { readonly upTo: number; readonly beyond: readonly number[] }
}

/** The rules alone, of whatever carries them. */
export function rulesOf({ market, ordinal, takerFeeBps }: MarketRules): MarketRules {
  return { market, ordinal, takerFeeBps }
}

/**
 * Copies what a step may change and shares the rest, in a few milliseconds for 100,000 orders; a part of the state that
 * is missing here does not compile.
 */
export function takeSnapshot(state: MatcherState): MatcherSnapshot {
  return {
    rules: rulesOf(state.rules),
    seq: state.seq,
    rank: state.rank,
    nowMs: state.nowMs,
    orders: Array.from(state.orders.values(), orderSnapshot),
    matches: [...state.matches.values()],
    deadlines: listDeadlines(state.deadlines),
    accounts: Array.from(state.accounts.values(), accountSnapshot),
    idleAccounts: [...state.idleAccounts],
    reviews: [...state.reviews],
    lastSourceNo: [...state.lastSourceNo],
    reversals: { upTo: state.reversals.upTo, beyond: [...state.reversals.beyond] },
  } satisfies Record<KeptPart, unknown>
}

function orderSnapshot(live: LiveOrder): OrderSnapshot {
  const { gone, cancelReason, cancelledAtMs, hold } = live
  return {
    order: live.order,
    rank: live.rank,
    createdAtMs: live.createdAtMs,
    updatedAtMs: live.updatedAtMs,
    filled: live.filled,
    pending: live.pending,
    shownOpen: live.shownOpen,
    ...(gone !== undefined && { gone }),
    ...(cancelReason !== undefined && { cancelReason }),
    ...(cancelledAtMs !== undefined && { cancelledAtMs }),
    ...(hold !== undefined && { hold }),
    refusals: live.refusals,
    firstRefusedAtMs: live.firstRefusedAtMs,
  } satisfies Record<Exclude<keyof KeptOfOrder, Seldom>, unknown>
}

function accountSnapshot(account: Account): AccountSnapshot {
  const { subaccountId, observed, settled, promisedBase, promisedQuote, waiting } = account
  return {
    subaccountId,
    ...(observed !== undefined && { observed }),
    settled: settled.slice(),
    pending: { base: promisedBase, quote: promisedQuote },
    waiting: Array.from(waiting, ({ order }) => order.orderId),
  }
}

/** The state of the snapshot. It shares nothing with it that a step would change. */
export function restoreSnapshot(snapshot: MatcherSnapshot): MatcherState {
  const state: MatcherState = {
    rules: snapshot.rules,
    seq: snapshot.seq,
    rank: snapshot.rank,
    nowMs: snapshot.nowMs,
    orders: new Map(),
    owners: new Map(),
    book: emptyBook(),
    matches: new Map(snapshot.matches.map((match) => [match.settlementId, match])),
    deadlines: deadlinesOf(snapshot.deadlines),
    accounts: new Map(),
    idleAccounts: new Set(snapshot.idleAccounts),
    reviews: new Set(snapshot.reviews),
    lastSourceNo: new Map(snapshot.lastSourceNo),
    reversals: { upTo: snapshot.reversals.upTo, beyond: new Set(snapshot.reversals.beyond) },
  }
  for (const kept of snapshot.accounts) restoreAccount(state, kept)
  const orders = snapshot.orders.map((kept) => restoreOrder(state, kept))
  for (const { subaccountId, waiting } of snapshot.accounts) {
    const account = knownAccount(state, subaccountId)
    for (const orderId of waiting) account.waiting.add(knownOrder(state, orderId))
  }
  // From the worst price to the best, so that each level is put at the end of its ladder.
  const resting = orders.filter((live) => openAmount(live) > 0n).sort(fromWorst)
  for (const live of resting) addToBook(state.book, live)
  return state
}

function restoreAccount(state: MatcherState, kept: AccountSnapshot): void {
  const account = newAccount(kept.subaccountId)
  account.observed = kept.observed
  account.settled.push(...kept.settled)
  account.promisedBase = kept.pending.base
  account.promisedQuote = kept.pending.quote
  countFree(account)
  state.accounts.set(account.subaccountId, account)
}

function restoreOrder(state: MatcherState, kept: OrderSnapshot): LiveOrder {
  const { order, rank, createdAtMs } = kept
  const account = knownAccount(state, order.subaccountId)
  const live = newLiveOrder(order, { account, rank, nowMs: createdAtMs })
  const { gone, cancelReason, cancelledAtMs, hold, filled, pending } = kept
  Object.assign(live, { ...kept, gone, cancelReason, cancelledAtMs, hold })
  live.unmatched = amountE18(order.desiredAmount - filled - pending)
  state.orders.set(order.orderId, live)
  joinOwner(state.owners, live)
  joinAccount(state, live)
  return live
}

function knownAccount(state: MatcherState, subaccountId: bigint): Account {
  const account = state.accounts.get(subaccountId)
  assert(account !== undefined, `account ${subaccountId} is not known`)
  return account
}

function fromWorst(a: LiveOrder, b: LiveOrder): number {
  if (a.order.side !== b.order.side) return a.order.side === 'buy' ? -1 : 1
  const [x, y] = [a.order.limitPrice, b.order.limitPrice]
  if (x === y) return a.rank - b.rank
  return x < y === (a.order.side === 'buy') ? -1 : 1
}
