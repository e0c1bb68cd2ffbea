import { assert } from '../assert.js'
import { amountE18 } from '../money.js'
import { cancelOnReturn } from './cancel-many.js'
import { rulesOf, type MarketTerms } from '../model/market-terms.js'
import type { Command, MarketCommand } from '../model/command.js'
import { cancelOrder, type Step } from './emit-change.js'
import { holdMarket, liftHold } from './holds.js'
import { CANCELLED_MAX_PER_STEP } from '../model/limits.js'
import { addFilled, statusOf } from '../model/live-order.js'
import type { MatcherState } from './state.js'

/** The `cancel_reason` of an order whose market was disabled. */
export const DISABLED_REASON = 'market_disabled'
/** The `cancel_reason` of an order that was open when its market was restored with a gap, and why the market is held. */
export const RESTORED_REASON = 'restored'

/** What the market's feed states of it now. */
export const termsOf = ({ identity, rules, enabled, standing }: MatcherState): MarketTerms => ({
  identity,
  rules,
  enabled,
  standing,
})

type OpenedCommand = Extract<Command, { kind: 'MarketOpened' }>

/** The state was made of this command; what is left is to state the first terms. */
export function openMarket(step: Step, { opening }: OpenedCommand): void {
  const { identity, seq, rank } = step.state
  assert(seq === 0 && rank === 0, `${identity.market} is opened a second time`)
  assert(opening.identity.market === identity.market, `${identity.market} has another market's log`)
  step.restated = true
}

/**
 * Applies an operator's command. New rules hold from here on: a match that was proposed keeps its fee, and an order that
 * rests stays where it is, also off a coarser tick.
 */
export function applyMarketCommand(step: Step, command: MarketCommand): void {
  const { state } = step
  switch (command.kind) {
    case 'MarketRulesSet':
      state.rules = rulesOf({ ...state.rules, ...command.rules })
      step.restated = true
      return
    case 'MarketPaused':
      holdMarket(step, 'operator', { reason: command.reason })
      return
    case 'MarketResumed':
      liftHold(step, 'operator')
      return
    case 'MarketDisabled':
      if (!state.enabled) return
      state.enabled = false
      state.cancelUpToRank = state.rank
      step.restated = true
      cancelDisabled(step)
      return
    case 'MarketEnabled':
      if (state.enabled) return
      state.enabled = true
      step.restated = true
      return
    case 'MarketRestored':
      holdMarket(step, 'restored', { reason: RESTORED_REASON })
      step.restated = true
      return
    case 'GapAccepted':
      liftHold(step, 'restored')
      return
  }
}

type Gap = Extract<Command, { kind: 'GapObserved' }>

/**
 * Counts what the chain has filled meanwhile of orders that the log knows; nothing of them is open any more. After the last
 * part all open orders are cancelled: what their owners have done since is lost.
 */
export function observeGap(step: Step, { gap, more }: Gap): void {
  const { state } = step
  for (const { orderId, filled } of gap.filled) {
    const live = state.orders.get(orderId)
    if (live === undefined || live.gone !== undefined) continue
    const most = amountE18(live.desired - live.pending)
    const counted = filled < most ? filled : most
    if (counted <= live.filled) continue
    state.capture?.keep(live)
    addFilled(live, amountE18(counted - live.filled))
    cancelOrder(step, live, RESTORED_REASON)
  }
  if (more) return
  state.cancelUpToRank = state.rank
  for (const live of state.orders.values())
    if (statusOf(live) === 'matching') cancelOnReturn(state, live, RESTORED_REASON)
}

/**
 * Cancels what is open or held of the orders that were placed before the market was disabled or restored with a gap, as
 * many as one step may. An order wholly in settlement ends as its settlement does.
 */
export function cancelDisabled(step: Step): void {
  const { state } = step
  if (state.cancelUpToRank === 0) return
  const reason = state.holds.has('restored') ? RESTORED_REASON : DISABLED_REASON
  let left = CANCELLED_MAX_PER_STEP
  for (const live of state.orders.values()) {
    if (live.rank > state.cancelUpToRank) break
    if (statusOf(live) !== 'active') continue
    if (left === 0) return
    left -= 1
    cancelOrder(step, live, reason)
  }
  state.cancelUpToRank = 0
}
