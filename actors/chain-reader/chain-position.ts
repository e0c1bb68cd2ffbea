import type { ChainHead } from '../../chain/reads/blocks.js'
import { MAX_LOG_BLOCKS } from '../../chain/reads/logs.js'
import type { Hex } from '../../core/action.js'

/** How long a head below the known one counts as that of a lagging node, in milliseconds. */
export const LAGGING_HEAD_MS = 5_000
/** Recent blocks against which a lower head is checked. */
const RECENT_BLOCKS = 128

/**
 * Relation of a new head to the last processed block. `ahead`: it continues the chain, with `first` as the next block.
 * `elsewhere`: the chain reorganised, or the last processed block is too far back. `wait`: the node may lag.
 */
export type Advance =
  | { readonly kind: 'same' }
  | { readonly kind: 'ahead'; readonly first: bigint }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'wait' }

/** The position of a follower of the chain. */
export interface ChainPosition {
  /** Compares a new head with the position. Rejects with what `hashAt` throws. */
  compare(head: ChainHead): Promise<Advance>
  /** The head has been processed. */
  advance(head: ChainHead): void
}

export interface ChainPositionOptions {
  /** The hash of the canonical block with this number. */
  readonly hashAt: (number: bigint) => Promise<Hex>
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
}

/** Without a processed block; the first head is `elsewhere`. */
export function createChainPosition({ hashAt, elapsedMs }: ChainPositionOptions): ChainPosition {
  const recent = new Map<bigint, Hex>()
  let known: ChainHead | undefined
  let behindSinceMs: number | undefined

  /** One node of a pool may lag. A long lag, or another block at that height, is a reorganisation. */
  const compareLower = (head: ChainHead): Advance => {
    behindSinceMs ??= elapsedMs()
    const isKnown = recent.get(head.number) === head.hash
    const mayLag = elapsedMs() - behindSinceMs < LAGGING_HEAD_MS
    if (mayLag && (isKnown || !recent.has(head.number))) return { kind: 'wait' }
    return { kind: 'elsewhere' }
  }

  return {
    async compare(head) {
      if (known === undefined) return { kind: 'elsewhere' }
      if (head.number < known.number) return compareLower(head)
      behindSinceMs = undefined
      if (head.number === known.number) {
        return { kind: head.hash === known.hash ? 'same' : 'elsewhere' }
      }
      const first = known.number + 1n
      const before = head.number === first ? head.parentHash : await hashAt(known.number)
      const isNear = head.number - known.number <= MAX_LOG_BLOCKS
      return before === known.hash && isNear ? { kind: 'ahead', first } : { kind: 'elsewhere' }
    },
    advance(head) {
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
