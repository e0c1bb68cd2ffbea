import type { Funds } from './account.js'
import { isOutOfCustody, matchCost, paidAsset, type Account } from './accounts.js'
import { assert } from './assert.js'
import { openAmount, type LiveOrder } from './live-order.js'
import type { MatcherState } from './matcher-state.js'

const NO_FUNDS: Funds = { base: 0n, quote: 0n }

/** Throws unless what accounts derive from orders and matches is what these say. Linear: for tests. */
export function checkAccounts(state: MatcherState): void {
  const pending = new Map<bigint, Funds>()
  for (const match of state.matches.values()) {
    for (const orderId of [match.makerOrderId, match.takerOrderId]) {
      const live = state.orders.get(orderId)
      assert(live !== undefined, `a match of ${orderId}, which is not known`)
      const before = pending.get(live.order.subaccountId) ?? NO_FUNDS
      const asset = paidAsset(live)
      const after = { ...before, [asset]: before[asset] + matchCost(live, match) }
      pending.set(live.order.subaccountId, after)
    }
  }
  let orders = 0
  for (const account of state.accounts.values()) {
    const { subaccountId } = account
    const { base, quote } = pending.get(subaccountId) ?? NO_FUNDS
    const agrees = account.pending.base === base && account.pending.quote === quote
    assert(agrees, `what account ${subaccountId} has promised does not add up`)
    const isIdle = account.orders.size === 0
    assert(state.idleAccounts.has(subaccountId) === isIdle, `account ${subaccountId} is mislaid`)
    orders += account.orders.size
    for (const live of account.orders) checkOrder(state, account, live)
  }
  assert(orders === state.orders.size, 'an order is missing from its account')
}

function checkOrder(state: MatcherState, account: Account, live: LiveOrder): void {
  const { orderId } = live.order
  assert(state.orders.get(orderId) === live, `account of ${orderId} keeps another order`)
  const reason = live.hold?.reason
  const waits = reason === 'insufficient_balance' || reason === 'not_in_custody'
  assert(!waits || account.waiting.has(live), `${orderId} waits and nobody knows`)
  const lost = openAmount(live) > 0n && isOutOfCustody(account, live)
  assert(!lost || state.reviews.has(account.subaccountId), `${orderId} is open out of custody`)
}
