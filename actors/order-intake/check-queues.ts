import type { Address } from '../../core/action.js'
import type { Order } from '../../core/engine/order.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'

/** Which live orders are checked next, and how many wait for their first check. */

interface Signed {
  readonly signer: Address
}

/** Live orders in the order of their next check, in two queues. */
export function createQueues<T extends Signed>() {
  const priority = new Set<T>()
  const plain = new Set<T>()
  return {
    prioritise(order: T, hasPriority: boolean): void {
      const [to, from] = hasPriority ? [priority, plain] : [plain, priority]
      from.delete(order)
      to.add(order)
    },
    drop(order: T): void {
      priority.delete(order)
      plain.delete(order)
    },
    next: (maxSigners: number): T[] => [
      ...takeTurns(priority, maxSigners),
      ...takeTurns(plain, maxSigners),
    ],
    size: () => priority.size + plain.size,
  }
}

/** Takes orders of at most `maxSigners` signers from the front of the queue and moves them to its end. */
function takeTurns<T extends Signed>(queue: Set<T>, maxSigners: number): T[] {
  const signers = new Set<Address>()
  const taken: T[] = []
  for (const order of queue) {
    if (taken.length === MAX_ORDERS_PER_TURN) break
    if (signers.size === maxSigners && !signers.has(order.signer)) break
    signers.add(order.signer)
    taken.push(order)
  }
  for (const order of taken) {
    queue.delete(order)
    queue.add(order)
  }
  return taken
}

/** Most orders of one round. */
const MAX_ORDERS_PER_TURN = 4_000

/** Most unchecked orders of one market. */
export const MAX_UNCHECKED_PER_MARKET = 1_000
/** Most of one owner in all markets: fewer than a tenth of the places of one. */
export const MAX_UNCHECKED_PER_OWNER = 3

type Counted = Pick<Order, 'market' | 'orderId' | 'owner'>

/** The unchecked orders of each market and of each owner, also those on their way into the log. */
export interface UncheckedCount {
  add(order: Counted): void
  remove(market: string, orderId: string): void
  /**
   * Reserves a place for one more order of its market and its owner, or says why there is none. The returned function releases
   * it when the order does not enter the market.
   */
  reserve(order: Counted): (() => void) | Refusal
}

export function createUncheckedCount(): UncheckedCount {
  /** Of each market the owner by order id. */
  const markets = new Map<string, Map<string, Address>>()
  /** How many orders of an owner there are in `markets`. */
  const owners = new Map<Address, number>()
  const add = ({ market, orderId, owner }: Counted): void => {
    const waiting = markets.get(market) ?? new Map<string, Address>()
    if (waiting.has(orderId)) return
    markets.set(market, waiting.set(orderId, owner))
    owners.set(owner, (owners.get(owner) ?? 0) + 1)
  }
  const remove = (market: string, orderId: string): void => {
    const waiting = markets.get(market)
    const owner = waiting?.get(orderId)
    if (owner === undefined) return
    waiting?.delete(orderId)
    const left = (owners.get(owner) ?? 0) - 1
    if (left === 0) owners.delete(owner)
    else owners.set(owner, left)
  }
  return {
    add,
    remove,
    reserve(order) {
      const { market, orderId, owner } = order
      const waiting = markets.get(market)
      // A repeat of an order on its way takes no place and releases none.
      if (waiting?.has(orderId)) return () => undefined
      if ((owners.get(owner) ?? 0) >= MAX_UNCHECKED_PER_OWNER) return refusals.ownerUnchecked
      if (waiting !== undefined && waiting.size >= MAX_UNCHECKED_PER_MARKET)
        return refusals.tooManyUnchecked
      add(order)
      return () => remove(market, orderId)
    },
  }
}
