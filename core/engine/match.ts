import type { HoldReason } from '../../interface/reasons.js'
import type { PairVerdict, PriceRange } from '../contracts/contract.js'
import { POST_ONLY_WOULD_CROSS } from '../model/command-answer.js'
import type { Hold, EndReason } from '../model/hold.js'
import {
  CONGESTION_HOLD_MS,
  PASSED_OVER_MAX,
  PENDING_MATCHES_MAX,
  SWEEP_MAX_MATCHES,
} from '../model/limits.js'
import { addPending, isExpiring, openAmount, type LiveOrder } from '../model/live-order.js'
import type { Match } from '../model/match.js'
import type { Cost } from '../model/observation.js'
import type { Side } from '../model/order.js'
import { amountE18, type AmountE18, type PriceE18 } from '../money.js'
import { whyNotMatched, whyNotOpen } from './accounts.js'
import { DISABLED_REASON } from './apply-market.js'
import { bestOf, levelsOf, ordersOf, removeFromBook } from './book.js'
import { whyCancelled } from './cancel-many.js'
import {
  areOwn,
  endExpiring,
  endImmediate,
  isImmediate,
  outlastsOwn,
  SELF_TRADE,
} from './controls.js'
import {
  cancelOrder,
  continueLater,
  emitChange,
  emitMatched,
  markCancelled,
  standing,
  type Step,
} from './emit-change.js'
import { holdUnfit, holdUntil, refreshHolds } from './holds.js'
import { barredOf, mayBeBarred } from './signer-pairs.js'
import { scheduleOrder, type MatcherState } from './state.js'
import { takeRoom, whyShut, withoutRoom } from './window-room.js'

/**
 * Matches an order against the other side of the book: one that was just placed, or one that comes back after a hold.
 * Each counterpart's change is emitted here, so that the book is never seen crossed; the order's own change is left to
 * the caller, who knows its kind. Afterwards the order is whole or partly pending, or carries a hold or a cancellation.
 * Price-time priority, the maker's price, the later placement is the taker (MAT-004, MAT-005, MAT-015, MAT-021). An order whose
 * account is known to be short of what a match takes is held instead, and the other side goes on without it (MAT-048, MAT-049).
 */
export function matchIncoming(step: Step, incoming: LiveOrder): void {
  const { state } = step
  state.capture?.keep(incoming)
  if (incoming.level !== undefined) removeFromBook(state.book, incoming)
  if (!state.enabled && incoming.unmatched > 0n) {
    markCancelled(step, incoming, DISABLED_REASON)
    return
  }
  if (incoming.unmatched > 0n && isShut(step, incoming)) return
  const passed: PassedOrders = { count: 0 }
  while (incoming.unmatched > 0n) {
    const resting = state.closed ? undefined : nextResting(step, incoming, passed)
    if (resting === undefined) {
      // Nothing of an IOC or FOK order rests.
      if (isImmediate(incoming)) return
      const unfit = whyNotOpen(state, incoming)
      if (unfit !== undefined) holdUnfit(step, incoming, unfit)
      else hideBarred(step, incoming, passed)
      return
    }
    // An own order that is about to expire is held below: no self-trade.
    const isOwn = areOwn(incoming, resting) && !isExpiring(resting, state.nowMs)
    if (isOwn && !outlastsOwn(incoming)) {
      if (incoming.order.stp === 'cancel_both') cancelOrder(step, resting, SELF_TRADE)
      markCancelled(step, incoming, SELF_TRADE)
      return
    }
    if (step.met === SWEEP_MAX_MATCHES) {
      incoming.hold = { reason: 'continuing' }
      continueLater(step, incoming.orderId)
      return
    }
    if (state.matches.size >= PENDING_MATCHES_MAX) {
      incoming.hold = { reason: 'continuing', untilMs: state.nowMs + CONGESTION_HOLD_MS }
      return
    }
    step.met += 1
    if (isOwn) cancelOrder(step, resting, SELF_TRADE)
    else matchPair(step, incoming, resting)
    if (incoming.gone !== undefined || incoming.hold !== undefined) return
  }
}

/** Takes an order whose window is closed out of the way at once. */
function isShut(step: Step, live: LiveOrder): boolean {
  const shut = whyShut(step.state, live)
  if (shut === undefined) return false
  // Counts as a pair tried, so that one step does not hide a whole book.
  step.met = Math.min(step.met + 1, SWEEP_MAX_MATCHES)
  stepAside(step, live, shut)
  return true
}

