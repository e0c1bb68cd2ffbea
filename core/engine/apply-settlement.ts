import type { SettlementOutcome } from '../model/command.js'
import { REFUSAL_HOLD_MS } from '../model/limits.js'
import {
  isExpired,
  isExpiring,
  returnPending,
  settlePending,
  type LiveOrder,
} from '../model/live-order.js'
import { fillsOf, type Match } from '../model/match.js'
import { amountE18 } from '../money.js'
import { givePlaces } from './code-windows.js'
import { isImmediate, SETTLEMENT_FAILED } from './controls.js'
import { emitChange, markCancelled, markEnded, standing, type Step } from './emit-change.js'
import { blameFor, holdForFault, isRefusal, isRefusedForGood } from './holds.js'
import { matchIncoming } from './match.js'
import { endPointless, releaseWaiting } from './review-account.js'
import { barredOf, forgetFailedPair, noteFailedPair } from './signer-pairs.js'
import { knownOrder, nextTradeId, scheduleOrder } from './state.js'
import { followClosings, noteFailure, noteSettled } from './window-outcomes.js'

/** Applies the outcome of a match. A second report of the same match changes nothing. */
export function applySettlement(
  step: Step,
  settlementId: string,
  outcome: SettlementOutcome,
): void {
  const { state } = step
  const match = state.matches.get(settlementId)
  if (match === undefined) return
  state.matches.delete(settlementId)
  state.awaiting = amountE18(state.awaiting - match.amount)
  givePlaces(state.windows, settlementId)
  const maker = knownOrder(state, match.makerOrderId)
  const taker = knownOrder(state, match.takerOrderId)
  const { means } = state.trading
  for (const live of [maker, taker]) {
    state.capture?.keep(live)
    means.release(live.account.riskAccount, live, means.costOf(live, match))
  }
  if (outcome.kind === 'success') fill(step, match, { maker, taker, outcome })
  else revert(step, match, { maker, taker, outcome })
  for (const { account } of [maker, taker]) {
    endPointless(step, account)
    releaseWaiting(step, account)
  }
}

interface SettlementLegs<Kind extends SettlementOutcome['kind']> {
  readonly maker: LiveOrder
  readonly taker: LiveOrder
  readonly outcome: Extract<SettlementOutcome, { kind: Kind }>
}

/** The maker's change, then the taker's, with nothing between (SET-005). */
function fill(
  step: Step,
  match: Match,
  { maker, taker, outcome }: SettlementLegs<'success'>,
): void {
  const { state } = step
  const published = {
    txHash: outcome.txHash,
    blockNumber: outcome.blockNumber,
    tradeId: nextTradeId(state),
    ...(outcome.markPrice !== undefined && { markPrice: outcome.markPrice }),
  }
  state.fault = undefined
  const takerSide = taker.order.side
  settlePending(maker, match.amount)
  settlePending(taker, match.amount)
  const { means } = state.trading
  const settled = { match, blockNumber: outcome.blockNumber }
  means.settle(maker.account.riskAccount, maker, settled)
  means.settle(taker.account.riskAccount, taker, settled)
  forgetFailedPair(state, maker, taker)
  noteSettled(state, match, { maker, taker }, outcome)
  const [ofMaker, ofTaker] = fillsOf(match, published, takerSide)
  emitChange(step, maker, { kind: 'OrderFilled', fill: ofMaker })
  emitChange(step, taker, { kind: 'OrderFilled', fill: ofTaker })
}

/**
 * Holds the guilty order first, so that the innocent one does not match it again at once (SET-017, SET-018). A fault of the
 * venue holds the market and neither order (SET-033). Where nothing shows which side is at fault both return, and their
 * signers do not match for a while: the one that may have to be hidden comes first, so that it has met others before.
 */
function revert(
  step: Step,
  match: Match,
  { maker, taker, outcome }: SettlementLegs<'reverted'>,
): void {
  const { revert: name } = outcome
  const blame = blameFor(step, outcome, [maker, taker])
  if (blame === 'venue') holdForFault(step, name, match.price)
  if (blame === 'neither') noteFailedPair(step.state, maker, taker)
  // Before either returns: one whose window is closed by this must not match again.
  const closed = noteFailure(step.state, outcome, blame, { maker, taker })
  const first = blame === 'neither' ? barredOf(step.state, maker, taker)?.live : undefined
  const legs = blame === 'taker' || first === taker ? [taker, maker] : [maker, taker]
  returnPending(maker, match.amount)
  returnPending(taker, match.amount)
  for (const live of legs) {
    const guilty = blame === 'both' || blame === (live === maker ? 'maker' : 'taker')
    if (live.gone === undefined) returnOrder(step, live, guilty ? outcome : undefined)
    const { settlementId } = match
    emitChange(step, live, { kind: 'MatchReverted', settlementId, revert: name, ...standing(live) })
    scheduleOrder(step.state, live)
  }
  followClosings(step, closed)
}

/** Returns, holds or ends an order whose match failed; `refused` is given when the order is guilty. */
function returnOrder(
  step: Step,
  live: LiveOrder,
  refused: SettlementLegs<'reverted'>['outcome'] | undefined,
): void {
  const { nowMs } = step.state
  if (live.cancelOnReturn !== undefined) {
    markCancelled(step, live, live.cancelOnReturn)
  } else if (isImmediate(live)) {
    markCancelled(step, live, SETTLEMENT_FAILED)
  } else if (refused !== undefined && isRefusal(step, refused) && isRefusedForGood(live, nowMs)) {
    markCancelled(step, live, step.state.trading.cancelReason(refused.revert))
  } else if (isExpired(live, nowMs)) {
    markEnded(step, live)
  } else if (isExpiring(live, nowMs)) {
    live.hold = { reason: 'expiring' }
  } else if (refused !== undefined) {
    live.hold = { reason: 'settlement_refused', untilMs: nowMs + REFUSAL_HOLD_MS }
  } else if (live.hold === undefined) {
    matchIncoming(step, live)
  }
}
