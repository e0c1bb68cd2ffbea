import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { MAX_TURN_BYTES } from './limits.js'
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
const NOTHING: Taste = { channels: 0, owner: undefined }

/**
 * Who follows a market. Every change keeps its own frame; what is joined is only the write, because a write per frame
 * and socket is what a fan-out spends its time on. A listener of several channels gets them in order of sequence.
 */
export function createAudience(): Audience {
  const listeners = new Map<Listener, Taste>()
  let queued: ChangeFrames[] = []
  let queuedBytes = 0

  function flush(): void {
    if (queued.length === 0) return
    const changes = queued
    queued = []
    queuedBytes = 0
    const owners = new Set(changes.map(({ owner }) => owner))
    const joined = new Map<string, Buffer>()
    for (const [listener, taste] of listeners) {
      // Whoever none of this turn's changes belongs to gets what all those get who follow the same public channels.
      const isOwner = taste.owner !== undefined && owners.has(taste.owner)
      const key = `${taste.channels & ~BIT.orders} ${isOwner ? taste.owner : ''}`
      let frames = joined.get(key)
      if (frames === undefined) joined.set(key, (frames = join(changes, taste)))
      if (frames.length > 0) listener.deliver(frames)
    }
  }

  // Whoever joins or leaves does so between changes: what was queued before concerns only those who were there.
  function setTaste(listener: Listener, taste: Taste): void {
    flush()
    if (taste.channels === 0) listeners.delete(listener)
    else listeners.set(listener, taste)
  }

  function add(topic: Topic, listener: Listener): void {
    const { channels, owner } = listeners.get(listener) ?? NOTHING
    const added = topic.channel === 'orders' ? topic.owner : owner
    assert(owner === undefined || owner === added, 'a listener follows orders of two owners')
    setTaste(listener, { channels: channels | BIT[topic.channel], owner: added })
  }

  function remove(topic: Topic, listener: Listener): void {
    const { channels, owner } = listeners.get(listener) ?? NOTHING
    const left = topic.channel === 'orders' ? undefined : owner
    setTaste(listener, { channels: channels & ~BIT[topic.channel], owner: left })
  }

  return {
    add,
    remove,
    publish(frames) {
      if (listeners.size === 0) return
      if (queued.length === 0) setImmediate(flush)
      queued.push(frames)
      queuedBytes += frames.book.length
      if (queuedBytes >= MAX_TURN_BYTES) flush()
    },
  }
}

function join(changes: readonly ChangeFrames[], { channels, owner }: Taste): Buffer {
  const topics: Topic[] = []
  if (channels & BIT.book) topics.push({ channel: 'book' })
  if (channels & BIT.trades) topics.push({ channel: 'trades' })
  if (owner !== undefined) topics.push({ channel: 'orders', owner })
  const frames = changes.flatMap((change) => topics.map((topic) => frameOf(topic, change)))
  return Buffer.concat(frames.filter((frame) => frame !== undefined))
}
