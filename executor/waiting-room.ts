import type { QueuedSettlement } from './settlement.js'

/** Settlements that wait, by the owner who causes them. */
export const MAX_WAITING = 4_096
/** Of these, the bound of those that one owner causes. */
export const MAX_WAITING_OF_OWNER = 1_024

/** What became of a settlement that came: in its place another one may have to go. */
export type RoomEntry =
  | { readonly kind: 'taken'; readonly displaced?: QueuedSettlement }
  | { readonly kind: 'full'; readonly why: string }

/** The settlements that are not sent yet, in the order of their arrival. */
export interface WaitingRoom {
  readonly all: () => readonly QueuedSettlement[]
  /**
   * Takes it unless its owner has too many. In a full room the newest of the owner of most makes room for an owner of fewer;
   * those of `busy` stay.
   */
  add(one: QueuedSettlement, owner: string, busy: readonly QueuedSettlement[]): RoomEntry
  remove(these: readonly QueuedSettlement[]): void
  /** Takes all of them out. */
  clear(): readonly QueuedSettlement[]
}

export function createWaitingRoom(): WaitingRoom {
  let waiting: QueuedSettlement[] = []
  const ownerOf = new Map<QueuedSettlement, string>()
  const counts = new Map<string, number>()

  function forget(one: QueuedSettlement): void {
    const owner = ownerOf.get(one)
    if (owner === undefined) return
    ownerOf.delete(one)
    const left = (counts.get(owner) ?? 0) - 1
    if (left > 0) counts.set(owner, left)
    else counts.delete(owner)
  }

  function remove(these: readonly QueuedSettlement[]): void {
    these.forEach(forget)
    waiting = waiting.filter((one) => ownerOf.has(one))
  }

  /** The newest of the owner of most, if that has more than the others will then have. */
  function displacedBy(own: number, busy: readonly QueuedSettlement[]) {
    let most = own + 1
    let owner: string | undefined
    for (const [name, count] of counts) if (count > most) [most, owner] = [count, name]
    if (owner === undefined) return undefined
    return waiting.findLast((one) => ownerOf.get(one) === owner && !busy.includes(one))
  }

  return {
    all: () => waiting,
    add(one, owner, busy) {
      const own = counts.get(owner) ?? 0
      if (own >= MAX_WAITING_OF_OWNER) {
        return { kind: 'full', why: 'too many settlements of one owner wait' }
      }
      const isFull = waiting.length >= MAX_WAITING
      const displaced = isFull ? displacedBy(own, busy) : undefined
      if (isFull && displaced === undefined) return { kind: 'full', why: TOO_MANY }
      if (displaced !== undefined) remove([displaced])
      waiting.push(one)
      ownerOf.set(one, owner)
      counts.set(owner, own + 1)
      return { kind: 'taken', ...(displaced && { displaced }) }
    },
    remove,
    clear() {
      const all = waiting
      waiting = []
      ownerOf.clear()
      counts.clear()
      return all
    },
  }
}

export const TOO_MANY = 'too many settlements wait'
