import { unreachable } from '../assert.js'
import type { MarketTerms } from '../model/market-terms.js'
import { applyReversal, forgetReversals } from './apply-reversal.js'
import {
  applyMarketCommand,
  cancelDisabled,
  observeGap,
  openMarket,
  termsOf,
} from './apply-market.js'
import { applySettlement } from './apply-settlement.js'
import { applyCancelAll, applyCancelOrders, continueMassCancels } from './cancel-many.js'
import { applyReduction } from './change-order.js'
import type { Change } from '../model/change.js'
import { followClock, holdForClock } from './clock.js'
import { markByCode, noteCodeSigner } from './code-signers.js'
import { forgetOldFailures } from './code-windows.js'
import type { Command, LoggedCommand } from '../model/command.js'
import { answerOrder, COMMAND_REFUSED, type CommandAnswer } from '../model/command-answer.js'
import type { AskedReason } from '../model/hold.js'
import { earliestMs, takeDueDeadline, type Deadline } from './deadlines.js'
import { whyUnderivable } from './derive.js'
import {
  beginStep,
  cancelOrder,
  emitChange,
  emitRefused,
  markEnded,
  type Step,
} from './emit-change.js'
import { assertEngineVersion } from './engine-version.js'
import { observeFault, refreshHolds } from './holds.js'
import { applyEndLease, applySetLease, endLeases, resumeLeases } from './leases.js'
import {
  DEADLINES_MAX_PER_STEP,
  PASSED_OVER_MAX_PER_STEP,
  RESTORED_SEQ_JUMP,
} from '../model/limits.js'
import { endWithKey, isExpired, isExpiring, statusOf, type LiveOrder } from '../model/live-order.js'
import { followHolds, holdExpiring, releaseHold } from './match.js'
import { applyPlacement } from './place-order.js'
import { rememberRefused } from './refused-orders.js'
import { continueReviews, observeAccount, observeMarket } from './review-account.js'
import { forgetOldPairs } from './signer-pairs.js'
import { nextDeadlineMs, scheduleOrder, type MatcherState } from './state.js'
import { isUnfinished } from './tick-due.js'

export interface AppliedCommand {
  readonly changes: readonly Change[]
  readonly answer?: CommandAnswer
  /** The market's terms after the step; absent when it left them as they were. */
  readonly terms?: MarketTerms
  /** One step did not do all that is due: the shell sends the next tick at once. */
  readonly moreIsDue: boolean
  /** Orders whose sweep is continued by ContinueOrder. */
  readonly continueOrderIds: readonly string[]
  /** Why the command was refused: the step could not derive what it needs of it. */
  readonly refused?: string
}

const NOTHING: AppliedCommand = { changes: [], moreIsDue: false, continueOrderIds: [] }

/** No number of the market may mean two things: what was published and is lost has taken at most as many. */
function leaveGap(state: MatcherState): void {
  state.seq += RESTORED_SEQ_JUMP
  state.tradeNo += RESTORED_SEQ_JUMP
}

/**
 * The market's pure step: the only place where a market changes. Time, ids and the chain's answers come inside the
 * command. Works on the state it is given; a repeated command of a writer is applied once.
 */
export function applyCommand(state: MatcherState, logged: LoggedCommand): AppliedCommand {
  if (logged.sourceNo <= (state.lastSourceNo.get(logged.source) ?? 0)) return NOTHING
  state.lastSourceNo.set(logged.source, logged.sourceNo)
  const beforeMs = state.nowMs
  const isTimeTrusted = followClock(state, logged)
  // Before anything that may emit a change: all of them come after the gap.
  if (logged.command.kind === 'MarketRestored') leaveGap(state)
  const step = beginStep(state)
  forgetOldPairs(state)
  forgetOldFailures(state.windows, state.nowMs)
  const timeGoesOn = isTimeTrusted && state.holds.has('clock')
  holdForClock(step, isTimeTrusted)
  if (timeGoesOn) resumeLeases(step, state.nowMs - beforeMs)
  // What time releases may not cross while the newest facts hold the market.
  refreshHolds(step)
  // Before anything that time or the command does: a matcher may start long after a lease has ended.
  continueMassCancels(step, logged.command)
  endLeases(step)
  const timeIsDue = applyTime(step)
  followHolds(step)
  cancelDisabled(step)
  continueReviews(step)
  const refused = whyUnderivable(logged.command, state)
  const answer = refused === undefined ? applyOne(step, logged.command) : refuse(step, logged)
  const { changes, continueOrderIds } = step
  const moreIsDue = timeIsDue || isUnfinished(state)
  if (refused !== undefined || step.restated) {
    const rare = { ...(refused !== undefined && { refused }), ...(answer && { answer }) }
    const restated = step.restated && { terms: termsOf(state) }
    return { changes, moreIsDue, continueOrderIds, ...rare, ...restated }
  }
  // Written out, because spreading costs every command.
  return answer === undefined
    ? { changes, moreIsDue, continueOrderIds }
    : { changes, moreIsDue, continueOrderIds, answer }
}

/** Refuses a command before it has changed anything. Time, and what it makes due, is the log's and not the command's. */
function refuse(step: Step, logged: LoggedCommand): CommandAnswer {
  const { command } = logged
  emitRefused(step, logged)
  if (command.kind === 'PlaceOrder')
    rememberRefused(step.state, command.order.orderId, COMMAND_REFUSED)
  return { kind: 'refused', code: COMMAND_REFUSED }
}

