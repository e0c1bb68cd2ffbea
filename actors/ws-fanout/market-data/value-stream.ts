import type { LevelDepth } from '../../../interface/market-data.js'
import type { CandleInterval } from '../../../interface/trade.js'
import type { Snapshot } from '../snapshots.js'
import { textFrame } from '../server-frames.js'

/** A public stream of absolute values. */
export type DataTopic =
  | { readonly channel: 'levels'; readonly depth: LevelDepth }
  | { readonly channel: 'candles'; readonly interval: CandleInterval }
  | { readonly channel: 'ticker' | 'status' }

/**
 * A public stream of absolute values, one of each kind for each market: what a client holds after a frame does not depend on
 * the frames before, as long as it has seen all of them or a catch-up. Made when a first client follows it.
 */
export interface ValueStream {
  /** Number of the newest update, whether `next` has returned it or not. */
  headSeq(): number
  /** The updates since the last call, rendered once for all subscribers. */
  next(): Buffer[]
  /** The state that all updates so far lead to. */
  snapshot(): Snapshot
  /** The frames that bring a client from a number to the head; undefined where only a snapshot does. */
  after(sinceSeq: number): Buffer[] | undefined
}

/** What the frames of a stream have in common. */
export interface FrameHead {
  readonly channel: string
  readonly market: string
  readonly depth?: number
  readonly interval?: string
}

/** One update and its place in its stream. */
export interface Update {
  readonly seq: number
  readonly prevSeq: number
  /** ISO time. */
  readonly ts: string
  readonly data: object
}

export const updateFrame = (head: FrameHead, { seq, prevSeq, ts, data }: Update): Buffer =>
  textFrame(JSON.stringify({ type: 'update', ...head, seq, prev_seq: prevSeq, ts, data }))

/** The data of a snapshot as JSON, rendered once until it is dropped. */
export function keptData(render: () => object) {
  let kept: Buffer | undefined
  return {
    get: (): Buffer[] => [(kept ??= Buffer.from(JSON.stringify(render())))],
    drop: (): void => void (kept = undefined),
  }
}
