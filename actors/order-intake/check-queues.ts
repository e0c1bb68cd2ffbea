import type { Address } from '../../core/action.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'
import type { Order } from '../../core/model/order.js'

/** Which live orders are checked next, and how many wait for their first check. */

interface SignedOrder {
  readonly signer: Address
}

/** Live orders in the order of their next check, in two queues. */
export function createQueues<T extends SignedOrder>() {
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
function takeTurns<T extends SignedOrder>(queue: Set<T>, maxSigners: number): T[] {
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
/** Most of one owner and signer in all markets together. */
export const MAX_UNCHECKED_PER_SIGNER = 3
/** Most of one owner in all markets together: a tenth of the places of one market. */
export const MAX_UNCHECKED_PER_OWNER = MAX_UNCHECKED_PER_MARKET / 10

type QueuedOrder = Pick<Order, 'market' | 'orderId' | 'owner' | 'signer'>

/**
 * The unchecked orders of each market, and of each owner, also those on their way into the log. While the chain is silent an owner
 * is not proven, so that any key can name any owner: the places of an owner's own signers are theirs alone.
 */
export interface UncheckedCount {
  add(order: QueuedOrder): void
  remove(market: string, orderId: string): void
  /**
   * Reserves a place for one more order of its market and its owner, or says why there is none. The returned function releases
   * it when the order does not enter the market.
   */
  reserve(order: QueuedOrder): (() => void) | Refusal
}

export function createUncheckedCount(): UncheckedCount {
  /** Of each market by order id: the names under which the order is counted. */
  const markets = new Map<string, Map<string, readonly string[]>>()
  /** How many orders of an owner, and of an owner and signer, there are in `markets`. */
  const counts = new Map<string, number>()
  const countOf = (name: string): number => counts.get(name) ?? 0
  const ofSigner = ({ owner, signer }: QueuedOrder): string => `${owner} ${signer}`

  const add = (order: QueuedOrder): void => {
    const { market, orderId, owner } = order
    const waiting = markets.get(market) ?? new Map<string, readonly string[]>()
    if (waiting.has(orderId)) return
    const names = [owner, ofSigner(order)]
    markets.set(market, waiting.set(orderId, names))
    for (const name of names) counts.set(name, countOf(name) + 1)
  }
  const remove = (market: string, orderId: string): void => {
    const waiting = markets.get(market)
    const names = waiting?.get(orderId) ?? []
    waiting?.delete(orderId)
    for (const name of names) {
      const left = countOf(name) - 1
      if (left === 0) counts.delete(name)
      else counts.set(name, left)
    }
  }
  return {
    add,
    remove,
    reserve(order) {
      const { market, orderId, owner } = order
      const waiting = markets.get(market)
      // A repeat of an order on its way takes no place and releases none.
      if (waiting?.has(orderId)) return () => undefined
      const isOneTooMany =
        countOf(ofSigner(order)) >= MAX_UNCHECKED_PER_SIGNER ||
        countOf(owner) >= MAX_UNCHECKED_PER_OWNER
      if (isOneTooMany) return refusals.ownerUnchecked
      if (waiting !== undefined && waiting.size >= MAX_UNCHECKED_PER_MARKET)
        return refusals.tooManyUnchecked
      add(order)
      return () => remove(market, orderId)
    },
  }
}
