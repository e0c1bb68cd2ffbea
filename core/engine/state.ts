import type { Address } from '../action.js'
import { assert } from '../assert.js'
import type { TradingRules } from '../contracts/contract.js'
import type { MarketIdentity, MarketRules } from '../model/market-terms.js'
import type { AmountE18, PriceE18 } from '../money.js'
import type { Book } from './book.js'
import type { RefusedByMarket } from '../model/command-answer.js'
import type { MarketHold, EndReason } from '../model/hold.js'
import type { CodeWindows } from './code-windows.js'
import { addDeadline, noDeadlines, type Deadlines } from './deadlines.js'
import { EXPIRY_MARGIN_MS } from '../model/limits.js'
import type { LiveOrder, OwnerOrders, Account } from '../model/live-order.js'
import type { MarketStanding } from '../model/market.js'
import type { Match } from '../model/match.js'
import type { MarketObservation } from '../model/observation.js'
import type { Side } from '../model/order.js'
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
  readonly trading: TradingRules
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
  capture: StateCapture | undefined
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

/** The clock of the log beside the one of the chain, at one moment; unix milliseconds. */
export interface ClockSeen {
  /** Time of the command that brought it. */
  readonly atMs: number
  /** The chain's time then: that of its newest block, and what has passed since the block arrived. */
  readonly chainMs: number
}

/**
 * What may hold a whole market: an operator, a restored gap, a clock that is off, the facts by which its contract holds it, or a
 * fault of the chain that no order caused. Each cause has at most one hold, which it sets and lifts without regard to the others.
 */
export type HoldCause = 'operator' | 'restored' | 'clock' | 'facts' | 'chain'

/** The market's holds, by cause. While there is one, orders rest visibly and nothing crosses. */
export type MarketHolds = Map<HoldCause, MarketHold>

/** A fault of the chain that may forbid every match of the market; forgotten with the next fill. */
export interface ChainFault {
  /** The revert with which it shows. */
  readonly revert: string
  /** The accounts of the first pair that it hit, if only that has been seen; empty once the fault is the venue's. */
  readonly accounts: readonly bigint[]
  /** How long the market was last held for it; 0 while it was not. */
  readonly holdMs: number
}

/**
 * A promise to cancel: when it ends, the market cancels the orders that were placed under it. It is in the log, so that it
 * holds whatever else is down: a matcher that starts after its end cancels before it does anything else.
 */
export interface Lease {
  readonly owner: Address
  /** Of a socket: its orders name it. Absent: all orders of the owner are meant. */
  readonly leaseId?: string
  /** Unix milliseconds of market time. */
  readonly endsAtMs: number
  /** Set while market time stood still: its seconds count from where time goes on. */
  readonly awaitsTime?: true
}

/** All leases of a market, by lease id, or by owner where the lease covers all orders of one. */
export interface Leases {
  readonly byKey: Map<string, Lease>
  /** No lease ends before; at most the earliest end. */
  dueMs: number
}

/** The orders of an owner that are cancelled together; absent members: of every side, subaccount, lease and signer. */
export interface CancelFilter {
  readonly owner: Address
  readonly side?: Side
  readonly subaccountId?: bigint
  readonly leaseId?: string
  readonly signer?: Address
}

/** A cancel of many orders that one step did not finish: what is left of it is matched no more. */
export interface MassCancel extends CancelFilter {
  /** Of placement: later orders are not meant. */
  readonly upToRank: number
  readonly reason: EndReason
}

/** Two signers whose match has failed, and for how long they do not match since then. */
export interface FailedPair {
  /** In the order of their texts. */
  readonly signers: readonly [Address, Address]
  /** Market time, unix milliseconds. */
  readonly failedAtMs: number
  readonly waitMs: number
}

export interface FailedPairs {
  /** The pair that failed longest ago first. */
  readonly byKey: Map<string, FailedPair>
  /** How many of the pairs have the signer; absent while none has. Follows from the pairs. */
  readonly bySigner: Map<Address, number>
}

/**
 * Rows of a state as they were at one moment, while steps go on changing it. A step calls `keep` before it changes an
 * order, and `keepAccount` before it changes an account: the row of that moment is then made and kept. All other rows are
 * made when they are read.
 */
export interface StateCapture {
  keep(live: LiveOrder): void
  keepAccount(account: Account): void
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