function applyOne(step: Step, command: Command): CommandAnswer | undefined {
  switch (command.kind) {
    case 'PlaceOrder':
      return applyPlacement(step, command)
    case 'RepeatOrder':
      return answerRepeat(step, command)
    case 'CancelOrder':
      return applyCancel(step, command)
    case 'ReduceOrder':
      return applyReduction(step, command)
    case 'CancelAll':
      return applyCancelAll(step, command)
    case 'CancelOrders':
      return applyCancelOrders(step, command)
    case 'SetLease':
      return applySetLease(step, command)
    case 'EndLease':
      return applyEndLease(step, command)
    case 'SettlementReported':
      applySettlement(step, command.settlementId, command.outcome)
      return undefined
    case 'SettlementReversed':
      applyReversal(step, command.reversal)
      return undefined
    case 'ReversalsRead':
      forgetReversals(step.state, command.upTo)
      return undefined
    case 'GapObserved':
      observeGap(step, command)
      return undefined
    case 'EngineVersionSet':
      setEngineVersion(step.state, command.version)
      return undefined
    case 'ContinueOrder':
      applyContinuation(step, command.orderId)
      return undefined
    case 'SignatureChecked':
    case 'SessionKeyObserved':
    case 'AccountObserved':
    case 'MarketObserved':
    case 'ChainFaultObserved':
    case 'SignerCodeObserved':
      applyObservation(step, command)
      return undefined
    case 'MarketOpened':
      openMarket(step, command)
      return undefined
    case 'MarketRulesSet':
    case 'MarketPaused':
    case 'MarketResumed':
    case 'MarketDisabled':
    case 'MarketEnabled':
    case 'MarketRestored':
    case 'GapAccepted':
      applyMarketCommand(step, command)
      return { kind: 'market', terms: termsOf(step.state) }
    case 'ClockObserved':
    case 'PositionsClosed':
    case 'Tick':
      return undefined
    default:
      return unreachable(command)
  }
}

type Observation = Extract<Command, { kind: `${string}Observed` | 'SignatureChecked' }>

/** Takes what was read of the chain. */
function applyObservation(
  step: Step,
  command: Exclude<Observation, { kind: 'GapObserved' | 'ClockObserved' }>,
): void {
  switch (command.kind) {
    case 'SignatureChecked':
      return applySignatureCheck(step, command)
    case 'SessionKeyObserved':
      return observeSessionKey(step, command.orderId, command.endsSec)
    case 'AccountObserved':
      return observeAccount(step, command.account)
    case 'MarketObserved':
      return observeMarket(step, command.observation)
    case 'ChainFaultObserved':
      return observeFault(step, command.revert)
    case 'SignerCodeObserved':
      return noteCodeSigner(step.state, command.signer)
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
  const code = state.refusedOrders.get(orderId)
  if (code !== undefined) return { kind: 'refused', code }
  return { kind: 'refused', code: `duplicate_${by}`, repeated: orderId }
}

type Cancel = Extract<Command, { kind: 'CancelOrder' }>

/** Cancels what is open of an active order; what is pending still settles (CAN-003). */
function applyCancel(step: Step, { owner, nonce, reason }: Cancel): CommandAnswer {
  const { state } = step
  const live = state.owners.get(owner)?.get(nonce)
  if (live === undefined || statusOf(live) !== 'active') {
    return { kind: 'refused', code: 'active_order_not_found' }
  }
  cancelOrder(step, live, reason as AskedReason)
  return answerOrder(live)
}

function applyContinuation(step: Step, orderId: string): void {
  const live = step.state.orders.get(orderId)
  if (live?.hold?.reason === 'continuing') releaseHold(step, live)
}

type SignatureCheck = Extract<Command, { kind: 'SignatureChecked' }>

/**
 * Takes the result of a signature check. A valid signature releases the order, an invalid one cancels what is open. An
 * order wholly in settlement is only held: the settlement decides whether it is filled, and an amount that returns
 * matches nothing before the next check.
 */
function applySignatureCheck(step: Step, { orderId, valid, byCode }: SignatureCheck): void {
  const live = step.state.orders.get(orderId)
  if (live === undefined || live.gone !== undefined) return
  if (byCode === true) markByCode(step.state, live)
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

/** Takes the end of the session key that signed an order: the order ends with it, like one that expires (AUT-020). */
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

/**
 * Carries out what has become due at the market's time: holds end, orders enter their last seconds, orders expire
 * (MAT-033). Returns whether more is due than one step may do.
 */
export function applyTime(step: Step): boolean {
  const { state } = step
  if (earliestMs(state.deadlines) > state.nowMs) return false
  for (let done = 0; done < DEADLINES_MAX_PER_STEP; done++) {
    if (step.passedOver >= PASSED_OVER_MAX_PER_STEP) break
    const deadline = takeDueDeadline(state.deadlines, state.nowMs)
    if (deadline === undefined) return false
    const live = state.orders.get(deadline.orderId)
    if (live?.rank === deadline.rank && isDueAt(live, deadline)) applyDeadline(step, live)
  }
  return earliestMs(state.deadlines) <= state.nowMs
}

/**
 * Whether the order is due at this entry of the queue. One whose deadline has moved since comes later, in the place of its
 * new entry: of holds that end at the same moment the earlier order's ends first, so that the later one finds it in the book.
 */
const isDueAt = (live: LiveOrder, { atMs }: Deadline): boolean =>
  (nextDeadlineMs(live) ?? Infinity) <= atMs

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
