/** Nothing was taken in: the queue is at its bound, or the committer is stopping. Safe to try again. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

export interface GroupCommitOptions<T> {
  /** Most items of one group. */
  readonly maxItems: number
  /** Most items waiting behind the group under way; beyond it submit throws QueueFull. */
  readonly maxQueue: number
  /** Most weight of one group, unless a single item weighs more; needs `weigh`. */
  readonly maxWeight?: number
  readonly weigh?: (item: T) => number
  /** Makes a group durable. Groups are flushed one at a time, in the order of submission. */
  readonly flush: (items: T[]) => Promise<void>
}

export interface GroupCommit<T> {
  /** Resolves when the item's group is flushed; rejects with what its flush threw, or with QueueFull. */
  submit(item: T): Promise<void>
  /** Items waiting behind the group under way. */
  waiting(): number
  /** Takes nothing new and resolves when everything submitted so far is settled. */
  stop(): Promise<void>
}

interface Waiting<T> {
  readonly item: T
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * One durable write for many items: an item that arrives when nothing is under way goes at once, what arrives
 * meanwhile shares the next group. A failed flush fails its own group only.
 */
export function createGroupCommit<T>(options: GroupCommitOptions<T>): GroupCommit<T> {
  const queue: Waiting<T>[] = []
  let running: Promise<void> | undefined
  let stopping = false

  const takeGroup = (): Waiting<T>[] => {
    const { weigh, maxWeight = Infinity } = options
    let size = 0
    let weight = 0
    for (const { item } of queue) {
      weight += weigh?.(item) ?? 0
      if (size === options.maxItems || (size > 0 && weight > maxWeight)) break
      size += 1
    }
    return queue.splice(0, size)
  }

  const run = async (): Promise<void> => {
    // Submissions of the same turn of the event loop still join the first group.
    await Promise.resolve()
    while (queue.length > 0) {
      const group = takeGroup()
      try {
        await options.flush(group.map(({ item }) => item))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    running = undefined
  }

  return {
    submit: (item) =>
      new Promise((resolve, reject) => {
        if (stopping || queue.length >= options.maxQueue) {
          reject(new QueueFull(stopping ? 'stopping' : `${queue.length} items are waiting`))
          return
        }
        queue.push({ item, resolve, reject })
        running ??= run()
      }),
    waiting: () => queue.length,
    stop: async () => {
      stopping = true
      await running
    },
  }
}