/** The orders that an incoming one has passed over: they stay in the book until it has met the others. */
export interface PassedOrders {
  count: number
  last?: LiveOrder
  /** The hold that the first of them gives the incoming order. */
  hold?: Hold
}

/**
 * The order that the incoming one meets next; undefined when there is none, or it stands behind more than PASSED_OVER_MAX that
 * are passed over. Orders out of reach are left out and not counted: outside the fill range, or at a price that the chain has
 * refused.
 */
function nextResting(step: Step, incoming: LiveOrder, passed: PassedOrders): LiveOrder | undefined {
  const { state } = step
  if (!mayBeBarred(state, incoming)) return firstCrossing(state, incoming)
  for (const resting of crossingOrders(state, incoming, passed.last)) {
    if (!passesOver(step, incoming, resting, passed)) return resting
    if (passed.count > PASSED_OVER_MAX) return undefined
  }
  return undefined
}

/**
 * Whether the incoming order passes over this one, because their signers may not match now: it meets others first (SET-029).
 * Notes the order in `passed` then. Never an own order, which self-trade prevention decides on, nor one that is about to expire,
 * which leaves the book.
 */
export function passesOver(
  step: Step,
  incoming: LiveOrder,
  resting: LiveOrder,
  passed: PassedOrders,
): boolean {
  const { state } = step
  if (areOwn(incoming, resting) || isExpiring(resting, state.nowMs)) return false
  const barred = barredOf(state, incoming, resting)
  if (barred?.live !== incoming) return false
  passed.hold ??= barred.hold
  passed.last = resting
  passed.count += 1
  step.passedOver += 1
  return true
}

/** Hides what is left of an order that has passed over others. */
function hideBarred(step: Step, incoming: LiveOrder, { hold }: PassedOrders): void {
  if (hold === undefined) return
  incoming.hold = hold
  // Counts as a pair tried, so that one step does not hide a whole book.
  step.met = Math.min(step.met + 1, SWEEP_MAX_MATCHES)
}

/** Matches two crossing orders, or takes the one that may not be matched out of the way. */
function matchPair(step: Step, incoming: LiveOrder, resting: LiveOrder): void {
  const { state } = step
  if (isExpiring(resting, state.nowMs)) {
    holdExpiring(step, resting)
    return
  }
  const proposal = proposeMatch(step, incoming, resting)
  if ('aside' in proposal) {
    stepAside(step, incoming, proposal)
    return
  }
  state.capture?.keep(resting)
  reserveMatch(state, incoming, resting, proposal)
  state.matches.set(proposal.match.settlementId, proposal.match)
  emitMatched(step, resting, proposal.match)
}

/** A match that both accounts carry, with what it takes from each. */
export interface MatchProposal {
  readonly match: Match
  readonly ofIncoming: Cost
  readonly ofResting: Cost
}

/** What two crossing orders may match now, or which of them steps aside. Changes nothing. */
export function proposeMatch(
  step: Step,
  incoming: LiveOrder,
  resting: LiveOrder,
): MatchProposal | Aside {
  const { state } = step
  const { trading } = state
  const cancelReason = whyCancelled(state, resting)
  if (cancelReason !== undefined) return { aside: resting, cancelReason }
  const barred = barredOf(state, incoming, resting)
  if (barred !== undefined) return { aside: barred.live, hold: barred.hold }
  const waiting = withoutRoom(state, incoming, resting)
  if (waiting !== undefined) return waiting
  // The later placement is the taker, whichever of the two comes back from a hold.
  const later = resting.rank > incoming.rank ? resting : incoming
  if (later.order.postOnly !== undefined) {
    return { aside: later, cancelReason: POST_ONLY_WOULD_CROSS }
  }
  const offered = openAmount(resting)
  const crossing = incoming.unmatched < offered ? incoming.unmatched : offered
  const pairing = trading.pair?.(
    { incoming, resting, amount: crossing, awaiting: state.awaiting },
    state.observed,
  )
  if (pairing !== undefined && 'aside' in pairing) return pairing
  const match = matchOf(step, { incoming, resting }, pairing?.amount ?? crossing)
  const taker = match.takerOrderId === incoming.orderId ? incoming : resting
  if (trading.feePerUnit(match.takerFee, match.amount) > taker.order.worstFee) {
    return { aside: taker, cancelReason: 'fee_bound_too_low' }
  }
  const { means } = trading
  const ofIncoming = means.costOf(incoming, match)
  const ofResting = means.costOf(resting, match)
  const hold = whyNotMatched(state, incoming, ofIncoming, match)
  if (hold !== undefined) return { aside: incoming, hold }
  const holdOfResting = whyNotMatched(state, resting, ofResting, match)
  if (holdOfResting !== undefined) return { aside: resting, hold: holdOfResting }
  return { match, ofIncoming, ofResting }
}

