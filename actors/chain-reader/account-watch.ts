import type { Hex } from '../../core/action.js'
import type { Block, Change } from '../../core/change.js'

/** Accounts without live orders that are followed on: what they did last may still be on its way into a block. */
export const IDLE_ACCOUNTS_MAX = 1_000
/** Transactions of fills that are remembered. */
const FILLS_MAX = 10_000

/** Whose accounts matter to a market: those of its live orders, and those that had one lately. */
export interface AccountWatch {
  /** Takes the next block of the market's feed. */
  apply(block: Block): void
  has(subaccountId: bigint): boolean
  /** Accounts with live orders in no particular order, then the others. */
  accounts(): Iterable<bigint>
  /** Whether an order of the account was placed since this was asked last. */
  takePlaced(subaccountId: bigint): boolean
  /** Whether the feed has told of a fill in this transaction, lately. */
  hasFill(txHash: Hex): boolean
  size(): number
}

/** A watch that knows nothing yet; as many accounts as a matcher keeps live orders, which is bounded there. */
export function createAccountWatch(): AccountWatch {
  const accountOfOrder = new Map<string, bigint>()
  const liveOrders = new Map<bigint, number>()
  const idle = new Set<bigint>()
  const placed = new Set<bigint>()
  const fills = new Set<Hex>()

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
    addBounded(idle, account, IDLE_ACCOUNTS_MAX)
  }
  const fold = (change: Change): void => {
    if (change.kind === 'OrderPlaced') place(change.orderId, change.order.subaccountId)
    if (change.kind === 'OrderFilled') addBounded(fills, change.fill.txHash, FILLS_MAX)
    // What of an order that has ended is still pending was matched before; its account stays for a while anyway.
    if (change.status !== 'active' && change.status !== 'matching') drop(change.orderId)
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
  }
}

/** Adds to the end of a set, which lets its oldest go beyond the bound. */
function addBounded<Value>(set: Set<Value>, value: Value, max: number): void {
  set.delete(value)
  set.add(value)
  const [oldest] = set
  if (set.size > max && oldest !== undefined) set.delete(oldest)
}
