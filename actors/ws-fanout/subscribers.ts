import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { Channel } from '../../interface/socket.js'
import { MAX_TURN_CHANGES } from './limits.js'
import { frameOf, type ChangeFrames, type Topic } from './server-frames.js'

/** Receives complete frames as bytes. Must not throw and must not block. */
export interface Subscriber {
  deliver(frames: Buffer): void
}

/** The subscribers of one market. */
export interface Subscribers {
  /** A subscriber receives the orders of at most one owner. */
  add(topic: Topic, subscriber: Subscriber): void
  remove(topic: Topic, subscriber: Subscriber): void
  /** Queues a change's frames; they are delivered at the end of the event loop's turn, joined with the others of it. */
  publish(frames: ChangeFrames): void
}

interface Index {
  /** At most one topic per channel, in the order in which the frames of a change are sent. */
  readonly topicsOf: Map<Subscriber, readonly Topic[]>
  /** Subscribers of `book`, of `trades`, and of both: each set gets the same bytes. */
  readonly byPublicTopics: Map<string, Set<Subscriber>>
  readonly byOwner: Map<Address, Set<Subscriber>>
}

const PUBLIC_TOPICS: Readonly<Record<string, readonly Topic[]>> = {
  book: [{ channel: 'book' }],
  trades: [{ channel: 'trades' }],
  'book,trades': [{ channel: 'book' }, { channel: 'trades' }],
}
const ORDER: readonly Channel[] = ['book', 'trades', 'orders']

/**
 * The subscribers of one market, grouped by their topics. A subscriber gets the frames of several channels in order of
 * sequence. All frames of a turn share one write, because most of the cost of a fan-out is a write per frame and socket.
 */
export function createSubscribers(): Subscribers {
  const index: Index = { topicsOf: new Map(), byPublicTopics: new Map(), byOwner: new Map() }
  const topicsOf = (subscriber: Subscriber): readonly Topic[] =>
    index.topicsOf.get(subscriber) ?? []
  let queued: ChangeFrames[] = []

  function flush(): void {
    const changes = queued
    queued = []
    if (changes.length > 0) deliver(index, changes)
  }

  return {
    // Flush before a subscription changes: queued frames belong to the subscribers of that moment.
    add(topic, subscriber) {
      flush()
      const topics = topicsOf(subscriber)
      const same = topics.find(({ channel }) => channel === topic.channel)
      const isOneOwner = same === undefined || ownerOf([same]) === ownerOf([topic])
      assert(isOneOwner, 'a subscriber of the orders of two owners')
      setTopics(index, subscriber, [...topics.filter((one) => one !== same), topic])
    },
    remove({ channel }, subscriber) {
      flush()
      const topics = topicsOf(subscriber)
      setTopics(
        index,
        subscriber,
        topics.filter((one) => one.channel !== channel),
      )
    },
    publish(frames) {
      if (index.topicsOf.size === 0) return
      if (queued.length === 0) setImmediate(flush)
      queued.push(frames)
      if (queued.length >= MAX_TURN_CHANGES) flush()
    },
  }
}

function setTopics(index: Index, subscriber: Subscriber, topics: readonly Topic[]): void {
  const { topicsOf, byPublicTopics, byOwner } = index
  const before = topicsOf.get(subscriber) ?? []
  leave(byPublicTopics, publicKeyOf(before), subscriber)
  leave(byOwner, ownerOf(before), subscriber)
  const sorted = topics.toSorted((a, b) => ORDER.indexOf(a.channel) - ORDER.indexOf(b.channel))
  join(byPublicTopics, publicKeyOf(sorted), subscriber)
  join(byOwner, ownerOf(sorted), subscriber)
  if (sorted.length === 0) topicsOf.delete(subscriber)
  else topicsOf.set(subscriber, sorted)
}

/** The key of PUBLIC_TOPICS; undefined without a public topic. */
const publicKeyOf = (topics: readonly Topic[]): string | undefined => {
  const channels = topics.map(({ channel }) => channel).filter((channel) => channel !== 'orders')
  return channels.length === 0 ? undefined : channels.join()
}

const ownerOf = (topics: readonly Topic[]): Address | undefined => {
  for (const topic of topics) if (topic.channel === 'orders') return topic.owner
  return undefined
}

type SubscriberGroups<Key> = Map<Key, Set<Subscriber>>

function join<Key>(
  groups: SubscriberGroups<Key>,
  key: Key | undefined,
  subscriber: Subscriber,
): void {
  if (key !== undefined) groups.set(key, (groups.get(key) ?? new Set()).add(subscriber))
}

function leave<Key>(
  groups: SubscriberGroups<Key>,
  key: Key | undefined,
  subscriber: Subscriber,
): void {
  if (key === undefined) return
  const group = groups.get(key)
  group?.delete(subscriber)
  if (group?.size === 0) groups.delete(key)
}

/** Few subscribers get frames of their own orders; all others of the same public topics get the same bytes. */
function deliver(index: Index, changes: readonly ChangeFrames[]): void {
  const { topicsOf, byPublicTopics, byOwner } = index
  const concerned = new Set<Subscriber>()
  for (const { owner } of changes) for (const one of byOwner.get(owner) ?? []) concerned.add(one)
  for (const subscriber of concerned) {
    const frames = joinedFrames(changes, topicsOf.get(subscriber) ?? [])
    if (frames !== undefined) subscriber.deliver(frames)
  }
  for (const [key, group] of byPublicTopics) {
    const frames = joinedFrames(changes, PUBLIC_TOPICS[key] ?? [])
    if (frames === undefined) continue
    for (const subscriber of group) if (!concerned.has(subscriber)) subscriber.deliver(frames)
  }
}

/** The frames of the topics in order of sequence, as one buffer; undefined when there are none. */
function joinedFrames(
  changes: readonly ChangeFrames[],
  topics: readonly Topic[],
): Buffer | undefined {
  const frames: Buffer[] = []
  for (const change of changes) {
    for (const topic of topics) {
      const frame = frameOf(topic, change)
      if (frame !== undefined) frames.push(frame)
    }
  }
  return frames.length > 1 ? Buffer.concat(frames) : frames[0]
}
