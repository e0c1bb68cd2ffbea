import {
  OPEN_ORDER_LIMIT,
  SIGNER_ORDER_LIMIT,
  standingOrder,
  POST_ONLY_WOULD_CROSS,
  type CommandAnswer,
  type RefusedByMarket,
} from '../model/command-answer.js'
import type { Command } from '../model/command.js'
import type { EndReason } from '../model/hold.js'
import {
  LIVE_ORDERS_MAX,
  PASSED_OVER_MAX,
  PENDING_MATCHES_MAX,
  SWEEP_MAX_MATCHES,
} from '../model/limits.js'
import {
  isExpired,
  isExpiring,
  newLiveOrder,
  openAmount,
  progressOf,
  returnPending,
  type LiveOrder,
  type Parents,
} from '../model/live-order.js'
import type { Order } from '../model/order.js'
import { amountE18 } from '../money.js'
import { accountFor, forgetUnused, joinAccount } from './accounts.js'
import { DISABLED_REASON } from './apply-market.js'
import { asReplacement, findReplaced, REPLACED, whyEndsAtOnce } from './change-order.js'
import { asSigned } from './code-signers.js'
import { givePlaces } from './code-windows.js'
import { areOwn, endImmediate, FOK_UNFILLABLE, outlastsOwn, SELF_TRADE } from './controls.js'
import { cancelOrder, emitPlaced, markCancelled, markEnded, type Step } from './emit-change.js'
import { CANCEL_ON_DISCONNECT, isOfEndedLease } from './leases.js'
import {
  crossingOrders,
  firstCrossing,
  matchIncoming,
  passesOver,
  proposeMatch,
  reserveMatch,
  type PassedOrders,
  type MatchProposal,
} from './match.js'
import { bookedOrder } from './post-only.js'
import { isOneTooMany, rememberRefused } from './refused-orders.js'
import { observeIfNewer } from './review-account.js'
import { joinOwner, scheduleOrder, type MatcherState } from './state.js'
import { isBeyondTrust, whyShut } from './window-room.js'

type PlaceCommand = Extract<Command, { kind: 'PlaceOrder' }>

/**
 * Puts an order into the market: it matches what it crosses, the rest joins the book or waits hidden. An order that it
 * replaces leaves in the same step; it stays where the new one is refused.
 */
export function applyPlacement(step: Step, command: PlaceCommand): CommandAnswer {
  const { state } = step
  const { account: seen, replaces } = command
  const order = asSigned(state, command.order)
  const { orderId, owner, nonce } = order
  if (state.orders.has(orderId)) return { kind: 'refused', code: 'duplicate_order_id' }
  const own = state.owners.get(owner)
  if (own?.has(nonce) === true) return { kind: 'refused', code: 'duplicate_nonce' }
  // The account's other orders follow what came with the order before the order is one of them.
  const account = accountFor(state, order.subaccountId)
  if (seen !== undefined) observeIfNewer(step, account, seen)
  const parents: Parents = { account, own: own ?? new Map<bigint, LiveOrder>() }
  const answer =
    replaces === undefined ? place(step, order, parents) : replace(step, order, parents, replaces)
  if (typeof answer !== 'string') return answer
  rememberRefused(state, orderId, answer)
  forgetUnused(state, account)
  return { kind: 'refused', code: answer }
}

function place(step: Step, order: Order, parents: Parents): CommandAnswer | RefusedByMarket {
  const { state } = step
  if (isOneTooMany(state, parents.account)) return OPEN_ORDER_LIMIT
  if (isBeyondTrust(state, order, parents.own)) return SIGNER_ORDER_LIMIT
  const booked = bookedOrder(state, order, parents)
  return booked === undefined ? POST_ONLY_WOULD_CROSS : enter(step, booked, parents)
}

/** Cancels the owner's order with this nonce and places the new one, or does neither. */
function replace(
  step: Step,
  order: Order,
  parents: Parents,
  nonce: bigint,
): CommandAnswer | RefusedByMarket {
  const { state } = step
  const old = findReplaced(state, order, nonce)
  if (typeof old === 'string') return old
  const leaving = old.pending === 0n ? 1 : 0
  if (isOneTooMany(state, parents.account, leaving)) return OPEN_ORDER_LIMIT
  if (isBeyondTrust(state, order, parents.own, leaving)) return SIGNER_ORDER_LIMIT
  const booked = bookedOrder(state, asReplacement(order, old), parents)
  if (booked === undefined) return POST_ONLY_WOULD_CROSS
  const why = whyEndsAtOnce(state, newOf(state, booked, parents), old)
  if (why !== undefined) return why
  cancelOrder(step, old, REPLACED)
  const replaced = standingOrder(old)
  return { ...enter(step, booked, parents), replaced }
}

type PlaceAnswer = Extract<CommandAnswer, { readonly kind: 'order' }>