/** Counts a match as pending on both orders and accounts. */
export function reserveMatch(
  state: MatcherState,
  incoming: LiveOrder,
  resting: LiveOrder,
  { match, ofIncoming, ofResting }: MatchProposal,
): void {
  const { means } = state.trading
  addPending(incoming, match.amount)
  addPending(resting, match.amount)
  means.reserve(incoming.account.riskAccount, incoming, ofIncoming)
  means.reserve(resting.account.riskAccount, resting, ofResting)
  takeRoom(state, match.settlementId, incoming, resting)
  state.awaiting = amountE18(state.awaiting + match.amount)
}

const ENDED_BY_TIME: ReadonlySet<HoldReason> = new Set<HoldReason>(['pair_waits', 'signer_waits'])

type Aside =
  | Extract<PairVerdict, { readonly aside: LiveOrder }>
  | { readonly aside: LiveOrder; readonly cancelReason: EndReason }

/** Holds or cancels one of two crossing orders; the change of the incoming one is left to the caller. */
function stepAside(step: Step, incoming: LiveOrder, reason: Aside): void {
  const { aside } = reason
  if ('cancelReason' in reason) {
    if (aside === incoming) markCancelled(step, aside, reason.cancelReason)
    else cancelOrder(step, aside, reason.cancelReason)
    return
  }
  if (ENDED_BY_TIME.has(reason.hold.reason)) holdUntil(step, aside, reason.hold)
  else holdUnfit(step, aside, reason.hold)
  if (aside !== incoming) emitAside(step, aside)
}

/** States that an open order is held, or has ended, because it could not be matched. */
export function emitAside(step: Step, live: LiveOrder): void {
  const { hold, cancelReason } = live
  if (hold !== undefined) emitChange(step, live, { kind: 'OrderHeld', hold: hold.reason })
  else if (cancelReason !== undefined)
    emitChange(step, live, { kind: 'OrderCancelled', cancelReason })
}

interface CrossingOrders {
  readonly incoming: LiveOrder
  readonly resting: LiveOrder
}

/** The match of two orders: the earlier one is the maker and gives the price (MAT-004). */
function matchOf(step: Step, { incoming, resting }: CrossingOrders, amount: AmountE18): Match {
  const { identity, rules, seq, trading } = step.state
  const isMaker = resting.rank < incoming.rank
  const maker = isMaker ? resting : incoming
  const taker = isMaker ? incoming : resting
  const price = maker.limitPrice
  return {
    settlementId: `${identity.market}:${seq + 1}`,
    makerOrderId: maker.orderId,
    takerOrderId: taker.orderId,
    price,
    amount,
    takerFee: trading.takerFee(rules, price, amount),
  }
}

/** Whether crossed orders wait to be matched, since the last hold has ended. */
export const isReopening = ({ closed, enabled, holds }: MatcherState): boolean =>
  closed && enabled && holds.size === 0

/**
 * Follows the market's holds. While there is one nothing crosses; when the last ends, the best crossing pair matches
 * first, the later order as the taker, until nothing crosses (MAT-044). What one step may not match is left to the
 * next.
 */
export function followHolds(step: Step): void {
  const { state } = step
  refreshHolds(step)
  if (!isReopening(state)) return
  state.closed = false
  for (;;) {
    const later = laterOfCrossing(state)
    if (later === undefined) return
    if (step.met === SWEEP_MAX_MATCHES) {
      state.closed = true
      return
    }
    matchIncoming(step, later)
    emitChange(step, later, { kind: 'OrderReleased', ...standing(later) })
    scheduleOrder(state, later)
  }
}

