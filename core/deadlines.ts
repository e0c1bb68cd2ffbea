/**
 * A queue of moments, earliest first; equal moments by rank, so that the order in which they come out follows from
 * their content alone. An entry is a reminder to look at an order, not a promise that something is due: whoever takes
 * it out asks the order itself.
 */
export interface Deadline {
  readonly atMs: number
  readonly rank: number
  readonly orderId: string
}

/** A binary heap of deadlines. */
export type Deadlines = Deadline[]

const isBefore = (a: Deadline, b: Deadline): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.rank < b.rank)

export function addDeadline(heap: Deadlines, deadline: Deadline): void {
  let at = heap.length
  heap.push(deadline)
  while (at > 0) {
    const parent = (at - 1) >>> 1
    const above = heap[parent] as Deadline
    if (!isBefore(deadline, above)) break
    heap[at] = above
    at = parent
  }
  heap[at] = deadline
}

/** Removes and returns the earliest deadline that is not later than `nowMs`. */
export function takeDueDeadline(heap: Deadlines, nowMs: number): Deadline | undefined {
  const first = heap[0]
  if (first === undefined || first.atMs > nowMs) return undefined
  const last = heap.pop() as Deadline
  if (heap.length > 0) siftDown(heap, last)
  return first
}

function siftDown(heap: Deadlines, moved: Deadline): void {
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    const right = heap[child + 1]
    if (right !== undefined && isBefore(right, heap[child] as Deadline)) child++
    const below = heap[child] as Deadline
    if (!isBefore(below, moved)) break
    heap[at] = below
    at = child
  }
  heap[at] = moved
}
