import { unreachable } from './assert.js'
import { applyPlacement } from './apply-placement.js'
import { applyReversal, forgetReversals } from './apply-reversal.js'
import { applySettlement } from './apply-settlement.js'
import { applyTime } from './apply-time.js'
import type { Change } from './change.js'
import type { Command, LoggedCommand } from './command.js'
import { beginStep, cancelOrder, emitChange, type Step } from './emit-change.js'
import { progressOf, statusOf } from './live-order.js'
import type { MatcherState } from './matcher-state.js'
import type { Order, OrderProgress } from './order.js'
import { findByNonce } from './owner-orders.js'
import { releaseHold } from './release-hold.js'
import { continueReviews, observeAccount } from './review-account.js'

/** What the market answers to whoever sent a command; the shell gives a refusal its words. */
export type CommandAnswer =
  | { readonly kind: 'order'; readonly order: Order; readonly progress: OrderProgress }
  | {
      readonly kind: 'refused'
      readonly code: 'active_order_not_found' | 'duplicate_order_id' | 'duplicate_nonce'
    }

export interface AppliedCommand {
  readonly changes: readonly Change[]
  readonly answer?: CommandAnswer
  /** More has become due than one step may do: the shell is to send the next tick at once. */
  readonly moreIsDue: boolean
  /** These orders are to go on by ContinueOrder. */
  readonly continueOrderIds: readonly string[]
}

const NOTHING: AppliedCommand = { changes: [], moreIsDue: false, continueOrderIds: [] }

/**
 * The market's pure step: the only place where a market changes. Time, ids and the chain's answers come inside the
 * command. Works on the state it is given; what a writer has sent twice is applied once.
 */
export function applyCommand(state: MatcherState, logged: LoggedCommand): AppliedCommand {
  if (logged.sourceNo <= (state.lastSourceNo.get(logged.source) ?? 0)) return NOTHING
  state.lastSourceNo.set(logged.source, logged.sourceNo)
  state.nowMs = Math.max(state.nowMs, logged.atMs)
  const step = beginStep(state)
  const timeIsDue = applyTime(step)
  continueReviews(step)
  const answer = applyOne(step, logged.command)
  const { changes, continueOrderIds } = step
  const moreIsDue = timeIsDue || state.reviews.size > 0
  if (answer === undefined) return { changes, moreIsDue, continueOrderIds }
  return { changes, moreIsDue, continueOrderIds, answer }
}

function applyOne(step: Step, command: Command): CommandAnswer | undefined {
  switch (command.kind) {
    case 'PlaceOrder':
      return applyPlacement(step, command)
    case 'CancelOrder':
      return applyCancel(step, command)
    case 'SettlementReported':
      applySettlement(step, command.settlementId, command.outcome)
      return undefined
    case 'SettlementReversed':
      applyReversal(step, command.reversal)
      return undefined
    case 'ReversalsRead':
      forgetReversals(step.state, command.upTo)
      return undefined
    case 'ContinueOrder':
      applyContinuation(step, command.orderId)
      return undefined
    case 'SignatureChecked':
      applySignatureCheck(step, command.orderId, command.valid)
      return undefined
    case 'AccountObserved':
      observeAccount(step, command.account)
      return undefined
    case 'Tick':
      return undefined
    default:
      return unreachable(command)
  }
}

type Cancel = Extract<Command, { kind: 'CancelOrder' }>

/** Cancels what is open of an active order; what is pending still settles (decision B4). */
function applyCancel(step: Step, { owner, nonce, reason }: Cancel): CommandAnswer {
  const { state } = step
  const live = findByNonce(state.owners.get(owner), nonce)
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
 * Takes what the chain says about the signature of an order, now or again. A good answer ends the wait for it, a bad one
 * cancels what is open. An order wholly in settlement is only held, since the settlement decides whether it is filled:
 * what comes back of it matches nothing until the chain was asked once more.
 */
function applySignatureCheck(step: Step, orderId: string, valid: boolean): void {
  const live = step.state.orders.get(orderId)
  if (live === undefined || live.gone !== undefined) return
  if (valid) {
    if (live.hold?.reason === 'signature_unchecked') releaseHold(step, live)
  } else if (statusOf(live) === 'active') {
    cancelOrder(step, live, 'signature_revoked')
  } else if (live.hold === undefined) {
    live.hold = { reason: 'signature_unchecked' }
    emitChange(step, live, { kind: 'OrderHeld', hold: 'signature_unchecked' })
  }
}
