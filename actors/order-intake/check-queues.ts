import type { Address } from '../../core/action.js'

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

/** The unchecked orders of each market, also those on their way into the log. */
export interface UncheckedCount {
  add(market: string, orderId: string): void
  remove(market: string, orderId: string): void
  /**
   * Reserves a place for one more order of the market; undefined when there is none. The returned function releases it
   * when the order does not enter the market.
   */
  reserve(market: string, orderId: string): (() => void) | undefined
}

export function createUncheckedCount(): UncheckedCount {
  const markets = new Map<string, Set<string>>()
  const add = (market: string, orderId: string): void => {
    markets.set(market, (markets.get(market) ?? new Set()).add(orderId))
  }
  const remove = (market: string, orderId: string): void => {
    markets.get(market)?.delete(orderId)
  }
  return {
    add,
    remove,
    reserve(market, orderId) {
      const waiting = markets.get(market)
      // A repeat of an order on its way takes no place and releases none.
      if (waiting?.has(orderId)) return () => undefined
      if (waiting !== undefined && waiting.size >= MAX_UNCHECKED_PER_MARKET) return undefined
      add(market, orderId)
      return () => remove(market, orderId)
    },
  }
}
