import type { ChangeFrames, Channel } from './change-ring.js'
import { MAX_TURN_BYTES } from './limits.js'

/** Somebody who takes complete frames as bytes. Must not throw and must not block. */
export interface Listener {
  deliver(frames: Buffer): void
}

export interface Audience {
  add(channel: Channel, listener: Listener): void
  remove(channel: Channel, listener: Listener): void
  /** Queues a change's frames; they leave when the event loop's turn ends, joined with the others of that turn. */
  publish(frames: ChangeFrames): void
}

const BIT: Readonly<Record<Channel, number>> = { book: 1, trades: 2 }

/**
 * Who follows a market. Every change keeps its own frame; what is joined is only the write, because a write per frame
 * and socket is what a fan-out spends its time on. A listener of several channels gets them in order of sequence.
 */
export function createAudience(): Audience {
  const listeners = new Map<Listener, number>()
  let queued: ChangeFrames[] = []
  let queuedBytes = 0

  function flush(): void {
    if (queued.length === 0) return
    const changes = queued
    queued = []
    queuedBytes = 0
    const joined = new Map<number, Buffer>()
    for (const [listener, channels] of listeners) {
      let frames = joined.get(channels)
      if (frames === undefined) joined.set(channels, (frames = join(changes, channels)))
      if (frames.length > 0) listener.deliver(frames)
    }
  }

  // Whoever joins or leaves does so between changes: what was queued before concerns only those who were there.
  function setChannels(listener: Listener, channels: number): void {
    flush()
    if (channels === 0) listeners.delete(listener)
    else listeners.set(listener, channels)
  }

  return {
    add: (channel, listener) =>
      setChannels(listener, (listeners.get(listener) ?? 0) | BIT[channel]),
    remove: (channel, listener) =>
      setChannels(listener, (listeners.get(listener) ?? 0) & ~BIT[channel]),
    publish(frames) {
      if (listeners.size === 0) return
      if (queued.length === 0) setImmediate(flush)
      queued.push(frames)
      queuedBytes += frames.book.length
      if (queuedBytes >= MAX_TURN_BYTES) flush()
    },
  }
}

function join(changes: readonly ChangeFrames[], channels: number): Buffer {
  const frames: Buffer[] = []
  for (const { book, trades } of changes) {
    if (channels & BIT.book) frames.push(book)
    if (channels & BIT.trades && trades !== undefined) frames.push(trades)
  }
  return Buffer.concat(frames)
}
