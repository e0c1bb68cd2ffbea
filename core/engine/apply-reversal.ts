import { assert } from '../assert.js'
import type { ReversedLeg, SettlementReversal } from '../model/command.js'
import { REVERSALS_BEYOND_MAX } from '../model/limits.js'
import { addFilled, isExpired, isExpiring, type LiveOrder } from '../model/live-order.js'
import { fillsOf, type Fill } from '../model/match.js'
import { amountE18, type AmountE18 } from '../money.js'
import { restateDesired } from './change-order.js'
import { isImmediate } from './controls.js'
import {
  emitChange,
  emitEnded,
  markCancelled,
  markEnded,
  standing,
  type Step,
} from './emit-change.js'
import { releaseHold } from './match.js'
import { releaseWaiting } from './review-account.js'
import { nextTradeId, scheduleOrder, type MatcherState } from './state.js'

/** The `cancel_reason` of an order that was filled by a settlement which the chain has lost. */
export const REVERSED_REASON = 'settlement_reversed'

/** An order of the settlement: one that the market knows, or one that has ended. */
interface ReversalLeg {
  readonly published: ReversedLeg
  readonly live: LiveOrder | undefined
}

interface ReversalLegs {
  readonly maker: ReversalLeg
  readonly taker: ReversalLeg
}

type Now<Kind extends SettlementReversal['now']['kind']> = Extract<
  SettlementReversal['now'],
  { kind: Kind }
>

/** Whether the executor's reversal of this number was applied. */
export function isReversalDone({ reversals }: MatcherState, no: number): boolean {
  return no <= reversals.upTo || reversals.beyond.has(no)
}

/** Records that all reversals up to a number were applied. */
export function forgetReversals({ reversals }: MatcherState, upTo: number): void {
  reversals.upTo = Math.max(reversals.upTo, upTo)
  for (const no of reversals.beyond) if (no <= reversals.upTo) reversals.beyond.delete(no)
}

/**
 * Takes back a fill that the chain has lost for good, or adds one that it made of a match that had reverted. Changes
 * nothing when it was applied before, when an order has ended since the reversal was sent, or while the amount of a
 * late fill is matched elsewhere: the sender finds it not applied and sends it again.
 */
export function applyReversal(step: Step, reversal: SettlementReversal): void {
  const { state } = step
  const { no, now } = reversal
  const legs = isReversalDone(state, no) ? undefined : applicableLegs(state, reversal)
  if (legs === undefined) return
  if (now.kind === 'success') fillLate(step, reversal, { legs, now })
  else takeBack(step, reversal, { legs, now })
  state.reversals.beyond.add(no)
}

/** Whether the reversal would change something now. */
export const isReversalApplicable = (state: MatcherState, reversal: SettlementReversal): boolean =>
  applicableLegs(state, reversal) !== undefined

function applicableLegs(
  state: MatcherState,
  { maker, taker, match, now }: SettlementReversal,
): ReversalLegs | undefined {
  if (state.reversals.beyond.size >= REVERSALS_BEYOND_MAX) return undefined
  const legs = { maker: legOf(state, maker), taker: legOf(state, taker) }
  if (legs.maker === undefined || legs.taker === undefined) return undefined
  const left = [unfilledOf(legs.maker), unfilledOf(legs.taker)]
  const fits = now.kind === 'reverted' || left.every((amount) => amount >= match.amount)
  return fits ? { maker: legs.maker, taker: legs.taker } : undefined
}

function legOf(state: MatcherState, published: ReversedLeg): ReversalLeg | undefined {
  const live = state.orders.get(published.orderId)
  return live === undefined && published.ended === undefined ? undefined : { published, live }
}

/** What a late fill may still take: of an order that was reduced also what it asked for before. */
function unfilledOf({ published, live }: ReversalLeg): bigint {
  if (live !== undefined) {
    const { signedDesiredAmount: signed = live.desired } = live.order
    return live.unmatched + signed - live.desired
  }
  const { ended, reducedFrom = published.desired } = published
  return reducedFrom - (ended?.filled ?? reducedFrom)
}

/**
 * Lets a reduced order grow again by what a late fill takes beyond it; the leg as it stands then. What it grows by is
 * never open: the book may hold an order that it would cross.
 */
