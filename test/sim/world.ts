import { createHash } from 'node:crypto'

/** Something that acts: a process of the venue in one of its lives, a client, or the network between them. */
export interface Actor {
  readonly name: string
  alive: boolean
  /** How far its wall clock is from the world's, milliseconds. */
  skewMs: number
  /** The uncaught exception that must end the process. */
  onFailure(error: unknown): void
}

/** Virtual time and the order in which everything happens. Nothing in a simulation happens outside of it. */
export interface World {
  /** Milliseconds since the simulation began. */
  elapsedMs(): number
  /** Unix milliseconds of the world's true clock. */
  nowMs(): number
  /** Who acts at this moment; undefined between two events. */
  acting(): Actor | undefined
  /** Does something later on behalf of an actor, unless that is dead by then; the returned function takes it back. */
  after(actor: Actor, delayMs: number, act: () => void): () => void
  /** Runs the events of the next milliseconds, one after the other, each until nothing of it is left to do. */
  run(forMs: number): Promise<void>
  /** Writes into the trace, of which the hash tells whether two runs were the same. */
  note(what: string): void
  /** Tells the observer something that is not part of the trace. */
  tell(what: string): void
  hash(): string
  /** Events run so far. */
  events(): number
}

interface Event {
  readonly atMs: number
  readonly no: number
  readonly actor: Actor
  act: (() => void) | undefined
}

/** 2026-01-01T00:00:00Z. */
export const EPOCH_MS = 1_767_225_600_000

// Captured before it can be replaced: the remaining work of an event has run when the real event loop turns.
const realSetImmediate = setImmediate

export interface WorldOptions {
  /** Sees every line of the trace. */
  readonly onNote?: ((line: string) => void) | undefined
}

export function createWorld({ onNote }: WorldOptions = {}): World {
  const queue: Event[] = []
  const trace = createHash('sha256')
  let now = 0
  let scheduled = 0
  let done = 0
  let acting: Actor | undefined

  const note = (what: string): void => {
    const line = `${now} ${what}`
    trace.update(`${line}\n`)
    onNote?.(line)
  }

  const runOne = async (event: Event): Promise<void> => {
    const { act, actor } = event
    now = Math.max(now, event.atMs)
    if (act === undefined || !actor.alive) return
    done += 1
    trace.update(`${now}${actor.name}\n`)
    acting = actor
    try {
      act()
    } catch (error) {
      actor.onFailure(error)
    }
    await new Promise<void>((resolve) => realSetImmediate(resolve))
    acting = undefined
  }

  return {
    elapsedMs: () => now,
    nowMs: () => EPOCH_MS + now,
    acting: () => acting,
    after(actor, delayMs, act) {
      const event: Event = { atMs: now + Math.max(0, delayMs), no: scheduled++, actor, act }
      push(queue, event)
      return () => {
        event.act = undefined
      }
    },
    async run(forMs) {
      const until = now + forMs
      for (let next = queue[0]; next !== undefined && next.atMs <= until; next = queue[0]) {
        pop(queue)
        await runOne(next)
      }
      now = until
    },
    note,
    tell: (what) => onNote?.(`${now}   ${what}`),
    hash: () => trace.copy().digest('hex').slice(0, 16),
    events: () => done,
  }
}

const isBefore = (a: Event, b: Event): boolean =>
  a.atMs === b.atMs ? a.no < b.no : a.atMs < b.atMs

/** A binary heap, earliest event first. */
function push(heap: Event[], event: Event): void {
  let at = heap.length
  heap.push(event)
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above] as Event
    if (!isBefore(event, parent)) break
    heap[at] = parent
    at = above
  }
  heap[at] = event
}

function pop(heap: Event[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    let below = 2 * at + 1
    if (below >= heap.length) break
    if (below + 1 < heap.length && isBefore(heap[below + 1] as Event, heap[below] as Event)) {
      below += 1
    }
    if (!isBefore(heap[below] as Event, last)) break
    heap[at] = heap[below] as Event
    at = below
  }
  heap[at] = last
}
