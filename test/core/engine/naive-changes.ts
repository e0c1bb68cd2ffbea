import type { Command } from '../../../core/model/command.js'
import type { Order } from '../../../core/model/order.js'
import {
  naiveCancel,
  isWaiting,
  naiveStatus,
  release,
  rest,
  type NaiveMarket,
  type NaiveOrder,
} from './naive-market.js'

/** What changes orders beside the market: reductions, replacements, and which orders are own. */

export function reduce(
  market: NaiveMarket,
  { nonce, desired, reason }: Extract<Command, { kind: 'ReduceOrder' }>,
): void {
  const it = market.orders.find((one) => one.order.nonce === nonce)
  if (it === undefined || naiveStatus(it) !== 'active') return
  const done = it.filled + it.pending
  if (desired === 0n || desired === done) return naiveCancel(it, reason)
  if (desired < done || desired >= it.order.desiredAmount) return
  it.order = { ...it.order, desiredAmount: desired }
  if (isWaiting(market, it)) release(market, it)
}

/** The order that a new one replaces, if it may. */
export function findReplaced(
  market: NaiveMarket,
  order: Order,
  nonce: bigint,
): NaiveOrder | undefined {
  const old = market.orders.find((one) => one.order.nonce === nonce)
  if (old === undefined || naiveStatus(old) !== 'active') return undefined
  if (old.order.owner !== order.owner) return undefined
  const { subaccountId, side } = old.order
  const isAlike = subaccountId === order.subaccountId && side === order.side
  const isLarger = order.desiredAmount > old.filled + old.pending
  const isUnleased = order.leaseId !== undefined && !(order.leaseId in market.leases)
  const isLate = market.nowMs >= order.goodUntilSec * 1000 || isUnleased
  return isAlike && isLarger && !isLate ? old : undefined
}

export const isOwn = (a: Order, b: Order): boolean =>
  a.subaccountId === b.subaccountId ||
  (a.owner === b.owner && [a.stpScope, b.stpScope].includes('owner'))

/** Whether the account has as many live orders as the rules allow; one that is replaced counts while it settles. */
export function isOneTooMany(market: NaiveMarket, order: Order, old?: NaiveOrder): boolean {
  const live = market.orders.filter(
    (one) =>
      one.order.subaccountId === order.subaccountId &&
      (one.pending > 0n || (one !== old && one.gone === undefined && rest(one) > 0n)),
  )
  return live.length >= market.openOrderLimit
}
