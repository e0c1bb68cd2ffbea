import { unreachable } from '../assert.js'
import type { MarketTerms } from '../contracts/market-terms.js'
import { accountFor, forgetUnused, joinAccount } from './accounts.js'
import { applyReversal, forgetReversals } from './apply-reversal.js'
import {
  applyMarketCommand,
  cancelDisabled,
  DISABLED_REASON,
  openMarket,
  termsOf,
} from './apply-market.js'
import { applySettlement } from './apply-settlement.js'
import { observeFault } from './chain-fault.js'
import type { Change } from './change.js'
import type { Command, LoggedCommand } from './command.js'
import { earliestMs, takeDueDeadline } from './deadlines.js'
import {
  beginStep,
  cancelOrder,
  emitChange,
  emitPlaced,
  markCancelled,
  markEnded,
  type Step,
} from './emit-change.js'
import { assertEngineVersion } from './engine-version.js'
import { DEADLINES_MAX_PER_STEP, LIVE_ORDERS_MAX } from './limits.js'
import {
  endWithKey,
  isExpired,
  isExpiring,
  newLiveOrder,
  progressOf,
  statusOf,
  type LiveOrder,
} from './live-order.js'
import { followHolds, holdExpiring, isReopening, matchIncoming, releaseHold } from './match.js'
import { refreshHolds } from './market-holds.js'
import { bookedOrder, POST_ONLY_WOULD_CROSS, rememberRefused } from './post-only.js'
import { endImmediate } from './time-in-force.js'
import { whyNotWhole } from './fill-or-kill.js'
import type { Order, OrderProgress } from './order.js'
import { continueReviews, observeAccount, observeIfNewer, observeMarket } from './review-account.js'
import { joinOwner, nextDeadlineMs, scheduleOrder, type MatcherState } from './state.js'

/** What the market answers to the sender of a command; the shell gives a refusal its words. */
export type CommandAnswer =
  | { readonly kind: 'order'; readonly order: Order; readonly progress: OrderProgress }
  | { readonly kind: 'market'; readonly terms: MarketTerms }
  | {
      readonly kind: 'refused'
      readonly code: RefusedCode
      /** The order that a repeat has repeated. */
      readonly repeated?: string
    }

export type RefusedCode =
  'active_order_not_found' | 'duplicate_order_id' | 'duplicate_nonce' | typeof POST_ONLY_WOULD_CROSS

export interface AppliedCommand {
  readonly changes: readonly Change[]
  readonly answer?: CommandAnswer
  /** The market's terms after the step; absent when it left them as they were. */
  readonly terms?: MarketTerms
  /** One step did not do all that is due: the shell sends the next tick at once. */
  readonly moreIsDue: boolean
  /** Orders whose sweep is continued by ContinueOrder. */
  readonly continueOrderIds: readonly string[]
}

const NOTHING: AppliedCommand = { changes: [], moreIsDue: false, continueOrderIds: [] }

/**
 * The market's pure step: the only place where a market changes. Time, ids and the chain's answers come inside the
 * command. Works on the state it is given; a repeated command of a writer is applied once.
 */
export function applyCommand(state: MatcherState, logged: LoggedCommand): AppliedCommand {
  if (logged.sourceNo <= (state.lastSourceNo.get(logged.source) ?? 0)) return NOTHING
  state.lastSourceNo.set(logged.source, logged.sourceNo)
  state.nowMs = Math.max(state.nowMs, logged.atMs)
  const step = beginStep(state)
  // What time releases may not cross while the newest facts hold the market.
  refreshHolds(step)
  const timeIsDue = applyTime(step)
  followHolds(step)
  cancelDisabled(step)
  continueReviews(step)
  const answer = applyOne(step, logged.command)
  const { changes, continueOrderIds } = step
  const moreIsDue =
    timeIsDue || state.reviews.size > 0 || isReopening(state) || state.cancelUpToRank > 0
  const applied = { changes, moreIsDue, continueOrderIds }
  if (step.restated) {
    const terms = termsOf(state)
    return answer === undefined ? { ...applied, terms } : { ...applied, answer, terms }
  }
  return answer === undefined ? applied : { changes, moreIsDue, continueOrderIds, answer }
}

