import { quoteE18 } from '../money.js'
import { isOfSignature } from '../revert.js'
import { cancelScope } from './cancel-many.js'
import {
  addPoints,
  charge,
  close,
  closedUntilMs,
  credit,
  creditOf,
  hasGrown,
  keyOf,
  noteGasCost,
  type WindowOf,
} from './code-windows.js'
import type { SettlementOutcome } from '../model/command.js'
import { emitChange, type Step } from './emit-change.js'
import {
  REVIEWED_MAX_PER_STEP,
  TRIAL_POINTS_IN_SIMULATION,
  TRIAL_POINTS_ON_CHAIN,
  WINDOW_FAILURES_MAX,
} from '../model/limits.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Match, Blame } from '../model/match.js'
import { holdUntil } from './holds.js'
import type { MatcherState } from './state.js'
import { codeSides, ofOrder, windowsOf } from './window-room.js'

// What the outcome of a match does to the windows of its sides (code-windows.ts).

interface WindowPair {
  readonly maker: LiveOrder
  readonly taker: LiveOrder
}

type WindowSuccess = Extract<SettlementOutcome, { kind: 'success' }>
type WindowFailure = Extract<SettlementOutcome, { kind: 'reverted' }>

/**
 * A match has settled. What its fee leaves after its gas is credited to the sides that are code, in equal parts rounded down,
 * also where the other side paid it; nothing where one owner has traded with itself, or the fee does not cover the gas.
 */
export function noteSettled(
  state: MatcherState,
  { takerFee }: Match,
  { maker, taker }: WindowPair,
  { gasCost }: WindowSuccess,
): void {
  const { windows, nowMs } = state
  if (gasCost === undefined || gasCost === 0n) return
  noteGasCost(windows, gasCost)
  if (takerFee < gasCost || maker.owner === taker.owner) return
  const sides = windowsOf(state, maker, taker)
  for (const of of sides) {
    credit(windows, of, quoteE18((takerFee - gasCost) / BigInt(sides.length)), nowMs)
  }
}

/** A window that a failure has closed. */
interface ClosedWindow extends WindowOf {
  /** Its live orders end: it was the third failure that is proven. */
  readonly endsOrders: boolean
}

const NOTHING: readonly ClosedWindow[] = []

/**
 * A match has failed. A side that is code is closed if it is to blame, and its signature made the match fail or the match was
 * mined; also without proof, if its signature alone can have been the cause: the other signer is known to have been a plain key
 * there. It pays the gas that was lost from its credit, also where nothing is known of the other signer and none is closed: else
 * the gas at risk had no bound. Without proof between two sides that are code none is closed: each pays half of the gas, as far
 * as the other can pay as much, so that no one loses by it more than it costs the other. Orders end only by proof.
 */
export function noteFailure(
  state: MatcherState,
  outcome: WindowFailure,
  blame: Blame | 'neither',
  { maker, taker }: WindowPair,
): readonly ClosedWindow[] {
  const sides = codeSides(state, maker, taker)
  if (sides.length === 0 || blame === 'venue') return NOTHING
  const ofSignature = isOfSignature(outcome.revert)
  const isMined = outcome.txHash !== undefined
  if (!ofSignature && (blame === 'neither' || !isMined)) return NOTHING
  const suspects = sides.filter(
    (live) =>
      blame === 'neither' || blame === 'both' || blame === (live === maker ? 'maker' : 'taker'),
  )
  const { windows, nowMs } = state
  const causes = distinct(suspects)
  if (causes.some((of) => !hasGrown(windows, of))) {
    addPoints(windows, nowMs, isMined ? TRIAL_POINTS_ON_CHAIN : TRIAL_POINTS_IN_SIMULATION)
  }
  const lost = outcome.gasCost ?? (isMined ? windows.trials.gasCost : 0n)
  const isProven = blame !== 'neither'
  if (!isProven && causes.length > 1) {
    chargeHalves(state, causes, lost)
    return NOTHING
  }
  for (const of of causes) charge(windows, of, partOf(lost, causes.length))
  if (!isProven && outcome.signersRead !== true) return NOTHING
  const closed: ClosedWindow[] = []
  for (const of of causes) {
    const window = close(windows, of, { nowMs, ofSignature, isProven })
    if (window === undefined) continue
    closed.push({ ...of, endsOrders: isProven && window.proven >= WINDOW_FAILURES_MAX })
  }
  return closed
}

/** Rounded up: never less than was lost. */
const partOf = (lost: bigint, parts: number): bigint =>
  parts === 0 ? lost : (lost + BigInt(parts) - 1n) / BigInt(parts)

const distinct = (sides: readonly LiveOrder[]): WindowOf[] => [
  ...new Map(sides.map((live) => [keyOf(ofOrder(live)), ofOrder(live)])).values(),
]

function chargeHalves({ windows }: MatcherState, of: readonly WindowOf[], lost: bigint): void {
  const most = of.map((each): bigint => creditOf(windows, each))
  const part = [partOf(lost, of.length), ...most].reduce((a, b) => (a < b ? a : b))
  for (const each of of) charge(windows, each, part)
}

/**
 * Hides the open orders of windows that were closed, as many as one step may, the others when they are met; or ends them.
 */
export function followClosings(step: Step, closed: readonly ClosedWindow[]): void {
  for (const { signer, owner, endsOrders } of closed) {
    if (endsOrders) cancelScope(step, { owner, signer }, 'signer_unreliable')
    else hideOpen(step, { signer, owner })
  }
}

function hideOpen(step: Step, of: WindowOf): void {
  const { state } = step
  const untilMs = closedUntilMs(state.windows, of)
  for (const live of state.owners.get(of.owner)?.values() ?? []) {
    if (live.level === undefined || live.order.signer !== of.signer) continue
    if (step.reviewed === REVIEWED_MAX_PER_STEP) return
    step.reviewed += 1
    holdUntil(step, live, { reason: 'signer_waits', untilMs })
    emitChange(step, live, { kind: 'OrderHeld', hold: 'signer_waits' })
  }
}
