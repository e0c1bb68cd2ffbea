import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { MAX_TURN_CHANGES } from './limits.js'
import { frameOf, type ChangeFrames, type Channel, type Topic } from './topic.js'

/** Somebody who takes complete frames as bytes. Must not throw and must not block. */
export interface Listener {
  deliver(frames: Buffer): void
}

export interface Audience {
  /** A listener follows the orders of one owner at most. */
  add(topic: Topic, listener: Listener): void
  remove(topic: Topic, listener: Listener): void
  /** Queues a change's frames; they leave when the event loop's turn ends, joined with the others of that turn. */
  publish(frames: ChangeFrames): void
}

/** What a listener follows. */
interface Taste {
  readonly channels: number
  /** Whose orders; present exactly when these are among the channels. */
  readonly owner: Address | undefined
}

const BIT: Readonly<Record<Channel, number>> = { book: 1, trades: 2, orders: 4 }
const PUBLIC = BIT.book | BIT.trades
const NOTHING: Taste = { channels: 0, owner: undefined }

type Groups<Key> = Map<Key, Set<Listener>>

/** Everybody with what they follow, and the same listeners by their public channels and by whose orders they follow. */
interface Followers {
  readonly tastes: Map<Listener, Taste>
  readonly byPublic: Groups<number>
  readonly byOwner: Groups<Address>
}

/**
 * Who follows a market. Every change keeps its own frame; what is joined is only the write, because a write per frame
 * and socket is what a fan-out spends its time on. A listener of several channels gets them in order of sequence.
 */
export function createAudience(): Audience {
  const followers: Followers = { tastes: new Map(), byPublic: new Map(), byOwner: new Map() }
  const tasteOf = (listener: Listener): Taste => followers.tastes.get(listener) ?? NOTHING
  let queued: ChangeFrames[] = []

  function flush(): void {
    if (queued.length === 0) return
    const changes = queued
    queued = []
    deliver(followers, changes)
  }

  // Whoever joins or leaves does so between changes: what was queued before concerns only those who were there.
  function add(topic: Topic, listener: Listener): void {
    flush()
    const { channels, owner } = tasteOf(listener)
    const added = topic.channel === 'orders' ? topic.owner : owner
    assert(owner === undefined || owner === added, 'a listener follows orders of two owners')
    setTaste(followers, listener, { channels: channels | BIT[topic.channel], owner: added })
  }

  function remove(topic: Topic, listener: Listener): void {
    flush()
    const { channels, owner } = tasteOf(listener)
    const left = topic.channel === 'orders' ? undefined : owner
    setTaste(followers, listener, { channels: channels & ~BIT[topic.channel], owner: left })
  }

  return {
    add,
    remove,
    publish(frames) {
      if (followers.tastes.size === 0) return
      if (queued.length === 0) setImmediate(flush)
      queued.push(frames)
      if (queued.length >= MAX_TURN_CHANGES) flush()
    },
  }
}

/** Those to whom a change belongs are few and found by it; all others of the same channels get the same bytes. */
function deliver(followers: Followers, changes: readonly ChangeFrames[]): void {
  const { tastes, byPublic, byOwner } = followers
  const owners = new Set<Address>()
  for (const { owner } of changes) if (byOwner.has(owner)) owners.add(owner)
  for (const owner of owners) deliverToOwner(followers, changes, owner)
  for (const [channels, listeners] of byPublic) {
    const frames = framesFor(changes, { channels, owner: undefined })
    if (frames === undefined) continue
    for (const listener of listeners) {
      const owner = owners.size === 0 ? undefined : tastes.get(listener)?.owner
      if (owner === undefined || !owners.has(owner)) listener.deliver(frames)
    }
  }
}

function deliverToOwner(
  { tastes, byOwner }: Followers,
  changes: readonly ChangeFrames[],
  owner: Address,
): void {
  const joined = new Map<number, Buffer | undefined>()
  for (const listener of byOwner.get(owner) ?? []) {
    const { channels } = tastes.get(listener) ?? NOTHING
    if (!joined.has(channels)) joined.set(channels, framesFor(changes, { channels, owner }))
    const frames = joined.get(channels)
    if (frames !== undefined) listener.deliver(frames)
  }
}

function setTaste({ tastes, byPublic, byOwner }: Followers, listener: Listener, taste: Taste) {
  const before = tastes.get(listener) ?? NOTHING
  leave(byPublic, before.channels & PUBLIC, listener)
  if (before.owner !== undefined) leave(byOwner, before.owner, listener)
  if ((taste.channels & PUBLIC) !== 0) join(byPublic, taste.channels & PUBLIC, listener)
  if (taste.owner !== undefined) join(byOwner, taste.owner, listener)
  if (taste.channels === 0) tastes.delete(listener)
  else tastes.set(listener, taste)
}

function join<Key>(groups: Groups<Key>, key: Key, listener: Listener): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, new Set([listener]))
  else group.add(listener)
}

function leave<Key>(groups: Groups<Key>, key: Key, listener: Listener): void {
  const group = groups.get(key)
  group?.delete(listener)
  if (group?.size === 0) groups.delete(key)
}

/** The frames of the changes that meet a taste, in order, as one; undefined when there are none. */
function framesFor(
  changes: readonly ChangeFrames[],
  { channels, owner }: Taste,
): Buffer | undefined {
  const topics: Topic[] = []
  if (channels & BIT.book) topics.push({ channel: 'book' })
  if (channels & BIT.trades) topics.push({ channel: 'trades' })
  if (owner !== undefined) topics.push({ channel: 'orders', owner })
  const frames: Buffer[] = []
  for (const change of changes) {
    for (const topic of topics) {
      const frame = frameOf(topic, change)
      if (frame !== undefined) frames.push(frame)
    }
  }
  return frames.length > 1 ? Buffer.concat(frames) : frames[0]
}
