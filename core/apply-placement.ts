import { accountFor, joinAccount } from './accounts.js'
import type { Command } from './command.js'
import { emitPlaced, markCancelled, type Step } from './emit-change.js'
import { isExpired, isExpiring, newLiveOrder, progressOf, type LiveOrder } from './live-order.js'
import { matchIncoming } from './match-incoming.js'
import { scheduleOrder, type MatcherState } from './matcher-state.js'
import { LIVE_ORDERS_MAX } from './matching-limits.js'
import type { Order } from './order.js'
import { findByNonce, joinOwner, type OwnerOrders } from './owner-orders.js'
import { observeIfNewer } from './review-account.js'
import type { CommandAnswer } from './apply-command.js'

type Placement = Extract<Command, { kind: 'PlaceOrder' }>

/** Puts an order into the market: it matches what it crosses, the rest joins the book or waits hidden. */
export function applyPlacement(step: Step, { order, account }: Placement): CommandAnswer {
  const { state } = step
  const { orderId, owner, nonce } = order
  if (state.orders.has(orderId)) return { kind: 'refused', code: 'duplicate_order_id' }
  const own = state.owners.get(owner)
  if (findByNonce(own, nonce) !== undefined) {
    return { kind: 'refused', code: 'duplicate_nonce' }
  }
  const live = join(state, order, own)
  if (account !== undefined) observeIfNewer(step, live.account, account)
  enter(step, live)
  emitPlaced(step, live)
  scheduleOrder(state, live)
  return { kind: 'order', order, progress: progressOf(live) }
}

/** Makes a new order known under its id, its owner and its account. */
function join(state: MatcherState, order: Order, own: OwnerOrders | undefined): LiveOrder {
  state.rank += 1
  // Who has an order nearly always has the next under the same account.
  const last = own?.newest?.account
  const { subaccountId } = order
  const account = last?.subaccountId === subaccountId ? last : accountFor(state, subaccountId)
  const live = newLiveOrder(order, { account, rank: state.rank, nowMs: state.nowMs })
  state.orders.set(order.orderId, live)
  joinOwner(state.owners, live)
  joinAccount(state, live)
  return live
}

function enter(step: Step, live: LiveOrder): void {
  const { state } = step
  if (live.unmatched === 0n) return
  if (isExpired(live, state.nowMs)) {
    live.gone = 'expired'
  } else if (state.orders.size > LIVE_ORDERS_MAX) {
    markCancelled(step, live, 'market_full')
  } else if (live.order.signatureStatus === 'unchecked') {
    live.hold = { reason: 'signature_unchecked' }
  } else if (isExpiring(live, state.nowMs)) {
    live.hold = { reason: 'expiring' }
  } else {
    matchIncoming(step, live)
  }
}
