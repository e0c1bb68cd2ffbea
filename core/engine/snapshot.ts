import type { Address } from '../action.js'
import { assert } from '../assert.js'
import { amountE18, type PriceE18 } from '../money.js'
import type { MarketIdentity, MarketRules } from '../model/market-terms.js'
import { tradingOf } from '../contracts/registry.js'
import { joinAccount, newAccount } from './accounts.js'
import { addToBook, emptyBook } from './book.js'
import { byOwner } from './cancel-many.js'
import {
  codeWindowsOf,
  type CodeTrials,
  type CodeWindow,
  type FailedSigner,
  type WindowsOfMatch,
} from './code-windows.js'
import type { RefusedByMarket } from '../model/command-answer.js'
import type { MarketHold } from '../model/hold.js'
import { deadlinesOf, type Deadline } from './deadlines.js'
import { assertEngineVersion } from './engine-version.js'
import { standingOf } from './holds.js'
import { leasesOf } from './leases.js'
import {
  endWithKey,
  newLiveOrder,
  openAmount,
  type LiveOrder,
  type Account,
} from '../model/live-order.js'
import type { Match } from '../model/match.js'
import type { MarketObservation, RiskSnapshot, AccountObservation } from '../model/observation.js'
import { atOnce, type Pieces } from '../pieces.js'
import { failedPairsOf } from './signer-pairs.js'
import {
  joinOwner,
  knownOrder,
  type MatcherState,
  type ClockSeen,
  type ChainFault,
  type HoldCause,
  type Lease,
  type MassCancel,
  type FailedPair,
} from './state.js'

/** What follows of an order from the rest: copies, its place in the book, its account, and what is left. */
type DerivedOfOrder =
  | 'orderId'
  | 'owner'
  | 'side'
  | 'limitPrice'
  | 'desired'
  | 'unmatched'
  | 'account'
  | 'nonce'
  | 'level'
  | 'endsAtMs'
  | 'own'
  | 'previous'
  | 'next'
type KeptOfOrder = Omit<LiveOrder, DerivedOfOrder>
type SparseField = 'gone' | 'cancelReason' | 'cancelledAtMs' | 'hold' | 'cancelOnReturn'

/** An order in a snapshot: the fields that do not follow from others. */
export type OrderSnapshot = Readonly<Omit<KeptOfOrder, SparseField>> & {
  readonly [Key in SparseField]?: NonNullable<LiveOrder[Key]>
}

/** An account in a snapshot. Its orders follow from the orders; the waiting ones are listed. */
export interface AccountSnapshot {
  readonly subaccountId: bigint
  readonly observed?: AccountObservation
  readonly riskAccount: RiskSnapshot
  readonly waiting: readonly string[]
}

/** Parts of the state that are rebuilt from the others. */
type DerivedPart = 'book' | 'owners' | 'trading' | 'standing' | 'awaiting' | 'capture'
/** How `windows` is kept. */
type WindowsPart = 'codeWindows' | 'failedSigners' | 'takenWindows' | 'codeTrials'

/** What a snapshot must hold. */
export type KeptPart =
  Exclude<keyof MatcherState, DerivedPart | 'windows'> | WindowsPart | 'keyEnds'

/** A market's state between two steps; the restored state continues identically. */
export interface MatcherSnapshot {
  readonly identity: MarketIdentity
  readonly rules: MarketRules
  readonly engineVersion: number
  readonly enabled: boolean
  readonly cancelUpToRank: number
  readonly seq: number
  readonly rank: number
  readonly tradeNo: number
  readonly nowMs: number
  readonly clock: ClockSeen | undefined
  readonly observed: MarketObservation | undefined
  readonly holds: Iterable<readonly [cause: HoldCause, hold: MarketHold]>
  readonly closed: boolean
  readonly fault: ChainFault | undefined
  readonly refusedPrices: Iterable<PriceE18>
  /** The pair that failed longest ago first. */
  readonly failedPairs: Iterable<FailedPair>
  readonly codeSigners: Iterable<Address>
  /** Those with failures first, the one that failed longest ago before others; then the one paid for longest ago. */
  readonly codeWindows: Iterable<CodeWindow>
  /** The one that failed longest ago first. */
  readonly failedSigners: Iterable<FailedSigner>
  readonly takenWindows: Iterable<WindowsOfMatch>
  readonly codeTrials: CodeTrials | undefined
  /** In the order of placement. */
  readonly orders: Iterable<OrderSnapshot>
  /** In the order in which they were proposed. */
  readonly matches: Iterable<Match>
  /** The heap with its stale entries, because those count towards the deadlines of one step. */
  readonly deadlines: Iterable<Deadline>
  readonly accounts: Iterable<AccountSnapshot>
  readonly idleAccounts: Iterable<bigint>
  readonly reviews: Iterable<bigint>
  /** Ends of the session keys that end before the orders that they signed. */
  readonly keyEnds: Iterable<readonly [orderId: string, endsSec: number]>
  readonly lastSourceNo: Iterable<readonly [source: string, sourceNo: number]>
  readonly refusedOrders: Iterable<readonly [orderId: string, code: RefusedByMarket]>
  readonly leases: Iterable<Lease>
  /** Those of one owner in their order. */
  readonly massCancels: Iterable<MassCancel>
  readonly reversals: { readonly upTo: number; readonly beyond: readonly number[] }
}

/** The row of an order; it does not change with the order. */
export function orderSnapshot(live: LiveOrder): OrderSnapshot {
  const { gone, cancelReason, cancelledAtMs, hold, cancelOnReturn } = live
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
    ...(cancelOnReturn !== undefined && { cancelOnReturn }),
    refusals: live.refusals,
    firstRefusedAtMs: live.firstRefusedAtMs,
  } satisfies Record<Exclude<keyof KeptOfOrder, SparseField>, unknown>
}

