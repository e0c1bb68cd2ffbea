import { assert } from '../../core/assert.js'
import { frameOf, type ChangeFrames, type Topic } from './topic.js'

/** The frames of a topic after some sequence, up to and including `upTo`. */
export interface Page {
  readonly frames: Buffer[]
  readonly upTo: number
}

export interface ChangeRing {
  /** Appends the frames of the next change; the oldest ones go when the ring is full. */
  push(frames: ChangeFrames): void
  /**
   * The topic's frames that follow `afterSeq`, as many as make up about `maxBytes`; undefined when the change after
   * it is no longer, or not yet, held.
   */
  after(topic: Topic, afterSeq: number, maxBytes: number): Page | undefined
}

/** The newest `capacity` changes of a market as frames ready to be written. */
export function createChangeRing(capacity: number): ChangeRing {
  const slots: ChangeFrames[] = []
  let newest: number | undefined

  function push(frames: ChangeFrames): void {
    assert(newest === undefined || frames.seq === newest + 1, `frame ${frames.seq} after ${newest}`)
    slots[frames.seq % capacity] = frames
    newest = frames.seq
  }

  function after(topic: Topic, afterSeq: number, maxBytes: number): Page | undefined {
    if (newest === undefined) return undefined
    const frames: Buffer[] = []
    let upTo = afterSeq
    for (let bytes = 0; upTo < newest && bytes < maxBytes; upTo++) {
      const held = slots[(upTo + 1) % capacity]
      if (held?.seq !== upTo + 1) return undefined
      const frame = frameOf(topic, held)
      if (frame !== undefined) frames.push(frame)
      bytes += frame?.length ?? 0
    }
    return { frames, upTo }
  }

  return { push, after }
}
