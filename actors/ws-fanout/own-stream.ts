import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { isNextSeq } from '../../core/model/change.js'
import type { Channel } from '../../interface/socket.js'
import { MAX_TURN_CHANGES, REPLAY_PAGE_BYTES } from './limits.js'
import { textFrame } from './server-frames.js'
import type { Subscriber } from './subscribers.js'
import type { FramePage, TopicStream } from './topic-stream.js'

/** The owner's previous change of each change: the `prev_seq` of `orders` frames. */
interface OwnerLinks {
  /** Adds the next change and returns its `previousOf`. */
  note(seq: number, owner: Address): number
  /**
   * Sequence of the same owner's change before this one; 0 when none is among the `reach` changes up to this one,
   * undefined when it is no longer known.
   */
  previousOf(seq: number): number | undefined
}

const CHUNK = 65_536
/** Changes between two sweeps: the most owners beyond reach that are held. */
const SWEEP_EVERY = 65_536

/**
 * Holds the links of the newest `reach` changes, each as a distance in four bytes. They depend on the changes alone, so
 * that every worker gives the same answers, also after a restart.
 */
export function createOwnerLinks(reach: number): OwnerLinks {
  const chunkLength = Math.min(CHUNK, reach)
  const chunks: Uint32Array[] = []
  /** Newest change of each owner; one beyond reach is ignored and dropped by the next sweep. */
  const newestOf = new Map<Address, number>()
  let newest: number | undefined

  function note(seq: number, owner: Address): number {
    assert(newest === undefined || isNextSeq(seq, newest), `link of change ${seq} after ${newest}`)
    newest = seq
    if (seq % SWEEP_EVERY === 0) sweep(seq - reach)
    const last = newestOf.get(owner) ?? 0
    const previous = last > seq - reach ? last : 0
    newestOf.set(owner, seq)
    const { chunk, at } = slotOf(seq)
    chunk[at] = previous === 0 ? 0 : seq - previous
    return previous
  }

  function sweep(upTo: number): void {
    for (const [owner, lastSeq] of newestOf) if (lastSeq <= upTo) newestOf.delete(owner)
  }

  function previousOf(seq: number): number | undefined {
    if (newest === undefined || seq > newest || seq <= newest - reach) return undefined
    const { chunk, at } = slotOf(seq)
    const distance = chunk[at] ?? 0
    return distance === 0 ? 0 : seq - distance
  }

  function slotOf(seq: number): { readonly chunk: Uint32Array; readonly at: number } {
    const slot = seq % reach
    const chunk = (chunks[Math.floor(slot / chunkLength)] ??= new Uint32Array(chunkLength))
    return { chunk, at: slot % chunkLength }
  }

  return { note, previousOf }
}

/** The numbers of an event's frame. */
interface EventNumbers {
  /** From 1 without gaps. */
  readonly seq: number
  /** Of the event before it of the same owner, 0 if none is held. */
  readonly prevSeq: number
}

interface OwnStreamParts<Event extends { readonly owner: Address }> {
  /** Events that stay in memory; older ones cannot be resumed. */
  readonly capacity: number
  /** The frame of an event, a JSON object. */
  readonly frameOf: (event: Event, numbering: EventNumbers) => object
}

/**
 * The events of a private channel that numbers them itself, in one order for all owners; each owner sees its own. The
 * numbers follow from the events alone, so that every worker gives the same, also after a restart.
 */
interface OwnStream<Event> {
  /** Appends an event; it is delivered at the end of the turn of the event loop, joined with the others of it. */
  push(event: Event): void
  /** Newest first, as far as they are held. */
  newest(): Generator<Event>
  topic(topic: OwnTopic): TopicStream
}

interface OwnTopic {
  readonly channel: Channel
  readonly market: string
  readonly owner: Address
  /** The state at the head as JSON. Throws SnapshotFailed. */
  readonly state: () => Buffer
}

interface HeldEvent<Event> extends EventNumbers {
  readonly event: Event
  bytes: Buffer | undefined
}

export function createOwnStream<Event extends { readonly owner: Address }>({
  capacity,
  frameOf,
}: OwnStreamParts<Event>): OwnStream<Event> {
  const slots: HeldEvent<Event>[] = []
  const links = createOwnerLinks(capacity)
  const subscribers = createOwnSubscribers()
  let head = 0

  const bytesOf = (held: HeldEvent<Event>): Buffer =>
    (held.bytes ??= textFrame(JSON.stringify(frameOf(held.event, held))))

  function recentAfter(owner: Address, afterSeq: number): FramePage | undefined {
    if (afterSeq < head - capacity) return undefined
    const frames: Buffer[] = []
    let upTo = afterSeq
    for (let bytes = 0; upTo < head && bytes < REPLAY_PAGE_BYTES; upTo++) {
      const held = slots[(upTo + 1) % capacity]
      if (held?.event.owner !== owner) continue
      const frame = bytesOf(held)
      frames.push(frame)
      bytes += frame.length
    }
    return { frames, upTo }
  }

  return {
    push(event) {
      head += 1
      const { owner } = event
      const held = { seq: head, prevSeq: links.note(head, owner), event, bytes: undefined }
      slots[head % capacity] = held
      if (subscribers.has(owner)) subscribers.publish(owner, bytesOf(held))
    },
    *newest() {
      for (let seq = head; seq > head - capacity; seq--) {
        const held = slots[seq % capacity]
        if (held === undefined) return
        yield held.event
      }
    },
    topic: ({ channel, market, owner, state }) => ({
      key: `${channel} ${market}`,
      channel,
      market,
      headSeq: () => head,
      snapshot: () => ({ seq: head, data: [state()] }),
      recentAfter: (afterSeq) => recentAfter(owner, afterSeq),
      subscribe: (subscriber) => subscribers.add(owner, subscriber),
      unsubscribe: (subscriber) => subscribers.remove(owner, subscriber),
    }),
  }
}

/** Subscribers by owner; all frames of a turn of the event loop share one write. */
function createOwnSubscribers() {
  const groups = new Map<Address, Set<Subscriber>>()
  let queued = new Map<Address, Buffer[]>()
  let count = 0

  function flush(): void {
    const due = queued
    queued = new Map()
    count = 0
    for (const [owner, frames] of due) {
      const joined = Buffer.concat(frames)
      for (const subscriber of groups.get(owner) ?? []) subscriber.deliver(joined)
    }
  }

  return {
    has: (owner: Address): boolean => groups.has(owner),
    publish(owner: Address, frame: Buffer): void {
      if (count === 0) setImmediate(flush)
      count += 1
      const frames = queued.get(owner)
      if (frames === undefined) queued.set(owner, [frame])
      else frames.push(frame)
      if (count >= MAX_TURN_CHANGES) flush()
    },
    // Flush before a subscription changes: queued frames belong to the subscribers of that moment.
    add(owner: Address, subscriber: Subscriber): void {
      flush()
      groups.set(owner, (groups.get(owner) ?? new Set()).add(subscriber))
    },
    remove(owner: Address, subscriber: Subscriber): void {
      flush()
      const group = groups.get(owner)
      group?.delete(subscriber)
      if (group?.size === 0) groups.delete(owner)
    },
  }
}
