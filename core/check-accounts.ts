import type { Funds } from './account.js'
import {
  countFree,
  isOutOfCustody,
  matchCost,
  ordersOfAccount,
  paidAsset,
  type Account,
} from './accounts.js'
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
    const agrees = account.promisedBase === base && account.promisedQuote === quote
    assert(agrees, `what account ${subaccountId} has promised does not add up`)
    const isIdle = account.first === undefined
    assert(state.idleAccounts.has(subaccountId) === isIdle, `account ${subaccountId} is mislaid`)
    for (const live of ordersOfAccount(account)) {
      orders += 1
      checkOrder(state, account, live)
    }
    checkFree(account)
  }
  assert(orders === state.orders.size, 'an order is missing from its account')
}

function checkFree(account: Account): void {
  const { freeBase, freeQuote } = account
  countFree(account)
  const agrees = account.freeBase === freeBase && account.freeQuote === freeQuote
  assert(agrees, `what account ${account.subaccountId} can promise does not add up`)
}

function checkOrder(state: MatcherState, account: Account, live: LiveOrder): void {
  const { order } = live
  const { orderId } = order
  const isKnown = state.orders.get(orderId) === live && live.account === account
  assert(isKnown, `account of ${orderId} keeps another order`)
  assert(order.subaccountId === account.subaccountId, `${orderId} is under another account`)
  const reason = live.hold?.reason
  const waits = reason === 'insufficient_balance' || reason === 'not_in_custody'
  assert(!waits || account.waiting.has(live), `${orderId} waits and nobody knows`)
  const lost = openAmount(live) > 0n && isOutOfCustody(live)
  assert(!lost || state.reviews.has(account.subaccountId), `${orderId} is open out of custody`)
}
