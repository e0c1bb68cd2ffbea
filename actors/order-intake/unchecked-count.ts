import type { Address } from '../../core/action.js'

/** Orders of one owner that may wait at once for the chain to vouch for their signature. */
export const MAX_UNCHECKED_PER_OWNER = 3

/** Which orders wait for the chain, by owner: those on their way into the log too. */
export interface UncheckedCount {
  add(owner: Address, orderId: string): void
  remove(owner: Address, orderId: string): void
  /**
   * Room for one more of the owner: undefined when there is none, else what gives the room back when the order does
   * not enter the market.
   */
  reserve(owner: Address, orderId: string): (() => void) | undefined
}

export function createUncheckedCount(): UncheckedCount {
  const owners = new Map<Address, Set<string>>()
  const add = (owner: Address, orderId: string): void => {
    owners.set(owner, (owners.get(owner) ?? new Set()).add(orderId))
  }
  const remove = (owner: Address, orderId: string): void => {
    const waiting = owners.get(owner)
    waiting?.delete(orderId)
    if (waiting?.size === 0) owners.delete(owner)
  }
  return {
    add,
    remove,
    reserve(owner, orderId) {
      const waiting = owners.get(owner)
      // A repeat of an order that is on its way takes no room, and has none to give back.
      if (waiting?.has(orderId)) return () => undefined
      if (waiting !== undefined && waiting.size >= MAX_UNCHECKED_PER_OWNER) return undefined
      add(owner, orderId)
      return () => remove(owner, orderId)
    },
  }
}