function applyOne(step: Step, command: Command): CommandAnswer | undefined {
  switch (command.kind) {
    case 'PlaceOrder':
      return applyPlacement(step, command)
    case 'RepeatOrder':
      return answerRepeat(step, command)
    case 'CancelOrder':
      return applyCancel(step, command)
    case 'SettlementReported':
      applySettlement(step, command.settlementId, command.outcome)
      return undefined
    case 'ChainFaultObserved':
      observeFault(step, command.revert)
      return undefined
    case 'SettlementReversed':
      applyReversal(step, command.reversal)
      return undefined
    case 'ReversalsRead':
      forgetReversals(step.state, command.upTo)
      return undefined
    case 'EngineVersionSet':
      setEngineVersion(step.state, command.version)
      return undefined
    case 'ContinueOrder':
      applyContinuation(step, command.orderId)
      return undefined
    case 'SignatureChecked':
      applySignatureCheck(step, command.orderId, command.valid)
      return undefined
    case 'SessionKeyObserved':
      observeSessionKey(step, command.orderId, command.endsSec)
      return undefined
    case 'AccountObserved':
      observeAccount(step, command.account)
      return undefined
    case 'MarketObserved':
      observeMarket(step, command.observation)
      return undefined
    case 'MarketOpened':
      openMarket(step, command)
      return undefined
    case 'MarketRulesSet':
    case 'MarketPaused':
    case 'MarketResumed':
    case 'MarketDisabled':
    case 'MarketEnabled':
      applyMarketCommand(step, command)
      return { kind: 'market', terms: termsOf(step.state) }
    case 'Tick':
      return undefined
    default:
      return unreachable(command)
  }
}

function setEngineVersion(state: MatcherState, version: number): void {
  assertEngineVersion(state.identity.market, version)
  state.engineVersion = Math.max(state.engineVersion, version)
}

type Repeat = Extract<Command, { kind: 'RepeatOrder' }>

function answerRepeat({ state }: Step, { orderId, by }: Repeat): CommandAnswer {
  if (state.refusedOrderIds.has(orderId)) return { kind: 'refused', code: POST_ONLY_WOULD_CROSS }
  return { kind: 'refused', code: `duplicate_${by}`, repeated: orderId }
}

type Cancel = Extract<Command, { kind: 'CancelOrder' }>

/** Cancels what is open of an active order; what is pending still settles (decision B4). */
function applyCancel(step: Step, { owner, nonce, reason }: Cancel): CommandAnswer {
  const { state } = step
  const live = state.owners.get(owner)?.get(nonce)
  if (live === undefined || statusOf(live) !== 'active') {
    return { kind: 'refused', code: 'active_order_not_found' }
  }
  cancelOrder(step, live, reason)
  return { kind: 'order', order: live.order, progress: progressOf(live) }
}

function applyContinuation(step: Step, orderId: string): void {
  const live = step.state.orders.get(orderId)
  if (live?.hold?.reason === 'continuing') releaseHold(step, live)
}

/**
 * Takes the result of a signature check. A valid signature releases the order, an invalid one cancels what is open. An
 * order wholly in settlement is only held: the settlement decides whether it is filled, and an amount that returns
 * matches nothing before the next check.
 */
function applySignatureCheck(step: Step, orderId: string, valid: boolean): void {
  const live = step.state.orders.get(orderId)
  if (live === undefined || live.gone !== undefined) return
  if (valid) {
    const isFirst = live.order.signatureStatus === 'unchecked'
    if (isFirst || live.hold?.reason === 'signature_unchecked') releaseHold(step, live)
  } else if (statusOf(live) === 'active') {
    cancelOrder(step, live, 'signature_revoked')
  } else if (live.hold === undefined) {
    step.state.capture?.keep(live)
    live.hold = { reason: 'signature_unchecked' }
    emitChange(step, live, { kind: 'OrderHeld', hold: 'signature_unchecked' })
  }
}

/** Takes the end of the session key that signed an order: the order ends with it, like one that expires (decision B8). */
function observeSessionKey(step: Step, orderId: string, endsSec: number): void {
  const { state } = step
  const live = state.orders.get(orderId)
  if (live === undefined || live.gone !== undefined) return
  state.capture?.keep(live)
  endWithKey(live, endsSec)
  // A key may be registered for longer than before.
  if (live.hold?.reason === 'expiring' && !isExpiring(live, state.nowMs)) releaseHold(step, live)
  else scheduleOrder(state, live)
}

