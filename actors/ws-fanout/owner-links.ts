import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'

/** Which change of an owner came before each change: what `orders` frames name as `prev_seq`. */
export interface OwnerLinks {
  /** Takes the next change; returns what `previousOf` says of it from now on. */
  note(seq: number, owner: Address): number
  /**
   * Sequence of the same owner's change before this one, 0 when none is among the `reach` changes up to this one;
   * undefined when that is not known any more.
   */
  previousOf(seq: number): number | undefined
}

const CHUNK = 65_536

/**
 * Remembers `reach` changes. Both answers follow from the changes alone, so that every worker and every successor of
 * one gives the same. A link is kept as a distance in four bytes.
 */
export function createOwnerLinks(reach: number): OwnerLinks {
  const chunkLength = Math.min(CHUNK, reach)
  const chunks: Uint32Array[] = []
  /** Newest change of each owner, the owner that was silent longest first. */
  const newestOf = new Map<Address, number>()
  let newest: number | undefined

  function note(seq: number, owner: Address): number {
    assert(newest === undefined || seq === newest + 1, `link of change ${seq} after ${newest}`)
    newest = seq
    for (const [silent, lastSeq] of newestOf) {
      if (lastSeq > seq - reach) break
      newestOf.delete(silent)
    }
    const previous = newestOf.get(owner)
    newestOf.delete(owner)
    newestOf.set(owner, seq)
    const { chunk, at } = slotOf(seq)
    chunk[at] = previous === undefined ? 0 : seq - previous
    return previous ?? 0
  }

  function previousOf(seq: number): number | undefined {
    if (newest === undefined || seq > newest || seq <= newest - reach) return undefined
    const { chunk, at } = slotOf(seq)
    const distance = chunk[at] ?? 0
    return distance === 0 ? 0 : seq - distance
  }

  function slotOf(seq: number): { readonly chunk: Uint32Array; readonly at: number } {
    const slot = seq % reach
    const chunk = (chunks[Math.floor(slot / chunkLength)] ??= new Uint32Array(chunkLength))
    return { chunk, at: slot % chunkLength }
  }

  return { note, previousOf }
}