/** The row of an account; it does not change with the account. */
export function accountSnapshot({ trading }: MatcherState, account: Account): AccountSnapshot {
  const { subaccountId, observed, riskAccount, waiting } = account
  return {
    subaccountId,
    ...(observed !== undefined && { observed }),
    riskAccount: trading.means.snapshot(riskAccount),
    waiting: Array.from(waiting, ({ order }) => order.orderId),
  }
}

/**
 * The state of the snapshot. It shares nothing with it that a step would change. An engine version that this build does
 * not know breaks an invariant.
 */
export const restoreSnapshot = (snapshot: MatcherSnapshot): MatcherState =>
  atOnce(restoreInPieces(snapshot))

/** Rows that are restored in a millisecond or so. */
const ROWS_OF_A_PIECE = 256

/** The rows, with the end of a piece before the first and after every so many. */
function* pieces<Row>(rows: Iterable<Row>, restore: (row: Row) => void): Pieces<void> {
  let left = 0
  for (const row of rows) {
    if (left === 0) {
      yield
      left = ROWS_OF_A_PIECE
    }
    left -= 1
    restore(row)
  }
}

/** The same, some hundred rows in each piece. */
export function* restoreInPieces(snapshot: MatcherSnapshot): Pieces<MatcherState> {
  assertEngineVersion(snapshot.identity.market, snapshot.engineVersion)
  const holds = new Map(snapshot.holds)
  const matches = [...snapshot.matches]
  const state: MatcherState = {
    identity: snapshot.identity,
    rules: snapshot.rules,
    enabled: snapshot.enabled,
    cancelUpToRank: snapshot.cancelUpToRank,
    trading: tradingOf(snapshot.identity),
    engineVersion: snapshot.engineVersion,
    observed: snapshot.observed,
    holds,
    standing: standingOf(holds),
    closed: snapshot.closed,
    fault: snapshot.fault,
    refusedPrices: new Set(snapshot.refusedPrices),
    failedPairs: failedPairsOf(snapshot.failedPairs),
    codeSigners: new Set(snapshot.codeSigners),
    windows: codeWindowsOf({
      windows: snapshot.codeWindows,
      signers: snapshot.failedSigners,
      taken: snapshot.takenWindows,
      trials: snapshot.codeTrials,
    }),
    seq: snapshot.seq,
    rank: snapshot.rank,
    tradeNo: snapshot.tradeNo,
    nowMs: snapshot.nowMs,
    clock: snapshot.clock,
    orders: new Map(),
    owners: new Map(),
    book: emptyBook(),
    matches: new Map(matches.map((match) => [match.settlementId, match])),
    awaiting: amountE18(matches.reduce((sum, { amount }) => sum + amount, 0n)),
    deadlines: deadlinesOf(snapshot.deadlines),
    accounts: new Map(),
    idleAccounts: new Set(snapshot.idleAccounts),
    reviews: new Set(snapshot.reviews),
    lastSourceNo: new Map(snapshot.lastSourceNo),
    refusedOrders: new Map(snapshot.refusedOrders),
    leases: leasesOf(snapshot.leases),
    massCancels: byOwner(snapshot.massCancels),
    reversals: { upTo: snapshot.reversals.upTo, beyond: new Set(snapshot.reversals.beyond) },
    capture: undefined,
  }
  yield* pieces(snapshot.accounts, (kept) => restoreAccount(state, kept))
  yield* pieces(snapshot.orders, (kept) => restoreOrder(state, kept))
  yield* pieces(snapshot.accounts, ({ subaccountId, waiting }) => {
    const account = knownAccount(state, subaccountId)
    for (const orderId of waiting) account.waiting.add(knownOrder(state, orderId))
  })
  yield* pieces(snapshot.keyEnds, ([orderId, endsSec]) =>
    endWithKey(knownOrder(state, orderId), endsSec),
  )
  yield* pieces(state.orders.values(), (live) => {
    if (openAmount(live) > 0n) addToBook(state.book, live)
  })
  return state
}

function restoreAccount(state: MatcherState, kept: AccountSnapshot): void {
  const { subaccountId, observed } = kept
  const { means } = state.trading
  const account = newAccount(
    subaccountId,
    means.restore(kept.riskAccount, { observed, market: state.observed }),
  )
  account.observed = observed
  state.accounts.set(subaccountId, account)
}

function restoreOrder(state: MatcherState, kept: OrderSnapshot): void {
  const { order, rank, createdAtMs } = kept
  const account = knownAccount(state, order.subaccountId)
  const own = state.owners.get(order.owner) ?? new Map<bigint, LiveOrder>()
  const live = newLiveOrder(order, { account, own, rank, nowMs: createdAtMs })
  live.updatedAtMs = kept.updatedAtMs
  live.filled = kept.filled
  live.pending = kept.pending
  live.unmatched = amountE18(order.desiredAmount - kept.filled - kept.pending)
  live.shownOpen = kept.shownOpen
  live.gone = kept.gone
  live.cancelReason = kept.cancelReason
  live.cancelledAtMs = kept.cancelledAtMs
  live.hold = kept.hold
  live.cancelOnReturn = kept.cancelOnReturn
  live.refusals = kept.refusals
  live.firstRefusedAtMs = kept.firstRefusedAtMs
  state.orders.set(order.orderId, live)
  if (order.signedByCode === true) state.windows.orders += 1
  joinOwner(state, live)
  joinAccount(state, live)
}

function knownAccount(state: MatcherState, subaccountId: bigint): Account {
  const account = state.accounts.get(subaccountId)
  assert(account !== undefined, `account ${subaccountId} is not known`)
  return account
}
