import { recordSettled, unpromise } from './accounts.js'
import type { Match } from './change.js'
import type { SettlementOutcome } from './command.js'
import { emitChange, markCancelled, standing, type Step } from './emit-change.js'
import { fillsOf } from './fill-legs.js'
import {
  isExpired,
  isExpiring,
  returnPending,
  settlePending,
  type LiveOrder,
} from './live-order.js'
import { matchIncoming } from './match-incoming.js'
import { knownOrder, scheduleOrder } from './matcher-state.js'
import { REFUSALS_MAX, REFUSALS_SPAN_MS, REFUSAL_HOLD_MS } from './matching-limits.js'
import { cancelReasonOfRevert } from './revert-reason.js'
import { releaseWaiting } from './review-account.js'

/** Takes the chain's answer about a match. A second report about the same one changes nothing. */
export function applySettlement(
  step: Step,
  settlementId: string,
  outcome: SettlementOutcome,
): void {
  const { state } = step
  const match = state.matches.get(settlementId)
  if (match === undefined) return
  state.matches.delete(settlementId)
  const maker = knownOrder(state, match.makerOrderId)
  const taker = knownOrder(state, match.takerOrderId)
  unpromise(maker, match)
  unpromise(taker, match)
  if (outcome.kind === 'success') fill(step, match, { maker, taker, outcome })
  else revert(step, match, { maker, taker, outcome })
  releaseWaiting(step, maker.account)
  releaseWaiting(step, taker.account)
}

interface Legs<Kind extends SettlementOutcome['kind']> {
  readonly maker: LiveOrder
  readonly taker: LiveOrder
  readonly outcome: Extract<SettlementOutcome, { kind: Kind }>
}

/** The maker's change, then the taker's, with nothing between (decision A1). */
function fill(step: Step, match: Match, { maker, taker, outcome }: Legs<'success'>): void {
  const { state } = step
  const told = {
    txHash: outcome.txHash,
    blockNumber: outcome.blockNumber,
    tradeId: (state.seq + 2) * 256 + state.rules.ordinal,
  }
  const takerSide = taker.order.side
  settlePending(maker, match.amount)
  settlePending(taker, match.amount)
  recordSettled(maker, match, outcome.blockNumber)
  recordSettled(taker, match, outcome.blockNumber)
  const [ofMaker, ofTaker] = fillsOf(match, told, takerSide)
  emitChange(step, maker, { kind: 'OrderFilled', fill: ofMaker })
  emitChange(step, taker, { kind: 'OrderFilled', fill: ofTaker })
}

/** The guilty order is held back first, so that the innocent one does not meet it again at once (decision B6). */
function revert(step: Step, match: Match, { maker, taker, outcome }: Legs<'reverted'>): void {
  const { guilty, revert: name } = outcome
  const legs = guilty === 'taker' ? [taker, maker] : [maker, taker]
  returnPending(maker, match.amount)
  returnPending(taker, match.amount)
  for (const live of legs) {
    const innocent = guilty === (live === maker ? 'taker' : 'maker')
    if (live.gone === undefined) returnOrder(step, live, innocent ? undefined : name)
    const { settlementId } = match
    emitChange(step, live, { kind: 'MatchReverted', settlementId, revert: name, ...standing(live) })
    scheduleOrder(step.state, live)
  }
}

/** Decides what becomes of an order whose match failed; `revert` is given when the order itself is to blame. */
function returnOrder(step: Step, live: LiveOrder, revert: string | undefined): void {
  const { nowMs } = step.state
  if (revert !== undefined && isRefusedForGood(live, nowMs)) {
    markCancelled(step, live, cancelReasonOfRevert(revert))
  } else if (isExpired(live, nowMs)) {
    live.gone = 'expired'
    live.hold = undefined
  } else if (isExpiring(live, nowMs)) {
    live.hold = { reason: 'expiring' }
  } else if (revert !== undefined) {
    live.hold = { reason: 'settlement_refused', untilMs: nowMs + REFUSAL_HOLD_MS }
  } else if (live.hold === undefined) {
    matchIncoming(step, live)
  }
}

/** Counts one more refusal; true with the third, if that is at least a minute after the first. */
function isRefusedForGood(live: LiveOrder, nowMs: number): boolean {
  if (live.refusals === 0) live.firstRefusedAtMs = nowMs
  live.refusals += 1
  return live.refusals >= REFUSALS_MAX && nowMs - live.firstRefusedAtMs >= REFUSALS_SPAN_MS
}
