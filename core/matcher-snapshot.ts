import { accountOf, type Account } from './accounts.js'
import { addToBook, emptyBook } from './book.js'
import type { Match } from './change.js'
import type { Deadline } from './deadlines.js'
import { openAmount, type LiveOrder } from './live-order.js'
import { knownOrder, ownerNonceKey, type MarketRules, type MatcherState } from './matcher-state.js'

/** An order as it is kept: everything but its place in the book, which follows from its price, rank and open amount. */
export type OrderSnapshot = Readonly<Omit<LiveOrder, 'level' | 'previous' | 'next'>>

/** An account as it is kept: its orders follow from the orders, those that wait are named. */
export type AccountSnapshot = Readonly<Omit<Account, 'orders' | 'waiting'>> & {
  readonly waiting: readonly string[]
}

/** Parts of the state that are made anew from the others. */
type DerivedPart = 'book' | 'orderIdByNonce'
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
    deadlines: state.deadlines.slice(),
    accounts: Array.from(state.accounts.values(), accountSnapshot),
    idleAccounts: [...state.idleAccounts],
    reviews: [...state.reviews],
    lastSourceNo: [...state.lastSourceNo],
    reversals: { upTo: state.reversals.upTo, beyond: [...state.reversals.beyond] },
  } satisfies Record<KeptPart, unknown>
}

/** Without the place in the book, which is made anew. */
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
  } satisfies Record<Exclude<keyof OrderSnapshot, OptionalKey>, unknown>
}

type OptionalKey = 'gone' | 'cancelReason' | 'cancelledAtMs' | 'hold'

function accountSnapshot(account: Account): AccountSnapshot {
  const { subaccountId, observed, settled, pending, waiting } = account
  return {
    subaccountId,
    ...(observed !== undefined && { observed }),
    settled: settled.slice(),
    pending,
    waiting: Array.from(waiting, ({ order }) => order.orderId),
  } satisfies Record<Exclude<keyof Account, 'orders' | 'observed'>, unknown>
}

/** The state of the snapshot. It shares nothing with it that a step would change. */
export function restoreSnapshot(snapshot: MatcherSnapshot): MatcherState {
  const orders = snapshot.orders.map(withoutPlace)
  const state: MatcherState = {
    rules: snapshot.rules,
    seq: snapshot.seq,
    rank: snapshot.rank,
    nowMs: snapshot.nowMs,
    orders: new Map(orders.map((live) => [live.order.orderId, live])),
    orderIdByNonce: new Map(
      orders.map(({ order }) => [ownerNonceKey(order.owner, order.nonce), order.orderId]),
    ),
    book: emptyBook(),
    matches: new Map(snapshot.matches.map((match) => [match.settlementId, match])),
    deadlines: snapshot.deadlines.slice(),
    accounts: new Map(),
    idleAccounts: new Set(snapshot.idleAccounts),
    reviews: new Set(snapshot.reviews),
    lastSourceNo: new Map(snapshot.lastSourceNo),
    reversals: { upTo: snapshot.reversals.upTo, beyond: new Set(snapshot.reversals.beyond) },
  }
  for (const account of snapshot.accounts) restoreAccount(state, account)
  for (const live of orders) accountOf(state, live).orders.add(live)
  // From the worst price to the best, so that each level is put at the end of its ladder.
  const resting = orders.filter((live) => openAmount(live) > 0n).sort(fromWorst)
  for (const live of resting) addToBook(state.book, live)
  return state
}

function restoreAccount(state: MatcherState, kept: AccountSnapshot): void {
  const waiting = kept.waiting.map((orderId) => knownOrder(state, orderId))
  const account: Account = {
    ...kept,
    settled: kept.settled.slice(),
    orders: new Set(),
    waiting: new Set(waiting),
  }
  state.accounts.set(account.subaccountId, account)
}

function withoutPlace(kept: OrderSnapshot): LiveOrder {
  return { ...kept, level: undefined, previous: undefined, next: undefined }
}

function fromWorst(a: LiveOrder, b: LiveOrder): number {
  if (a.order.side !== b.order.side) return a.order.side === 'buy' ? -1 : 1
  const [x, y] = [a.order.limitPrice, b.order.limitPrice]
  if (x === y) return a.rank - b.rank
  return x < y === (a.order.side === 'buy') ? -1 : 1
}
