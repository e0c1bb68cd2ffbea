import { isoTime } from '../../../core/time.js'
import { keptData, updateFrame, type FrameHead, type ValueStream } from './value-stream.js'

export interface StateParts {
  readonly head: FrameHead
  /** The state now. */
  readonly read: () => object
  /** The number of an update, given that of the one before; 0 before the first. */
  readonly numberOf: (before: number) => number
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** A stream whose whole state is one small object: each update is all of it. A client that has not the newest gets a snapshot. */
export function stateStream({ head, read, numberOf, nowMs }: StateParts): ValueStream {
  let state = read()
  let text = JSON.stringify(state)
  let seq = numberOf(0)
  const data = keptData(() => state)
  return {
    headSeq: () => seq,
    next() {
      const now = read()
      const nowText = JSON.stringify(now)
      if (nowText === text) return []
      const prevSeq = seq
      ;[state, text, seq] = [now, nowText, numberOf(seq)]
      data.drop()
      return [updateFrame(head, { seq, prevSeq, ts: isoTime(nowMs()), data: state })]
    },
    snapshot: () => ({ seq, data: data.get() }),
    after: (sinceSeq) => (sinceSeq === seq ? [] : undefined),
  }
}
