/** What waits at most so long, in ms. */
export interface Patient {
  readonly timeoutMs: number
}

/** Tells what has waited for too long. */
export interface Deadlines<Item> {
  add(item: Item): void
  /** Of what is there no more, nothing happens. */
  remove(item: Item): void
  /** Forgets everything. */
  clear(): void
}

interface Queue<Item> {
  /** When each falls due, in the order in which they came and fall due. */
  readonly dueAt: Map<Item, number>
  timer: NodeJS.Timeout | undefined
}

/**
 * Calls `expire` with every item that is not removed within its time, the oldest first and none too early. Items of one
 * patience fall due in the order they came, so each patience has one queue with one timer, set for its oldest: a timer an
 * item would cost more than the item. A program knows few patiences; a queue stays for each.
 */
export function createDeadlines<Item extends Patient>(
  expire: (item: Item) => void,
): Deadlines<Item> {
  const queues = new Map<number, Queue<Item>>()

  const queueOf = (timeoutMs: number): Queue<Item> => {
    const known = queues.get(timeoutMs)
    if (known !== undefined) return known
    const queue: Queue<Item> = { dueAt: new Map(), timer: undefined }
    queues.set(timeoutMs, queue)
    return queue
  }

  const expireDue = (queue: Queue<Item>): void => {
    queue.timer = undefined
    const now = performance.now()
    for (const [item, dueAt] of queue.dueAt) {
      if (dueAt > now) return setTimer(queue, dueAt - now)
      queue.dueAt.delete(item)
      expire(item)
    }
  }

  const setTimer = (queue: Queue<Item>, inMs: number): void => {
    // A timer may be called up to a millisecond before its time.
    queue.timer ??= setTimeout(expireDue, Math.ceil(inMs) + 1, queue)
  }

  return {
    add: (item) => {
      const { timeoutMs } = item
      const queue = queueOf(timeoutMs)
      queue.dueAt.set(item, performance.now() + timeoutMs)
      if (queue.timer === undefined) setTimer(queue, timeoutMs)
    },
    remove: (item) => {
      queues.get(item.timeoutMs)?.dueAt.delete(item)
    },
    clear: () => {
      for (const { timer } of queues.values()) clearTimeout(timer)
      queues.clear()
    },
  }
}
