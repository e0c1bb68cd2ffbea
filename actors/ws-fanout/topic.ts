import type { Address } from '../../core/action.js'

/** What of a market can be followed; `orders` are those of one owner, addresses lower-case. */
export type Topic =
  { readonly channel: 'book' | 'trades' } | { readonly channel: 'orders'; readonly owner: Address }

export type Channel = Topic['channel']

/** What one change sends: a `book` frame, an `orders` frame to its owner, a `trades` frame if it completes a trade. */
export interface ChangeFrames {
  readonly seq: number
  readonly owner: Address
  readonly book: Buffer
  readonly trades: Buffer | undefined
  readonly orders: Buffer
}

/** The topic's frame of a change; undefined when there is none. The one place that keeps owners apart. */
export function frameOf(topic: Topic, frames: ChangeFrames): Buffer | undefined {
  if (topic.channel === 'orders') return topic.owner === frames.owner ? frames.orders : undefined
  return frames[topic.channel]
}
