import type { Change } from '../../core/change.js'
import { completedTrade } from '../../core/feed.js'
import type { Market } from '../../core/market.js'
import { bookUpdate, ordersUpdate, tradesUpdate } from '../../core/records/frames.js'
import { textFrame } from './server-frames.js'
import type { ChangeFrames, Topic } from './topic.js'

/** Sequences that a change's frames name as `prev_seq`. */
export interface Previous {
  /** Of the newest trade before the change, 0 if there was none. */
  readonly tradeSeq: number
  /** Of the owner's change before this one; undefined when it is not known any more. */
  readonly ownerSeq: number | undefined
}

/** A change's frames as bytes: the same whether they are made when it happens or read again later. */
export function changeFrames(
  market: Market,
  change: Change,
  previous: Previous & { readonly ownerSeq: number },
): ChangeFrames {
  const trades = tradesUpdate(market, change, previous.tradeSeq)
  return {
    seq: change.seq,
    owner: change.owner,
    book: jsonFrame(bookUpdate(market, change)),
    trades: trades === undefined ? undefined : jsonFrame(trades),
    orders: jsonFrame(ordersUpdate(market, change, previous.ownerSeq)),
  }
}

/** Only the topic's frame of a change; undefined when there is none, `unlinked` when its `prev_seq` is not known. */
export function topicFrame(
  market: Market,
  change: Change,
  { topic, previous }: { readonly topic: Topic; readonly previous: Previous },
): Buffer | undefined | 'unlinked' {
  if (topic.channel === 'orders') {
    if (change.owner !== topic.owner) return undefined
    if (previous.ownerSeq === undefined) return 'unlinked'
    return jsonFrame(ordersUpdate(market, change, previous.ownerSeq))
  }
  if (topic.channel === 'book') return jsonFrame(bookUpdate(market, change))
  const update = tradesUpdate(market, change, previous.tradeSeq)
  return update === undefined ? undefined : jsonFrame(update)
}

/** The newest trade's sequence after a change. */
export const tradeSeqAfter = (change: Change, before: number): number =>
  completedTrade(change)?.seq ?? before

function jsonFrame(frame: object): Buffer {
  return textFrame(Buffer.from(JSON.stringify(frame)))
}
