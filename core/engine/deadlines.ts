/**
 * A time at which an order may be due. Entries can be stale: the caller checks the order itself.
 */
export interface Deadline {
  readonly atMs: number
  readonly rank: number
  readonly orderId: string
}

/**
 * A queue of deadlines, earliest first, equal times by rank: the order depends on content alone. It is a binary heap in
 * three arrays, because entries as objects would be copied by the garbage collector.
 */
export interface Deadlines {
  readonly atMs: number[]
  readonly rank: number[]
  readonly orderId: string[]
}

export const noDeadlines = (): Deadlines => ({ atMs: [], rank: [], orderId: [] })

export function addDeadline(heap: Deadlines, deadline: Deadline): void {
  let at = heap.atMs.length
  heap.atMs.push(deadline.atMs)
  heap.rank.push(deadline.rank)
  heap.orderId.push(deadline.orderId)
  while (at > 0) {
    const parent = (at - 1) >>> 1
    if (!isBefore(heap, at, parent)) return
    swap(heap, at, parent)
    at = parent
  }
}

/** The earliest time; Infinity when there is none. */
export function earliestMs({ atMs }: Deadlines): number {
  return atMs.length === 0 ? Infinity : (atMs[0] as number)
}

/** Removes and returns the earliest deadline that is not later than `nowMs`. */
export function takeDueDeadline(heap: Deadlines, nowMs: number): Deadline | undefined {
  if (earliestMs(heap) > nowMs || heap.atMs.length === 0) return undefined
  swap(heap, 0, heap.atMs.length - 1)
  const taken = {
    atMs: heap.atMs.pop() as number,
    rank: heap.rank.pop() as number,
    orderId: heap.orderId.pop() as string,
  }
  siftDown(heap)
  return taken
}

function siftDown(heap: Deadlines): void {
  const { length } = heap.atMs
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= length) return
    if (child + 1 < length && isBefore(heap, child + 1, child)) child += 1
    if (!isBefore(heap, child, at)) return
    swap(heap, child, at)
    at = child
  }
}

/** All entries as they are now, in the order of the heap; each is made when it is read. */
export function listDeadlines(heap: Deadlines): Iterable<Deadline> {
  const atMs = heap.atMs.slice()
  const rank = heap.rank.slice()
  const orderId = heap.orderId.slice()
  return {
    *[Symbol.iterator]() {
      for (const [at, id] of orderId.entries()) {
        yield { atMs: atMs[at] as number, rank: rank[at] as number, orderId: id }
      }
    },
  }
}

/** The inverse of listDeadlines. */
export function deadlinesOf(list: Iterable<Deadline>): Deadlines {
  const heap = noDeadlines()
  for (const { atMs, rank, orderId } of list) {
    heap.atMs.push(atMs)
    heap.rank.push(rank)
    heap.orderId.push(orderId)
  }
  return heap
}

function isBefore({ atMs, rank }: Deadlines, a: number, b: number): boolean {
  const atA = atMs[a] as number
  const atB = atMs[b] as number
  return atA < atB || (atA === atB && (rank[a] as number) < (rank[b] as number))
}

function swap(heap: Deadlines, a: number, b: number): void {
  swapIn(heap.atMs, a, b)
  swapIn(heap.rank, a, b)
  swapIn(heap.orderId, a, b)
}

function swapIn<T>(list: T[], a: number, b: number): void {
  const kept = list[a] as T
  list[a] = list[b] as T
  list[b] = kept
}
