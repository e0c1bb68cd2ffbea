import { assert } from '../assert.js'
import { endsWithKey, type LiveOrder, type Account } from '../model/live-order.js'
import { listWindows } from './code-windows.js'
import { listDeadlines } from './deadlines.js'
import {
  accountSnapshot,
  orderSnapshot,
  type AccountSnapshot,
  type KeptPart,
  type MatcherSnapshot,
  type OrderSnapshot,
} from './snapshot.js'
import type { MatcherState } from './state.js'

/** A state of one moment, to be read once while steps go on, orders before the ends of their keys. */
export interface CapturedState {
  readonly snapshot: MatcherSnapshot
  /** Lets go of the rows that were kept. Rows that are read later show the state of that time. */
  readonly release: () => void
}

/**
 * Captures the state between two steps, some milliseconds for 200,000 orders: references are copied, and rows are made
 * later. A part of the state that is missing here does not compile. A state is captured by one reader at a time.
 */
export function captureState(state: MatcherState): CapturedState {
  assert(state.capture === undefined, `${state.identity.market} is being captured`)
  const orders = [...state.orders.values()]
  const accounts = [...state.accounts.values()]
  const rows = new Map<LiveOrder, KeptOrder>()
  const accountRows = new Map<Account, AccountSnapshot>()
  const { rank: lastRank } = state
  const keepAccount = (account: Account): void => {
    if (!accountRows.has(account)) accountRows.set(account, accountSnapshot(state, account))
  }
  const keep = (live: LiveOrder): void => {
    if (live.rank <= lastRank && !rows.has(live)) rows.set(live, rowOf(live))
    keepAccount(live.account)
  }
  const keyEnds: [orderId: string, endsSec: number][] = []
  function* orderRows(): Generator<OrderSnapshot> {
    for (const live of orders) {
      const { row, keyEndsSec } = rows.get(live) ?? rowOf(live)
      if (keyEndsSec !== undefined) keyEnds.push([live.orderId, keyEndsSec])
      yield row
    }
  }
  function* accountsRows(): Generator<AccountSnapshot> {
    for (const account of accounts) {
      yield accountRows.get(account) ?? accountSnapshot(state, account)
    }
  }
  state.capture = { keep, keepAccount }
  return {
    snapshot: {
      ...restOf(state),
      orders: { [Symbol.iterator]: orderRows },
      accounts: { [Symbol.iterator]: accountsRows },
      keyEnds,
    } satisfies Record<KeptPart, unknown>,
    release: () => (state.capture = undefined),
  }
}

/** An order's row with what of the order is listed apart. */
interface KeptOrder {
  readonly row: OrderSnapshot
  readonly keyEndsSec: number | undefined
}

const rowOf = (live: LiveOrder): KeptOrder => ({
  row: orderSnapshot(live),
  keyEndsSec: endsWithKey(live) ? live.endsAtMs / 1000 : undefined,
})

/** What is copied at once. */
function restOf(state: MatcherState) {
  return {
    identity: state.identity,
    rules: state.rules,
    enabled: state.enabled,
    cancelUpToRank: state.cancelUpToRank,
    engineVersion: state.engineVersion,
    seq: state.seq,
    rank: state.rank,
    tradeNo: state.tradeNo,
    nowMs: state.nowMs,
    clock: state.clock,
    observed: state.observed,
    holds: [...state.holds],
    closed: state.closed,
    fault: state.fault,
    refusedPrices: [...state.refusedPrices],
    failedPairs: [...state.failedPairs.byKey.values()],
    codeSigners: [...state.codeSigners],
    codeWindows: listWindows(state.windows),
    failedSigners: [...state.windows.signers.values()],
    takenWindows: [...state.windows.taken.values()],
    codeTrials: state.windows.trials,
    matches: [...state.matches.values()],
    deadlines: listDeadlines(state.deadlines),
    idleAccounts: [...state.idleAccounts],
    reviews: [...state.reviews],
    lastSourceNo: [...state.lastSourceNo],
    refusedOrders: [...state.refusedOrders],
    leases: [...state.leases.byKey.values()],
    massCancels: [...state.massCancels.values()].flat(),
    reversals: { upTo: state.reversals.upTo, beyond: [...state.reversals.beyond] },
  } satisfies Omit<MatcherSnapshot, 'orders' | 'accounts' | 'keyEnds'>
}