function enter(step: Step, booked: Order, parents: Parents): PlaceAnswer {
  const { state } = step
  state.rank += 1
  const live = newOf(state, booked, parents)
  if (breaksItsBound(state, live)) live.order = warned(booked)
  state.orders.set(booked.orderId, live)
  if (booked.signedByCode === true) state.windows.orders += 1
  joinOwner(state, live)
  joinAccount(state, live)
  if (live.unmatched !== 0n) {
    meetBook(step, live)
    endImmediate(step, live)
  }
  emitPlaced(step, live)
  scheduleOrder(state, live)
  return { kind: 'order', order: live.order, progress: progressOf(live) }
}

/** A warning of orders whose fee bound is below the fee at the best price that they meet when they come (ORD-089). */
export const BELOW_BEST_PRICE = 'worst_fee_below_best_price'

const warned = (order: Order): Order => ({
  ...order,
  warnings: [...(order.warnings ?? []), BELOW_BEST_PRICE],
})

/** Whether the fee of a match at the best price within reach is more than the order's bound. */
function breaksItsBound(state: MatcherState, live: LiveOrder): boolean {
  if (live.unmatched === 0n) return false
  const best = firstCrossing(state, live)
  if (best === undefined) return false
  const { rules, trading } = state
  const fee = trading.takerFee(rules, best.limitPrice, best.unmatched)
  return trading.feePerUnit(fee, best.unmatched) > live.order.worstFee
}

/** An order that is not known to the market yet. */
const newOf = ({ rank, nowMs }: MatcherState, order: Order, parents: Parents): LiveOrder =>
  newLiveOrder(order, { account: parents.account, own: parents.own, rank, nowMs })

function meetBook(step: Step, live: LiveOrder): void {
  const { state } = step
  const pointless = state.trading.means.endOf?.(live.account.riskAccount, live)
  if (isExpired(live, state.nowMs)) {
    markEnded(step, live)
  } else if (isOfEndedLease(state, live.order)) {
    markCancelled(step, live, CANCEL_ON_DISCONNECT)
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

interface MatchPartner {
  readonly resting: LiveOrder
  readonly proposal: MatchProposal
}

/**
 * Why an incoming order cannot be matched whole in this step; undefined when it can. It is matched on trial, with funds,
 * bands and holds counted exactly as the market counts them, and everything is taken back.
 */
function whyNotWhole(step: Step, incoming: LiveOrder): EndReason | undefined {
  // However much of it crosses.
  if (whyShut(step.state, incoming) !== undefined) return FOK_UNFILLABLE
  const tried: MatchPartner[] = []
  const reason = tryWhole(step, incoming, tried)
  for (const { resting, proposal } of tried.reverse()) takeBack(step, incoming, resting, proposal)
  return reason
}

function tryWhole(step: Step, incoming: LiveOrder, tried: MatchPartner[]): EndReason | undefined {
  const { state } = step
  if (state.closed) return FOK_UNFILLABLE
  let { met } = step
  const passed: PassedOrders = { count: 0 }
  for (const resting of crossingOrders(state, incoming)) {
    if (passesOver(step, incoming, resting, passed)) {
      if (passed.count > PASSED_OVER_MAX) return FOK_UNFILLABLE
      continue
    }
    while (openAmount(resting) > 0n) {
      const isLate = isExpiring(resting, state.nowMs)
      const isOwn = !isLate && areOwn(incoming, resting)
      if (isOwn && !outlastsOwn(incoming)) return SELF_TRADE
      if (met === SWEEP_MAX_MATCHES || state.matches.size + tried.length >= PENDING_MATCHES_MAX) {
        return FOK_UNFILLABLE
      }
      met += 1
      const leaves = isLate || isOwn
      const proposal = leaves ? undefined : proposeMatch(step, incoming, resting)
      // An order that steps aside is passed over, as if it had left the book.
      if (proposal === undefined) break
      if ('aside' in proposal) {
        if (proposal.aside === resting) break
        const why = 'hold' in proposal ? proposal.hold.reason : proposal.cancelReason
        return why === 'signer_waits' ? FOK_UNFILLABLE : why
      }
      reserveMatch(state, incoming, resting, proposal)
      // The next proposal gets another settlement id.
      state.seq += 1
      tried.push({ resting, proposal })
      if (incoming.unmatched === 0n) return undefined
    }
  }
  return FOK_UNFILLABLE
}

function takeBack(
  { state }: Step,
  incoming: LiveOrder,
  resting: LiveOrder,
  { match, ofIncoming, ofResting }: MatchProposal,
): void {
  const { means } = state.trading
  state.seq -= 1
  givePlaces(state.windows, match.settlementId)
  means.release(resting.account.riskAccount, resting, ofResting)
  means.release(incoming.account.riskAccount, incoming, ofIncoming)
  returnPending(resting, match.amount)
  returnPending(incoming, match.amount)
  state.awaiting = amountE18(state.awaiting - match.amount)
}
