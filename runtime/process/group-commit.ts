import { setImmediate as nextTurn } from 'node:timers/promises'
/** The item was not accepted: the queue is full or the committer is stopping. Safe to retry. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

export interface GroupCommitOptions<T> {
  /** Most items of one group. */
  readonly maxItems: number
  /** Most items queued after the group in flight; beyond it submit rejects with QueueFull. */
  readonly maxQueue: number
  /** Most weight of one group, except for a single heavier item; needs `weigh`. */
  readonly maxWeight?: number
  readonly weigh?: (item: T) => number
  /** Makes a group durable. Groups are flushed one at a time, in the order of submission. */
  readonly flush: (items: T[]) => Promise<void>
}

export interface GroupCommit<T> {
  /** Resolves when the item's group is flushed; rejects with what its flush threw, or with QueueFull. */
  submit(item: T): Promise<void>
  /** Items queued after the group in flight. */
  waiting(): number
  /** Accepts nothing new; resolves when every submitted item is settled. */
  stop(): Promise<void>
}

interface CommitWaiter<T> {
  readonly item: T
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * One durable write for many items. An item that arrives while nothing is in flight is flushed at once; items that arrive
 * during a flush share the next group. A failed flush rejects its own group only.
 */
export function createGroupCommit<T>(options: GroupCommitOptions<T>): GroupCommit<T> {
  const queue: CommitWaiter<T>[] = []
  let running: Promise<void> | undefined
  let stopping = false

  const takeGroup = (): CommitWaiter<T>[] => {
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
    // Submissions of the same turn of the event loop join the first group.
    await nextTurn()
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
