import { amountE18 } from '../money.js'
import type { EndReason } from './change.js'
import type { Step } from './emit-change.js'
import { PENDING_MATCHES_MAX, SWEEP_MAX_MATCHES } from './limits.js'
import { isExpiring, openAmount, returnPending, type LiveOrder } from './live-order.js'
import { crossingOrders, proposeMatch, reserveMatch, type Proposal } from './match.js'
import { areOwn, outlastsOwn, SELF_TRADE } from './self-trade.js'
import { FOK_UNFILLABLE } from './time-in-force.js'

interface Tried {
  readonly resting: LiveOrder
  readonly proposal: Proposal
}

/**
 * Why an incoming order cannot be matched whole in this step; undefined when it can. It is matched on trial, with funds,
 * bands and holds counted exactly as the market counts them, and everything is taken back.
 */
export function whyNotWhole(step: Step, incoming: LiveOrder): EndReason | undefined {
  const tried: Tried[] = []
  const reason = tryWhole(step, incoming, tried)
  for (const { resting, proposal } of tried.reverse()) takeBack(step, incoming, resting, proposal)
  return reason
}

function tryWhole(step: Step, incoming: LiveOrder, tried: Tried[]): EndReason | undefined {
  const { state } = step
  if (state.closed) return FOK_UNFILLABLE
  let { met } = step
  for (const resting of crossingOrders(state, incoming)) {
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
        return 'hold' in proposal ? proposal.hold.reason : proposal.cancelReason
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
  { match, ofIncoming, ofResting }: Proposal,
): void {
  const { means } = state.trading
  state.seq -= 1
  means.release(resting.account.purse, resting, ofResting)
  means.release(incoming.account.purse, incoming, ofIncoming)
  returnPending(resting, match.amount)
  returnPending(incoming, match.amount)
  state.awaiting = amountE18(state.awaiting - match.amount)
}
