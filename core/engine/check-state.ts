import { assert } from '../assert.js'
import type { ReservedCost } from '../contracts/contract.js'
import { ENDED_BY_ACCOUNT } from '../model/hold.js'
import { isOutOfCustody } from './accounts.js'
import { checkWindows } from './check-windows.js'
import { ordersOf } from './book.js'
import { openAmount, statusOf, type LiveOrder, type Account } from '../model/live-order.js'
import { laterOfCrossing } from './match.js'
import type { Side } from '../model/order.js'
import type { MatcherState } from './state.js'

/**
 * Throws unless the invariants of a market's state hold: the book sorted by price and rank, never crossed, holding
 * exactly the orders with something open; amounts that add up with the pending matches. Linear in the live orders:
 * for tests and simulations, after every step.
 */
export function checkBook(state: MatcherState): void {
  const shown = checkSide(state, 'buy') + checkSide(state, 'sell')
  const open = [...state.orders.values()].filter((live) => openAmount(live) > 0n).length
  assert(shown === open, `${shown} orders in the book, ${open} with something open`)
  assert(state.closed || laterOfCrossing(state) === undefined, 'the visible book is crossed')
  checkPending(state)
  checkAccounts(state)
  checkOwners(state)
  checkWindows(state)
}

function checkOwners({ owners, orders }: MatcherState): void {
  let count = 0
  for (const [owner, own] of owners) {
    assert(own.size > 0, `${owner} is kept without an order`)
    for (const [nonce, live] of own) {
      const { orderId, order } = live
      assert(orders.get(orderId) === live, `${orderId} is not known`)
      assert(order.owner === owner && order.nonce === nonce, `${orderId} is under another owner`)
      count += 1
    }
  }
  assert(count === orders.size, 'an order is missing from its owner')
}

function checkSide(state: MatcherState, side: Side): number {
  let count = 0
  let previous: LiveOrder | undefined
  for (const live of ordersOf(state.book, side)) {
    const name = live.order.orderId
    assert(live.order.side === side, `${name} is on the wrong side`)
    assert(openAmount(live) > 0n, `${name} rests with nothing open`)
    assert(openAmount(live) === live.shownOpen, `${name} shows another amount than it has open`)
    assert(state.orders.get(name) === live, `${name} rests without being known`)
    if (previous !== undefined) assert(comesBefore(previous, live), `${name} is out of priority`)
    previous = live
    count += 1
  }
  return count
}

function comesBefore(a: LiveOrder, b: LiveOrder): boolean {
  if (a.order.limitPrice === b.order.limitPrice) return a.rank < b.rank
  const higherFirst = a.order.side === 'buy'
  return a.order.limitPrice > b.order.limitPrice === higherFirst
}

function checkPending(state: MatcherState): void {
  const pending = new Map<string, bigint>()
  let awaiting = 0n
  for (const match of state.matches.values()) {
    awaiting += match.amount
    for (const orderId of [match.makerOrderId, match.takerOrderId]) {
      pending.set(orderId, (pending.get(orderId) ?? 0n) + match.amount)
    }
  }
  assert(awaiting === state.awaiting, 'what awaits settlement does not add up')
  for (const live of state.orders.values()) {
    const { orderId } = live.order
    assert(live.pending === (pending.get(orderId) ?? 0n), `pending of ${orderId} does not add up`)
    const isWhole = live.filled + live.pending + live.unmatched === live.order.desiredAmount
    assert(isWhole, `the parts of ${orderId} are not all of it`)
    assert(live.unmatched >= 0n, `${orderId} is matched beyond what it asked for`)
    assert(statusOf(live) !== 'filled', `${orderId} is filled and still known`)
    pending.delete(orderId)
  }
  assert(pending.size === 0, 'a match belongs to an order that is not known')
}

/** Throws unless what accounts derive from orders and matches is what these say. Linear: for tests. */
export function checkAccounts(state: MatcherState): void {
  const { means } = state.trading
  const reserved = reservedCosts(state)
  let orders = 0
  for (const account of state.accounts.values()) {
    const { subaccountId, riskAccount } = account
    means.check(riskAccount, reserved.get(subaccountId) ?? [])
    const isIdle = account.orders.size === 0
    assert(state.idleAccounts.has(subaccountId) === isIdle, `account ${subaccountId} is not idle`)
    for (const live of account.orders) {
      orders += 1
      checkOrder(state, account, live)
    }
  }
  assert(orders === state.orders.size, 'an order is missing from its account')
}

/** What the matches in flight take from each account. */
function reservedCosts({ matches, orders, trading }: MatcherState): Map<bigint, ReservedCost[]> {
  const reserved = new Map<bigint, ReservedCost[]>()
  for (const match of matches.values()) {
    for (const orderId of [match.makerOrderId, match.takerOrderId]) {
      const order = orders.get(orderId)
      assert(order !== undefined, `a match of ${orderId}, which is not known`)
      const { subaccountId } = order.account
      const cost = { order, cost: trading.means.costOf(order, match) }
      const costs = reserved.get(subaccountId)
      if (costs === undefined) reserved.set(subaccountId, [cost])
      else costs.push(cost)
    }
  }
  return reserved
}

function checkOrder(state: MatcherState, account: Account, live: LiveOrder): void {
  const { order } = live
  const { orderId } = order
  const isKnown = state.orders.get(orderId) === live && live.account === account
  assert(isKnown, `account of ${orderId} keeps another order`)
  assert(order.subaccountId === account.subaccountId, `${orderId} is under another account`)
  const { hold } = live
  const waits =
    hold !== undefined && hold.untilMs === undefined && ENDED_BY_ACCOUNT.has(hold.reason)
  assert(!waits || account.waiting.has(live), `${orderId} waits and its account does not list it`)
  const lost = openAmount(live) > 0n && isOutOfCustody(live)
  assert(!lost || state.reviews.has(account.subaccountId), `${orderId} is open out of custody`)
}