/** Takes an order out of matching for its last seconds; visible only if something of it was open (MAT-034). */
export function holdExpiring(step: Step, live: LiveOrder): void {
  if (endExpiring(step, live)) return
  step.state.capture?.keep(live)
  live.hold = { reason: 'expiring' }
  if (live.shownOpen > 0n) emitChange(step, live, { kind: 'OrderHeld', hold: 'expiring' })
  scheduleOrder(step.state, live)
}

/**
 * Ends a hold: the order returns to its place in time, matching like an incoming one (MAT-042). An order
 * that gets the same hold again emits no change, so that a congested market does not fill its feed.
 */
export function releaseHold(step: Step, live: LiveOrder): void {
  step.state.capture?.keep(live)
  const { hold: before, pending } = live
  live.hold = undefined
  if (isExpiring(live, step.state.nowMs)) {
    holdExpiring(step, live)
    if (live.order.signatureStatus === 'unchecked') {
      emitChange(step, live, { kind: 'OrderReleased', hold: 'expiring' })
    }
    return
  }
  matchIncoming(step, live)
  endImmediate(step, live)
  const now = standing(live)
  const waitsOn = now.hold !== undefined && now.hold === before?.reason
  if (!waitsOn || live.pending !== pending) {
    emitChange(step, live, { kind: 'OrderReleased', ...now })
  }
  scheduleOrder(step.state, live)
}

// Which orders of the book an order crosses.

/** Whether an order with this limit meets a price of the other side. */
export function crosses(
  incoming: Pick<LiveOrder, 'side' | 'limitPrice'>,
  { limitPrice: price }: Pick<LiveOrder, 'limitPrice'>,
): boolean {
  const limit = incoming.limitPrice
  return incoming.side === 'buy' ? price <= limit : price >= limit
}

/** The order that the incoming one crosses first, whether they may match or not. */
export function firstCrossing(state: MatcherState, incoming: LiveOrder): LiveOrder | undefined {
  if (state.trading.fillRange === undefined) {
    const best = bestOf(state.book, oppositeOf(incoming))
    return best !== undefined && crosses(incoming, best) ? best : undefined
  }
  for (const resting of crossingOrders(state, incoming)) return resting
  return undefined
}

const oppositeOf = ({ side }: LiveOrder): Side => (side === 'buy' ? 'sell' : 'buy')

/**
 * The orders that the incoming one would meet one after the other, from the first or from behind one that is in the book; those
 * out of reach are left out.
 */
export function* crossingOrders(
  state: MatcherState,
  incoming: LiveOrder,
  behind?: LiveOrder,
): Generator<LiveOrder> {
  const isReachable = reachOf(state)
  const asMaker = isReachable(incoming.limitPrice)
  for (const level of levelsOf(state.book, oppositeOf(incoming), behind?.level)) {
    if (!crosses(incoming, { limitPrice: level.price })) return
    const asTaker = isReachable(level.price)
    // The price is that of the earlier order.
    if (!asTaker && (!asMaker || level.last.rank < incoming.rank)) continue
    let live: LiveOrder | undefined = level === behind?.level ? behind.next : level.first
    for (; live !== undefined; live = live.next) {
      if (live.rank < incoming.rank ? asTaker : asMaker) yield live
    }
  }
}

const anyPrice = (): boolean => true

/** Whether the chain would fill at a price now: within the market's range, and not refused since its newest observation. */
export function reachOf({
  trading,
  observed,
  nowMs,
  refusedPrices,
}: MatcherState): (price: PriceE18) => boolean {
  const range = trading.fillRange?.(observed, nowMs)
  if (range === undefined) return anyPrice
  return (price) => isWithin(range, price) && !refusedPrices.has(price)
}

const isWithin = ({ low, high }: PriceRange, price: PriceE18): boolean =>
  price >= low && price <= high

/** The later order of the best pair that crosses within reach; one of the two may have to be hidden instead. */
export function laterOfCrossing(state: MatcherState): LiveOrder | undefined {
  const ask = bestOf(state.book, 'sell')
  if (ask === undefined) return undefined
  for (const bid of ordersOf(state.book, 'buy')) {
    if (!crosses(bid, ask)) return undefined
    const resting = firstCrossing(state, bid)
    if (resting !== undefined) return bid.rank > resting.rank ? bid : resting
  }
  return undefined
}
