import { assert } from './assert.js'
import { bestOf, ordersOf } from './book.js'
import { checkAccounts } from './check-accounts.js'
import { openAmount, statusOf, type LiveOrder } from './live-order.js'
import type { MatcherState } from './matcher-state.js'
import type { Side } from './order.js'
import { findByNonce, ordersOfOwner } from './owner-orders.js'

/**
 * Throws unless everything a market's state promises holds: the book sorted by price and rank, never crossed, holding
 * exactly the orders with something open; amounts that add up with the pending matches. Linear in the live orders:
 * for tests and simulations, after every step.
 */
export function checkBook(state: MatcherState): void {
  const shown = checkSide(state, 'buy') + checkSide(state, 'sell')
  const open = [...state.orders.values()].filter((live) => openAmount(live) > 0n).length
  assert(shown === open, `${shown} orders in the book, ${open} with something open`)
  const bid = bestOf(state.book, 'buy')
  const ask = bestOf(state.book, 'sell')
  if (bid !== undefined && ask !== undefined) {
    assert(bid.order.limitPrice < ask.order.limitPrice, 'the visible book is crossed')
  }
  checkPending(state)
  checkAccounts(state)
  checkOwners(state)
}

function checkOwners({ owners, orders }: MatcherState): void {
  let count = 0
  for (const own of owners.values()) {
    for (const live of ordersOfOwner(own)) {
      const { orderId, owner, nonce } = live.order
      assert(orders.get(orderId) === live && live.own === own, `${orderId} is not known`)
      assert(owner === own.owner && findByNonce(own, nonce) === live, `${orderId} is mislaid`)
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
  for (const match of state.matches.values()) {
    for (const orderId of [match.makerOrderId, match.takerOrderId]) {
      pending.set(orderId, (pending.get(orderId) ?? 0n) + match.amount)
    }
  }
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
