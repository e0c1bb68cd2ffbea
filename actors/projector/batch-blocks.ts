import type { StreamedBlock } from '../../data/apply-block.js'

/** Most blocks, and about the most changes, that one transaction applies and that wait for the next. */
export const MAX_BATCH_BLOCKS = 500
export const MAX_BATCH_CHANGES = 5_000
/**
 * What arrives so soon after a transaction waits for the next, milliseconds: a block is cheaper with others, because its
 * rows share pages with theirs. A block after a longer pause does not wait.
 */
export const REST_MS = 20

export interface BlockBatcher {
  /**
   * Takes the next block. What arrives within one turn of the event loop is applied together right after it, or when
   * REST_MS are over since the last batch; when as much waits as a batch may hold, that is applied at once, and the
   * promise resolves only then, which holds the stream back.
   */
  add(block: StreamedBlock): void | Promise<void>
  /** Applies what waits; nothing is applied afterwards. */
  stop(): void
}

/** Groups blocks into batches: one at once when idle, many under load. A batch that fails is the last one. */
export function createBlockBatcher(options: {
  readonly apply: (batch: readonly StreamedBlock[]) => void
  readonly onError: (error: unknown) => void
  /** REST_MS unless told. */
  readonly restMs?: number
}): BlockBatcher {
  const { restMs = REST_MS } = options
  let waiting: StreamedBlock[] = []
  let changes = 0
  let scheduled: NodeJS.Immediate | undefined
  let resting: NodeJS.Timeout | undefined
  let over = false
  const applied: (() => void)[] = []

  const rest = () => {
    clearTimeout(resting)
    resting = setTimeout(() => {
      resting = undefined
      if (waiting.length > 0) flush()
    }, restMs)
  }
  const flush = () => {
    scheduled = undefined
    const batch = waiting
    waiting = []
    changes = 0
    try {
      if (!over && batch.length > 0) options.apply(batch)
      rest()
    } catch (error) {
      over = true
      options.onError(error)
    }
    for (const resolve of applied.splice(0)) resolve()
  }
  return {
    add(block) {
      waiting.push(block)
      changes += block.block.changes.length
      const isFull = waiting.length >= MAX_BATCH_BLOCKS || changes >= MAX_BATCH_CHANGES
      if (isFull || resting === undefined) scheduled ??= setImmediate(flush)
      if (!isFull) return
      return new Promise((resolve) => applied.push(resolve))
    },
    stop() {
      clearImmediate(scheduled)
      flush()
      clearTimeout(resting)
      over = true
    },
  }
}
