export interface BoundedReadsOptions {
  /** Reads that run at the same time. */
  readonly running: number
  /** Reads that wait for one of them to end; beyond it a read is not made. */
  readonly waiting: number
}

/** Makes a read when there is room for it; undefined when too many wait. */
export type BoundedReads = <Value>(
  read: () => Promise<Value | undefined>,
) => Promise<Value | undefined>

/** In the order in which they come. */
export function createBoundedReads({ running, waiting }: BoundedReadsOptions): BoundedReads {
  const queue: (() => void)[] = []
  let active = 0
  return async (read) => {
    if (active >= running) {
      if (queue.length >= waiting) return undefined
      await new Promise<void>((resolve) => queue.push(resolve))
    } else active += 1
    try {
      return await read()
    } finally {
      const next = queue.shift()
      // The next one takes over this one's place.
      if (next === undefined) active -= 1
      else next()
    }
  }
}
