import type { Address } from '../../core/action.js'
import type { Channel } from '../../interface/socket.js'
import { MAX_TURN_CHANGES, REPLAY_PAGE_BYTES } from './limits.js'
import { createOwnerLinks } from './owner-links.js'
import { textFrame } from './server-frames.js'
import type { Subscriber } from './subscribers.js'
import type { Page, TopicStream } from './topic-stream.js'

/** The numbers of an event's frame. */
export interface Numbering {
  /** From 1 without gaps. */
  readonly seq: number
  /** Of the event before it of the same owner, 0 if none is held. */
  readonly prevSeq: number
}

export interface OwnStreamParts<Event extends { readonly owner: Address }> {
  /** Events that stay in memory; older ones cannot be resumed. */
  readonly capacity: number
  /** The frame of an event, a JSON object. */
  readonly frameOf: (event: Event, numbering: Numbering) => object
}

/**
 * The events of a private channel that numbers them itself, in one order for all owners; each owner sees its own. The
 * numbers follow from the events alone, so that every worker gives the same, also after a restart.
 */
export interface OwnStream<Event> {
  /** Appends an event; it is delivered at the end of the turn of the event loop, joined with the others of it. */
  push(event: Event): void
  /** Newest first, as far as they are held. */
  newest(): Generator<Event>
  topic(topic: OwnTopic): TopicStream
}

export interface OwnTopic {
  readonly channel: Channel
  readonly market: string
  readonly owner: Address
  /** The state at the head as JSON. Throws SnapshotFailed. */
  readonly state: () => Buffer
}

interface Held<Event> extends Numbering {
  readonly event: Event
  bytes: Buffer | undefined
}

export function createOwnStream<Event extends { readonly owner: Address }>({
  capacity,
  frameOf,
}: OwnStreamParts<Event>): OwnStream<Event> {
  const slots: Held<Event>[] = []
  const links = createOwnerLinks(capacity)
  const subscribers = createOwnSubscribers()
  let head = 0

  const bytesOf = (held: Held<Event>): Buffer =>
    (held.bytes ??= textFrame(JSON.stringify(frameOf(held.event, held))))

  function recentAfter(owner: Address, afterSeq: number): Page | undefined {
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
      ...{ key: `${channel} ${market}`, channel, market },
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
