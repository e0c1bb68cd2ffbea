import type { Hex } from '../../core/action.js'
import { type ChainHead, MAX_LOG_BLOCKS } from '../../chain/read-blocks.js'

/** How long a head below the known one may be that of a node that lags, milliseconds. */
export const LAGGING_HEAD_MS = 5_000
/** Known blocks that a lagging head is compared with. */
const RECENT_BLOCKS = 128

/**
 * What a head means to whoever knows the chain up to another. `ahead`: it continues what is known, whose next block is
 * `first`. `elsewhere`: what is known may be of another branch, or too far back. `wait`: not to be relied on.
 */
export type Advance =
  | { readonly kind: 'same' }
  | { readonly kind: 'ahead'; readonly first: bigint }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'wait' }

/** Where a follower of the chain stands. */
export interface ChainPosition {
  /** What to make of a head that the node tells now. Rejects with what `hashAt` throws. */
  judge(head: ChainHead): Promise<Advance>
  /** All that the head brings has been taken in. */
  reach(head: ChainHead): void
}

export interface ChainPositionOptions {
  /** The hash of the canonical block with this number. */
  readonly hashAt: (number: bigint) => Promise<Hex>
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number
}

/** A follower that knows nothing: its first head is elsewhere. */
export function createChainPosition({ hashAt, elapsedMs }: ChainPositionOptions): ChainPosition {
  const recent = new Map<bigint, Hex>()
  let known: ChainHead | undefined
  let behindSinceMs: number | undefined

  /** A node of a pool may lag; one that lags for long, or tells another block, is the chain itself gone back. */
  const judgeLower = (head: ChainHead): Advance => {
    behindSinceMs ??= elapsedMs()
    const isKnown = recent.get(head.number) === head.hash
    const isPatient = elapsedMs() - behindSinceMs < LAGGING_HEAD_MS
    if (isPatient && (isKnown || !recent.has(head.number))) return { kind: 'wait' }
    return { kind: 'elsewhere' }
  }

  return {
    async judge(head) {
      if (known === undefined) return { kind: 'elsewhere' }
      if (head.number < known.number) return judgeLower(head)
      behindSinceMs = undefined
      if (head.number === known.number) {
        return { kind: head.hash === known.hash ? 'same' : 'elsewhere' }
      }
      const first = known.number + 1n
      const before = head.number === first ? head.parentHash : await hashAt(known.number)
      const isNear = head.number - known.number <= MAX_LOG_BLOCKS
      return before === known.hash && isNear ? { kind: 'ahead', first } : { kind: 'elsewhere' }
    },
    reach(head) {
      behindSinceMs = undefined
      if (known !== undefined && head.number <= known.number && head.hash !== known.hash) {
        recent.clear()
      }
      known = head
      recent.set(head.number - 1n, head.parentHash)
      recent.set(head.number, head.hash)
      for (const oldest of recent.keys()) {
        if (recent.size <= RECENT_BLOCKS) return
        recent.delete(oldest)
      }
    },
  }
}
