import { assert } from '../assert.js'
import { rulesOf, type MarketTerms } from '../contracts/market-terms.js'
import type { Command, MarketCommand } from './command.js'
import { cancelOrder, type Step } from './emit-change.js'
import { CANCELLED_MAX_PER_STEP } from './limits.js'
import { statusOf } from './live-order.js'
import { holdMarket, liftHold } from './market-holds.js'
import type { MatcherState } from './state.js'

/** The `cancel_reason` of an order whose market was disabled. */
export const DISABLED_REASON = 'market_disabled'

/** What the market's feed states of it now. */
export const termsOf = ({ identity, rules, enabled, standing }: MatcherState): MarketTerms => ({
  identity,
  rules,
  enabled,
  standing,
})

type Opened = Extract<Command, { kind: 'MarketOpened' }>

/** The state was made of this command; what is left is to state the first terms. */
export function openMarket(step: Step, { opening }: Opened): void {
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
  }
}

/**
 * Cancels what is open or held of the orders that were placed before the market was disabled, as many as one step may. An
 * order wholly in settlement ends as its settlement does.
 */
export function cancelDisabled(step: Step): void {
  const { state } = step
  if (state.cancelUpToRank === 0) return
  let left = CANCELLED_MAX_PER_STEP
  for (const live of state.orders.values()) {
    if (live.rank > state.cancelUpToRank) break
    if (statusOf(live) !== 'active') continue
    if (left === 0) return
    left -= 1
    cancelOrder(step, live, DISABLED_REASON)
  }
  state.cancelUpToRank = 0
}
