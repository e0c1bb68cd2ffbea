import type { Hex } from '../../core/action.js'
import type { Block, Change } from '../../core/model/change.js'

/** Accounts without live orders that stay watched: their last transaction may not be in a block yet. */
export const IDLE_ACCOUNTS_MAX = 1_000
/** Recent transactions with fills. */
const FILLS_MAX = 10_000

/** The accounts of a market's live orders, and of recent ones. */
export interface AccountWatch {
  /** Applies the next block of the market's feed. */
  apply(block: Block): void
  has(subaccountId: bigint): boolean
  /** Accounts with live orders, then the others. */
  accounts(): Iterable<bigint>
  /** Whether an order of the account was placed since the last call. */
  takePlaced(subaccountId: bigint): boolean
  /** Whether the feed has a recent fill of this transaction. */
  hasFill(txHash: Hex): boolean
  size(): number
  /** Live orders. */
  orders(): number
  /** Whether the market knows no order: none is live, and of none a match awaits settlement. */
  isIdle(): boolean
}

/**
 * An empty watch. It holds the accounts of live orders, whose number the matcher bounds, and at most `idleMax` without: an
 * account that is watched when its next order comes need not be read for it.
 */
export function createAccountWatch(idleMax = IDLE_ACCOUNTS_MAX): AccountWatch {
  const accountOfOrder = new Map<string, bigint>()
  const liveOrders = new Map<bigint, number>()
  const idle = new Set<bigint>()
  const placed = new Set<bigint>()
  const fills = new Set<Hex>()
  /** Orders that have ended while a match of theirs awaits settlement. */
  const settling = new Set<string>()

  const place = (orderId: string, account: bigint): void => {
    accountOfOrder.set(orderId, account)
    liveOrders.set(account, (liveOrders.get(account) ?? 0) + 1)
    idle.delete(account)
    placed.add(account)
  }
  const drop = (orderId: string): void => {
    const account = accountOfOrder.get(orderId)
    if (account === undefined) return
    accountOfOrder.delete(orderId)
    const left = (liveOrders.get(account) ?? 0) - 1
    if (left > 0) return void liveOrders.set(account, left)
    liveOrders.delete(account)
    placed.delete(account)
    addBounded(idle, account, idleMax)
  }
  const fold = (change: Change): void => {
    if (change.kind === 'OrderPlaced') place(change.orderId, change.order.subaccountId)
    if (change.kind === 'OrderFilled') addBounded(fills, change.fill.txHash, FILLS_MAX)
    const isLive = change.status === 'active' || change.status === 'matching'
    // An ended order may still have a match pending; its account stays watched for a while.
    if (!isLive) drop(change.orderId)
    if (!isLive && change.pending > 0n) settling.add(change.orderId)
    else settling.delete(change.orderId)
  }
  return {
    apply: ({ changes }) => changes.forEach(fold),
    has: (account) => liveOrders.has(account) || idle.has(account),
    *accounts() {
      yield* liveOrders.keys()
      yield* idle
    },
    takePlaced: (account) => placed.delete(account),
    hasFill: (txHash) => fills.has(txHash),
    size: () => liveOrders.size + idle.size,
    orders: () => accountOfOrder.size,
    isIdle: () => accountOfOrder.size === 0 && settling.size === 0,
  }
}

/** Adds to the end of a set and drops its oldest value beyond the bound. */
function addBounded<Value>(set: Set<Value>, value: Value, max: number): void {
  set.delete(value)
  set.add(value)
  const [oldest] = set
  if (set.size > max && oldest !== undefined) set.delete(oldest)
}