function makeRoom(step: Step, { published, live }: ReversalLeg, amount: AmountE18): ReversalLeg {
  if (live !== undefined) {
    const missing = amount - live.unmatched
    if (missing > 0n) {
      restateDesired(step, live, amountE18(live.desired + missing))
      live.unmatched = amount
    }
    return { published, live }
  }
  const { ended, desired } = published
  const filled = (ended?.filled ?? 0n) + amount
  if (ended === undefined || filled <= desired) return { published, live }
  const grown = { ...published, desired: amountE18(filled) }
  const isFilled = ended.status === 'filled'
  const cancelReason = isFilled ? { cancelReason: REVERSED_REASON } : {}
  emitEnded(step, grown, { filled: 0n, facts: { kind: 'OrderResized', ...cancelReason } })
  const status = isFilled ? 'cancelled' : ended.status
  return { published: { ...grown, ended: { ...ended, status } }, live }
}

/** The maker's change, then the taker's, with nothing between, like those of any other fill. */
function fillLate(
  step: Step,
  { match, taker }: SettlementReversal,
  { legs: found, now }: { readonly legs: ReversalLegs; readonly now: Now<'success'> },
): void {
  const { state } = step
  const { txHash, blockNumber } = now
  const legs = {
    maker: makeRoom(step, found.maker, match.amount),
    taker: makeRoom(step, found.taker, match.amount),
  }
  const tradeId = nextTradeId(state)
  const [ofMaker, ofTaker] = fillsOf(match, { txHash, blockNumber, tradeId }, taker.side)
  for (const [{ published, live }, fill] of pairs(legs, ofMaker, ofTaker)) {
    if (live === undefined) {
      emitEnded(step, published, { filled: fill.amount, facts: { kind: 'OrderFilled', fill } })
      continue
    }
    state.capture?.keep(live)
    addFilled(live, fill.amount)
    state.trading.means.settle(live.account.riskAccount, live, { match: fill, blockNumber })
    emitChange(step, live, { kind: 'OrderFilled', fill })
  }
}

/**
 * Both orders' changes first, with nothing between; then what has come back returns to the book at its time priority,
 * where it matches like an incoming order. It is out of the book from its own change until then, so that the book is
 * never seen crossed.
 */
function takeBack(
  step: Step,
  { match, taker }: SettlementReversal,
  { legs, now }: { readonly legs: ReversalLegs; readonly now: Now<'reverted'> },
): void {
  const { state } = step
  const { revert } = now
  const [ofMaker, ofTaker] = fillsOf(match, now.published, taker.side)
  const touched: LiveOrder[] = []
  for (const [{ published, live }, fill] of pairs(legs, ofMaker, ofTaker)) {
    if (live === undefined) {
      const wasFilled = published.ended?.status === 'filled'
      const facts = { kind: 'FillReversed', fill, revert } as const
      emitEnded(step, published, {
        filled: 0n - fill.amount,
        facts: wasFilled ? { ...facts, cancelReason: REVERSED_REASON } : facts,
      })
      continue
    }
    const mayLose = live.filled >= live.order.initialFilled + fill.amount
    assert(mayLose, `${published.orderId} has no fill to lose`)
    state.capture?.keep(live)
    addFilled(live, amountE18(0n - fill.amount))
    const { blockNumber } = fill
    state.trading.means.unsettle(live.account.riskAccount, live, { match: fill, blockNumber })
    prepareReturn(step, live)
    emitChange(step, live, { kind: 'FillReversed', fill, revert, ...standing(live) })
    touched.push(live)
  }
  returnAll(step, touched)
}

const pairs = (legs: ReversalLegs, ofMaker: Fill, ofTaker: Fill) =>
  [
    [legs.maker, ofMaker],
    [legs.taker, ofTaker],
  ] as const

/** An order that is held keeps its hold; one that has ended stays ended. */
function prepareReturn(step: Step, live: LiveOrder): void {
  const { nowMs } = step.state
  if (live.gone !== undefined) return
  if (live.cancelOnReturn !== undefined) return markCancelled(step, live, live.cancelOnReturn)
  if (isImmediate(live)) return markCancelled(step, live, REVERSED_REASON)
  if (isExpired(live, nowMs)) {
    markEnded(step, live)
  } else if (isExpiring(live, nowMs)) {
    live.hold = { reason: 'expiring' }
  } else {
    live.hold ??= { reason: 'continuing' }
  }
}

function returnAll(step: Step, touched: readonly LiveOrder[]): void {
  const { state } = step
  for (const live of touched) {
    if (!state.orders.has(live.order.orderId)) continue
    scheduleOrder(state, live)
    if (live.hold?.reason === 'continuing' && live.hold.untilMs === undefined) {
      releaseHold(step, live)
    }
  }
  for (const { account } of touched) releaseWaiting(step, account)
}