type Placement = Extract<Command, { kind: 'PlaceOrder' }>

/** Puts an order into the market: it matches what it crosses, the rest joins the book or waits hidden. */
export function applyPlacement(step: Step, { order, account }: Placement): CommandAnswer {
  const { state } = step
  const { orderId, owner, nonce } = order
  if (state.orders.has(orderId)) return { kind: 'refused', code: 'duplicate_order_id' }
  const own = state.owners.get(owner)
  if (own?.has(nonce) === true) return { kind: 'refused', code: 'duplicate_nonce' }
  // The account's other orders follow what came with the order before the order is one of them.
  const itsAccount = accountFor(state, order.subaccountId)
  if (account !== undefined) observeIfNewer(step, itsAccount, account)
  const booked = bookedOrder(state, order)
  if (booked === undefined) {
    rememberRefused(state, orderId)
    forgetUnused(state, itsAccount)
    return { kind: 'refused', code: POST_ONLY_WOULD_CROSS }
  }
  const live = join(state, booked, {
    account: itsAccount,
    own: own ?? new Map<bigint, LiveOrder>(),
  })
  enter(step, live)
  emitPlaced(step, live)
  scheduleOrder(state, live)
  return { kind: 'order', order: booked, progress: progressOf(live) }
}

/** Makes a new order known under its id, its owner and its account. */
function join(
  state: MatcherState,
  order: Order,
  { account, own }: Pick<LiveOrder, 'account' | 'own'>,
): LiveOrder {
  state.rank += 1
  const live = newLiveOrder(order, { account, own, rank: state.rank, nowMs: state.nowMs })
  state.orders.set(order.orderId, live)
  joinOwner(state, live)
  joinAccount(state, live)
  return live
}

function enter(step: Step, live: LiveOrder): void {
  if (live.unmatched === 0n) return
  meetBook(step, live)
  endImmediate(step, live)
}

function meetBook(step: Step, live: LiveOrder): void {
  const { state } = step
  const pointless = state.trading.means.endOf?.(live.account.purse, live)
  if (isExpired(live, state.nowMs)) {
    markEnded(step, live)
  } else if (!state.enabled) {
    markCancelled(step, live, DISABLED_REASON)
  } else if (state.orders.size > LIVE_ORDERS_MAX) {
    markCancelled(step, live, 'market_full')
  } else if (pointless !== undefined) {
    markCancelled(step, live, pointless)
  } else if (live.order.signatureStatus === 'unchecked') {
    live.hold = { reason: 'signature_unchecked' }
  } else if (isExpiring(live, state.nowMs)) {
    live.hold = { reason: 'expiring' }
  } else {
    const unfillable = live.order.timeInForce === 'FOK' ? whyNotWhole(step, live) : undefined
    if (unfillable === undefined) matchIncoming(step, live)
    else markCancelled(step, live, unfillable)
  }
}

/**
 * Carries out what has become due at the market's time: holds end, orders enter their last seconds, orders expire
 * (decision B8). Returns whether more is due than one step may do.
 */
export function applyTime(step: Step): boolean {
  const { state } = step
  if (earliestMs(state.deadlines) > state.nowMs) return false
  for (let done = 0; done < DEADLINES_MAX_PER_STEP; done++) {
    const deadline = takeDueDeadline(state.deadlines, state.nowMs)
    if (deadline === undefined) return false
    const live = state.orders.get(deadline.orderId)
    if (live?.rank === deadline.rank && (nextDeadlineMs(live) ?? Infinity) <= state.nowMs) {
      applyDeadline(step, live)
    }
  }
  return earliestMs(state.deadlines) <= state.nowMs
}

function applyDeadline(step: Step, live: LiveOrder): void {
  const { nowMs } = step.state
  if (isExpired(live, nowMs)) {
    // An order wholly in settlement waits for the result, which decides whether it ends filled or expired.
    if (statusOf(live) === 'active') expire(step, live)
  } else if (isExpiring(live, nowMs)) {
    holdExpiring(step, live)
  } else {
    releaseHold(step, live)
  }
}

function expire(step: Step, live: LiveOrder): void {
  markEnded(step, live)
  const { cancelReason } = live
  if (cancelReason === undefined) emitChange(step, live, { kind: 'OrderExpired' })
  else emitChange(step, live, { kind: 'OrderCancelled', cancelReason })
}
