import type { Account } from './accounts.js'
import { assert } from './assert.js'
import { emptyBook, type Book } from './book.js'
import type { Match } from './change.js'
import { addDeadline, noDeadlines, type Deadlines } from './deadlines.js'
import type { LiveOrder } from './live-order.js'
import { EXPIRY_MARGIN_MS } from './matching-limits.js'
import type { Owners } from './owner-orders.js'

/** What matching needs to know of a market; the rest of its description never enters the step. */
export interface MarketRules {
  readonly market: string
  readonly ordinal: number
  readonly takerFeeBps: number
}

/** Everything one market's matcher knows: a fold over that market's command log. */
export interface MatcherState {
  readonly rules: MarketRules
  /** Number of the last change. */
  seq: number
  /** Number of the last placement. */
  rank: number
  /** Market time: the greatest time seen in the log, unix milliseconds. */
  nowMs: number
  readonly orders: Map<string, LiveOrder>
  /** The same by owner and nonce. */
  readonly owners: Owners
  readonly book: Book
  /** Matches awaiting settlement, by settlement id. */
  readonly matches: Map<string, Match>
  deadlines: Deadlines
  /** Subaccounts of live orders, and some that had one lately, by id. */
  readonly accounts: Map<bigint, Account>
  /** Those without a live order, the longest idle first. */
  readonly idleAccounts: Set<bigint>
  /** Accounts whose orders were not all looked at yet since the account changed. */
  readonly reviews: Set<bigint>
  /** Last command number applied of each writer; what is not above it has been seen. */
  readonly lastSourceNo: Map<string, number>
  readonly reversals: ReversalsDone
}

/** Which of the executor's reversals are dealt with: all up to a number, and some beyond it. */
export interface ReversalsDone {
  upTo: number
  readonly beyond: Set<number>
}

export function emptyMatcherState(rules: MarketRules): MatcherState {
  return {
    rules,
    seq: 0,
    rank: 0,
    nowMs: 0,
    orders: new Map(),
    owners: new Map(),
    book: emptyBook(),
    matches: new Map(),
    deadlines: noDeadlines(),
    accounts: new Map(),
    idleAccounts: new Set(),
    reviews: new Set(),
    lastSourceNo: new Map(),
    reversals: { upTo: 0, beyond: new Set() },
  }
}

/** The order, which must be known: a match refers to it. */
export function knownOrder(state: MatcherState, orderId: string): LiveOrder {
  const live = state.orders.get(orderId)
  if (live === undefined) assert(false, `order ${orderId} has a match but is not known`)
  return live
}

/** When time alone will next change something about the order; undefined when it never will. */
export function nextDeadlineMs(live: LiveOrder): number | undefined {
  if (live.gone !== undefined) return undefined
  const expiryMs = live.order.goodUntilSec * 1000
  const expiringMs = live.hold?.reason === 'expiring' ? expiryMs : expiryMs - EXPIRY_MARGIN_MS
  const releaseMs = live.hold?.untilMs
  return releaseMs === undefined ? expiringMs : Math.min(releaseMs, expiringMs)
}

const STALE_DEADLINES_MIN = 1024

/** Schedules the order's next deadline and keeps the queue within twice the number of live orders. */
export function scheduleOrder(state: MatcherState, live: LiveOrder): void {
  const atMs = nextDeadlineMs(live)
  if (atMs === undefined) return
  addDeadline(state.deadlines, { atMs, rank: live.rank, orderId: live.orderId })
  if (state.deadlines.atMs.length > 2 * state.orders.size + STALE_DEADLINES_MIN)
    rebuildDeadlines(state)
}

function rebuildDeadlines(state: MatcherState): void {
  state.deadlines = noDeadlines()
  for (const live of state.orders.values()) {
    const atMs = nextDeadlineMs(live)
    if (atMs !== undefined) {
      addDeadline(state.deadlines, { atMs, rank: live.rank, orderId: live.orderId })
    }
  }
}
