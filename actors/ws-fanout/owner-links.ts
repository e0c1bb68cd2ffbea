import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { isNextSeq } from '../../core/engine/change.js'

/** The owner's previous change of each change: the `prev_seq` of `orders` frames. */
export interface OwnerLinks {
  /** Adds the next change and returns its `previousOf`. */
  note(seq: number, owner: Address): number
  /**
   * Sequence of the same owner's change before this one; 0 when none is among the `reach` changes up to this one,
   * undefined when it is no longer known.
   */
  previousOf(seq: number): number | undefined
}

const CHUNK = 65_536
/** Changes between two sweeps: the most owners beyond reach that are held. */
const SWEEP_EVERY = 65_536

/**
 * Holds the links of the newest `reach` changes, each as a distance in four bytes. They depend on the changes alone, so
 * that every worker gives the same answers, also after a restart.
 */
export function createOwnerLinks(reach: number): OwnerLinks {
  const chunkLength = Math.min(CHUNK, reach)
  const chunks: Uint32Array[] = []
  /** Newest change of each owner; one beyond reach is ignored and dropped by the next sweep. */
  const newestOf = new Map<Address, number>()
  let newest: number | undefined

  function note(seq: number, owner: Address): number {
    assert(newest === undefined || isNextSeq(seq, newest), `link of change ${seq} after ${newest}`)
    newest = seq
    if (seq % SWEEP_EVERY === 0) sweep(seq - reach)
    const last = newestOf.get(owner) ?? 0
    const previous = last > seq - reach ? last : 0
    newestOf.set(owner, seq)
    const { chunk, at } = slotOf(seq)
    chunk[at] = previous === 0 ? 0 : seq - previous
    return previous
  }

  function sweep(upTo: number): void {
    for (const [owner, lastSeq] of newestOf) if (lastSeq <= upTo) newestOf.delete(owner)
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
