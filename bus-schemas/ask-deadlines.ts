/**
 * What waits at most so long, as a link of the queue in which it does: a link that is taken out holds on to no other, so
 * that what one of them kept alive is garbage at once. Tables of them keep it until they are rebuilt themselves.
 */
export interface Patient<Item> {
  readonly timeoutMs: number
  /** When it falls due; 0 while it is in no queue. This and the two neighbours are the queue's. */
  dueAt: number
  earlier: Item | undefined
  later: Item | undefined
}

/** Tells what has waited for too long. */
export interface Deadlines<Item> {
  add(item: Item): void
  /** Of what is there no more, nothing happens. */
  remove(item: Item): void
  /** Forgets everything. */
  clear(): void
}

/** In the order in which they came and fall due. */
interface Queue<Item> {
  first: Item | undefined
  last: Item | undefined
  timer: NodeJS.Timeout | undefined
}

/**
 * Calls `expire` with every item that is not removed within its time, the oldest first and none too early. Items of one
 * patience fall due in the order they came, so each patience has one queue with one timer, set for its oldest: a timer an
 * item would cost more than the item. A program knows few patiences; a queue stays for each.
 */
export function createDeadlines<Item extends Patient<Item>>(
  expire: (item: Item) => void,
): Deadlines<Item> {
  const queues = new Map<number, Queue<Item>>()

  const queueOf = (timeoutMs: number): Queue<Item> => {
    const known = queues.get(timeoutMs)
    if (known !== undefined) return known
    const queue = { first: undefined, last: undefined, timer: undefined }
    queues.set(timeoutMs, queue)
    return queue
  }

  const expireDue = (queue: Queue<Item>): void => {
    queue.timer = undefined
    const now = performance.now()
    for (let item = queue.first; item !== undefined; item = queue.first) {
      if (item.dueAt > now) return setTimer(queue, item.dueAt - now)
      takeOut(queue, item)
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
      putLast(queue, item)
      item.dueAt = performance.now() + timeoutMs
      if (queue.timer === undefined) setTimer(queue, timeoutMs)
    },
    remove: (item) => {
      const queue = queues.get(item.timeoutMs)
      if (queue !== undefined && item.dueAt !== 0) takeOut(queue, item)
    },
    clear: () => {
      for (const { timer } of queues.values()) clearTimeout(timer)
      queues.clear()
    },
  }
}

function putLast<Item extends Patient<Item>>(queue: Queue<Item>, item: Item): void {
  item.earlier = queue.last
  if (queue.last === undefined) queue.first = item
  else queue.last.later = item
  queue.last = item
}

function takeOut<Item extends Patient<Item>>(queue: Queue<Item>, item: Item): void {
  const { earlier, later } = item
  if (earlier === undefined) queue.first = later
  else earlier.later = later
  if (later === undefined) queue.last = earlier
  else later.earlier = earlier
  item.earlier = undefined
  item.later = undefined
  item.dueAt = 0
}
