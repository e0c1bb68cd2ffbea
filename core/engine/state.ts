import type { Address } from '../action.js'
import { assert } from '../assert.js'
import type { MarketObservation, Trading } from '../contracts/contract.js'
import {
  OPEN,
  type MarketIdentity,
  type MarketOpening,
  type MarketRules,
  type MarketStanding,
} from '../model/market-terms.js'
import { tradingOf } from '../contracts/registry.js'
import { amountE18, type AmountE18, type PriceE18 } from '../money.js'
import type { Account } from './accounts.js'
import { emptyBook, type Book } from './book.js'
import type { MassCancel } from './cancel-many.js'
import type { ClockSeen } from './clock.js'
import type { Capture } from './capture.js'
import type { Match } from '../model/change.js'
import type { RefusedByMarket } from '../model/command-answer.js'
import { noCodeWindows, type CodeWindows } from './code-windows.js'
import { addDeadline, noDeadlines, type Deadlines } from './deadlines.js'
import { FIRST_ENGINE_VERSION } from './engine-version.js'
import type { ChainFault, MarketHolds } from './holds.js'
import { leasesOf, type Leases } from './leases.js'
import { EXPIRY_MARGIN_MS } from '../model/limits.js'
import type { LiveOrder, OwnerOrders } from '../model/live-order.js'
import { failedPairsOf, type FailedPairs } from './signer-pairs.js'
import { withOrdinal } from './trade-id.js'

/** The whole state of one market's matcher: a fold over that market's command log. */
export interface MatcherState {
  readonly identity: MarketIdentity
  rules: MarketRules
  /** Whether orders are taken. */
  enabled: boolean
  /** Placements up to this rank are still to be cancelled because the market was disabled; 0 when none is. */
  cancelUpToRank: number
  /** How the market's contract type judges, matches and settles. Follows from the identity. */
  readonly trading: Trading
  /** The version of the step by which commands are applied (engine-version.ts). */
  engineVersion: number
  /** Number of the last change. */
  seq: number
  /** Number of the last placement. */
  rank: number
  /** Number of the last trade, 0 before the first. */
  tradeNo: number
  /** Market time: the greatest time in the log that is trusted (clock.ts), unix milliseconds. */
  nowMs: number
  /** The newest comparison with the chain's clock; absent while none was logged. */
  clock: ClockSeen | undefined
  readonly orders: Map<string, LiveOrder>
  /** The same by owner and nonce; an owner without a live order is absent. */
  readonly owners: Map<Address, OwnerOrders>
  readonly book: Book
  /** Matches awaiting settlement, by settlement id. */
  readonly matches: Map<string, Match>
  /** Sum of their amounts. Follows from them. */
  awaiting: AmountE18
  deadlines: Deadlines
  /** The newest observation of the market on the chain; absent while none was logged. */
  observed: MarketObservation | undefined
  /** Why the whole market is held; empty while it trades. */
  readonly holds: MarketHolds
  /** The public form of the holds. Follows from them. */
  standing: MarketStanding
  /** Whether nothing may cross now: the market is held, or was and crossed orders still rest. */
  closed: boolean
  /** What the chain last refused matches for; absent since the last fill. */
  fault: ChainFault | undefined
  /** Prices of fills that the chain refused as out of range since the newest observation of the market; at most the matches. */
  readonly refusedPrices: Set<PriceE18>
  /** Signers whose matches have failed without proof against either. */
  readonly failedPairs: FailedPairs
  /** Signers that a failed match has shown to be code, the longest known first. */
  readonly codeSigners: Set<Address>
  /** How far signers that are code are trusted (code-windows.ts). */
  readonly windows: CodeWindows
  /** Subaccounts of live orders, and some that lately had one, by id. */
  readonly accounts: Map<bigint, Account>
  /** Accounts without a live order, the longest idle first. */
  readonly idleAccounts: Set<bigint>
  /** Accounts that changed and whose orders were not all reviewed yet. */
  readonly reviews: Set<bigint>
  /** Number of the last command applied of each writer; a command with no greater number is a repeat. */
  readonly lastSourceNo: Map<string, number>
  readonly reversals: ReversalsDone
  /** Present while the state is being captured (capture.ts). */
  capture: Capture | undefined
  /** Orders that the market has refused, the oldest first, and why. */
  readonly refusedOrders: Map<string, RefusedByMarket>
  /** Promises to cancel, unless they are renewed in time. */
  readonly leases: Leases
  /** Cancels of many orders that are not finished, by owner. */
  readonly massCancels: Map<Address, readonly MassCancel[]>
}

/** The executor's reversals that were applied: all up to a number, and some beyond it. */
export interface ReversalsDone {
  upTo: number
  readonly beyond: Set<number>
}

/** The state of a market that was just opened. */
export function emptyMatcherState({ identity, rules, enabled }: MarketOpening): MatcherState {
  return {
    identity,
    rules,
    enabled,
    cancelUpToRank: 0,
    trading: tradingOf(identity),
    engineVersion: FIRST_ENGINE_VERSION,
    seq: 0,
    rank: 0,
    tradeNo: 0,
    nowMs: 0,
    clock: undefined,
    orders: new Map(),
    owners: new Map(),
    book: emptyBook(),
    matches: new Map(),
    awaiting: amountE18(0n),
    deadlines: noDeadlines(),
    observed: undefined,
    holds: new Map(),
    standing: OPEN,
    closed: false,
    fault: undefined,
    refusedPrices: new Set(),
    failedPairs: failedPairsOf([]),
    codeSigners: new Set(),
    windows: noCodeWindows(),
    accounts: new Map(),
    idleAccounts: new Set(),
    reviews: new Set(),
    lastSourceNo: new Map(),
    reversals: { upTo: 0, beyond: new Set() },
    capture: undefined,
    refusedOrders: new Map(),
    leases: leasesOf([]),
    massCancels: new Map(),
  }
}

/** The id of the next trade (REA-014), which is counted as made. */
export function nextTradeId(state: MatcherState): number {
  state.tradeNo += 1
  return withOrdinal(state.tradeNo, state.identity.ordinal)
}

/** The order, which must be known: a match refers to it. */
export function knownOrder(state: MatcherState, orderId: string): LiveOrder {
  const live = state.orders.get(orderId)
  if (live === undefined) assert(false, `order ${orderId} has a match but is not known`)
  return live
}

/** Makes a live order known under its owner and nonce. */
export function joinOwner({ owners }: MatcherState, live: LiveOrder): void {
  const { own, owner, nonce } = live
  if (own.size === 0) owners.set(owner, own)
  own.set(nonce, live)
}

export function leaveOwner({ owners }: MatcherState, { own, owner, nonce }: LiveOrder): void {
  own.delete(nonce)
  if (own.size === 0) owners.delete(owner)
}

/**
 * When time will next change the order, unix milliseconds, not before 1970; undefined when it never will. A session key that was
 * revoked ends at 0.
 */
export function nextDeadlineMs(live: LiveOrder): number | undefined {
  if (live.gone !== undefined) return undefined
  const expiryMs = live.endsAtMs
  const isExpiring = live.hold?.reason === 'expiring'
  const expiringMs = isExpiring ? expiryMs : Math.max(expiryMs - EXPIRY_MARGIN_MS, 0)
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
