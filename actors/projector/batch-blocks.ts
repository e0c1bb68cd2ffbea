import type { StreamedBlock } from '../../data/apply-block.js'

/** Most blocks, and about the most changes, that one transaction applies and that wait for the next. */
export const MAX_BATCH_BLOCKS = 500
export const MAX_BATCH_CHANGES = 5_000

export interface BlockBatcher {
  /**
   * Takes the next block. What arrives within one turn of the event loop is applied together right after it; when as
   * much waits as a batch may hold, the promise resolves only once that is applied, which holds the stream back.
   */
  add(block: StreamedBlock): void | Promise<void>
  /** Applies what waits; nothing is applied afterwards. */
  stop(): void
}

/** Groups blocks into batches: one at once when idle, many under load. A batch that fails is the last one. */
export function createBlockBatcher(options: {
  readonly apply: (batch: readonly StreamedBlock[]) => void
  readonly onError: (error: unknown) => void
}): BlockBatcher {
  let waiting: StreamedBlock[] = []
  let changes = 0
  let scheduled: NodeJS.Immediate | undefined
  let over = false
  const applied: (() => void)[] = []

  const flush = () => {
    scheduled = undefined
    const batch = waiting
    waiting = []
    changes = 0
    try {
      if (!over && batch.length > 0) options.apply(batch)
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
      scheduled ??= setImmediate(flush)
      if (waiting.length < MAX_BATCH_BLOCKS && changes < MAX_BATCH_CHANGES) return
      return new Promise((resolve) => applied.push(resolve))
    },
    stop() {
      clearImmediate(scheduled)
      flush()
      over = true
    },
  }
}
