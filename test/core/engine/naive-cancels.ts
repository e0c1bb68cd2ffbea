import type { Command } from '../../../core/model/command.js'
import { naiveCancel, naiveStatus, type NaiveMarket, type NaiveOrder } from './naive-market.js'

/** Cancels of many orders and leases, as naive as the market. */
export function naiveCancels(market: NaiveMarket, command: Command): void {
  const { orders, leases } = market
  if (command.kind === 'CancelAll') {
    const { side, subaccountId: id, reason } = command
    for (const it of orders) {
      const isMeant = (side ?? it.order.side) === it.order.side
      if (isMeant && (id ?? it.order.subaccountId) === it.order.subaccountId)
        cancelWhole(it, reason)
    }
  } else if (command.kind === 'CancelOrders') {
    for (const it of orders)
      if (command.orderIds.includes(it.order.orderId)) cancelWhole(it, command.reason)
  } else if (command.kind === 'SetLease') {
    const id = command.leaseId ?? 'all'
    if (command.opens || id in leases) leases[id] = market.nowMs + command.seconds * 1000
  } else if (command.kind === 'EndLease') {
    endLease(market, command.leaseId ?? 'all', command.cancels)
  }
}

/** Leases that have ended cancel before anything else happens. */
export function naiveLeases(market: NaiveMarket): void {
  for (const id of Object.keys(market.leases))
    if ((market.leases[id] ?? 0) <= market.nowMs) endLease(market, id, true)
}

/** Cancels an order with what its settlements would return. */
function cancelWhole(it: NaiveOrder, reason: string): void {
  if (naiveStatus(it) === 'active') naiveCancel(it, reason)
  else if (naiveStatus(it) === 'matching') it.cancelled ??= reason
}

function endLease(market: NaiveMarket, id: string, cancels: boolean): void {
  delete market.leases[id]
  for (const it of market.orders)
    if (cancels && (id === 'all' || it.order.leaseId === id))
      cancelWhole(it, id === 'all' ? 'cancel_all_after' : 'cancel_on_disconnect')
}

/** Whether the order names a lease that has ended. */
export const isTooLate = ({ leases }: NaiveMarket, it: NaiveOrder): boolean =>
  it.order.leaseId !== undefined && !(it.order.leaseId in leases) && naiveStatus(it) === 'active'
