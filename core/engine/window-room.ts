import {
  closedUntilMs,
  hasBudget,
  hasGrown,
  hasPlace,
  hasRecord,
  keyOf,
  mayTry,
  takePlaces,
  type WindowOf,
} from './code-windows.js'
import { isByCode } from './code-signers.js'
import type { Hold, EndReason } from '../model/hold.js'
import { isImmediate } from './controls.js'
import {
  SIGNER_POLL_MIN_MS,
  SIGNER_POLL_MS_PER_ORDER,
  UNGROWN_ORDERS_MAX,
} from '../model/limits.js'
import type { LiveOrder, OwnerOrders } from '../model/live-order.js'
import type { Order } from '../model/order.js'
import type { MatcherState } from './state.js'

// Whether the windows of two crossing orders have room for their match (code-windows.ts).

/** The order that has to wait, hidden or cancelled. */
type WithoutRoom =
  | { readonly aside: LiveOrder; readonly hold: Hold }
  | { readonly aside: LiveOrder; readonly cancelReason: EndReason }

const NONE: readonly LiveOrder[] = []
const NO_WINDOWS: readonly WindowOf[] = []

/** Those of two orders whose window counts: none for nearly all matches. */
export function codeSides(state: MatcherState, one: LiveOrder, other: LiveOrder) {
  const isOne = isByCode(state, one)
  const isOther = isByCode(state, other)
  if (!isOne && !isOther) return NONE
  return [...(isOne ? [one] : []), ...(isOther ? [other] : [])]
}

/** The same with orders of one signer and owner once: they have one window. */
export function windowsOf(
  state: MatcherState,
  one: LiveOrder,
  other: LiveOrder,
): readonly WindowOf[] {
  const sides = codeSides(state, one, other)
  if (sides.length === 0) return NO_WINDOWS
  const isOne = sides.length === 2 && keyOf(ofOrder(one)) === keyOf(ofOrder(other))
  return (isOne ? sides.slice(1) : sides).map(ofOrder)
}

export const ofOrder = ({ owner, order }: LiveOrder): WindowOf => ({ signer: order.signer, owner })

/**
 * Why the order may match nothing, whatever it meets: its window is closed. It is hidden until that ends; an IOC or FOK order
 * is cancelled.
 */
export function whyShut(state: MatcherState, live: LiveOrder): WithoutRoom | undefined {
  if (!isByCode(state, live)) return undefined
  const untilMs = closedUntilMs(state.windows, ofOrder(live))
  return untilMs > state.nowMs ? waiting(live, untilMs) : undefined
}

/**
 * The first of the two whose window has no room for their match; undefined when they may match. While its own matches, or the
 * few of windows that have not grown, fill the room, an IOC order goes on hidden like a sweep that continues.
 */
export function withoutRoom(
  state: MatcherState,
  incoming: LiveOrder,
  resting: LiveOrder,
): WithoutRoom | undefined {
  const { windows, nowMs } = state
  for (const live of codeSides(state, incoming, resting)) {
    const shut = whyShut(state, live)
    if (shut !== undefined) return shut
    const of = ofOrder(live)
    const isTrial = !hasGrown(windows, of)
    if (!hasRecord(windows, of) || (isTrial && !hasBudget(windows, nowMs))) {
      return waiting(live, pollAt(state, live))
    }
    if (!hasPlace(windows, of) || (isTrial && !mayTry(windows, of))) {
      return { aside: live, hold: { reason: 'signer_waits', untilMs: pollAt(state, live) } }
    }
  }
  return undefined
}

const waiting = (live: LiveOrder, untilMs: number): WithoutRoom =>
  isImmediate(live)
    ? { aside: live, cancelReason: 'signer_waits' }
    : { aside: live, hold: { reason: 'signer_waits', untilMs } }

/**
 * When an order looks again: those of one owner whose window has grown, and all others of the market together, at most a
 * hundred times a second, however many are placed. So orders of other owners, which cost nothing, delay none that has paid.
 */
function pollAt({ nowMs, windows }: MatcherState, live: LiveOrder): number {
  return hasGrown(windows, ofOrder(live))
    ? nowMs + SIGNER_POLL_MIN_MS + SIGNER_POLL_MS_PER_ORDER * live.own.size
    : nowMs + Math.max(SIGNER_POLL_MIN_MS, SIGNER_POLL_MS_PER_ORDER * windows.orders)
}

/** Takes the places of a match that is made. */
export function takeRoom(
  state: MatcherState,
  settlementId: string,
  one: LiveOrder,
  other: LiveOrder,
): void {
  const taken = windowsOf(state, one, other)
  if (taken.length === 0) return
  const { windows } = state
  takePlaces(windows, {
    settlementId,
    windows: taken.map((of) => ({ ...of, isTrial: !hasGrown(windows, of) })),
  })
}

/** Whether a further order exceeds what the owner may have while code whose window has not grown signs it. */
export function isBeyondTrust(
  { windows }: MatcherState,
  order: Order,
  own: OwnerOrders | undefined,
  leaving = 0,
): boolean {
  if (order.signedByCode !== true) return false
  return (own?.size ?? 0) - leaving >= UNGROWN_ORDERS_MAX && !hasGrown(windows, order)
}
