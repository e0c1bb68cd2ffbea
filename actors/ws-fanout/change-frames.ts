import type { Address } from '../../core/action.js'
import type { Change, ChangeBase } from '../../core/change.js'
import { completedTrade } from '../../core/feed.js'
import type { Market } from '../../core/market.js'
import { bookUpdate, ordersUpdate, tradesUpdate, tradeUpdate } from '../../core/records/frames.js'
import type { Trade } from '../../core/records/trade-record.js'
import { textFrame } from './server-frames.js'
import type { ChangeFrames, Topic } from './topic.js'

/** Sequences that a change's frames name as `prev_seq`. */
export interface Previous {
  /** Of the newest trade before the change, 0 if there was none. */
  readonly tradeSeq: number
  /** Of the owner's change before this one; undefined when it is not known any more. */
  readonly ownerSeq: number | undefined
}

type KnownPrevious = Previous & { readonly ownerSeq: number }

/**
 * A change's frames as bytes: the same whether they are made when it happens or read again later. Each is made when it
 * is first asked for, and once, because hardly anybody follows every channel; the order of a placement is not kept.
 */
export const changeFrames = (
  market: Market,
  change: Change,
  previous: KnownPrevious,
): ChangeFrames => new FramesWhenAsked(market, change, previous)

/** A class, because there is one of these for each change in memory: accessors of its own would weigh more than it. */
class FramesWhenAsked implements ChangeFrames {
  readonly seq: number
  readonly owner: Address
  readonly #market: Market
  readonly #previous: KnownPrevious
  readonly #told: ChangeBase
  readonly #trade: Trade | undefined
  #book: Buffer | undefined
  #trades: Buffer | undefined
  #orders: Buffer | undefined

  constructor(market: Market, change: Change, previous: KnownPrevious) {
    this.seq = change.seq
    this.owner = change.owner
    this.#market = market
    this.#previous = previous
    this.#told = toldOf(change)
    this.#trade = completedTrade(change)
  }

  get book(): Buffer {
    return (this.#book ??= jsonFrame(bookUpdate(this.#market, this.#told)))
  }

  get trades(): Buffer | undefined {
    if (this.#trade === undefined) return undefined
    const { tradeSeq } = this.#previous
    return (this.#trades ??= jsonFrame(tradeUpdate(this.#market, this.#trade, tradeSeq)))
  }

  get orders(): Buffer {
    const { ownerSeq } = this.#previous
    return (this.#orders ??= jsonFrame(ordersUpdate(this.#market, this.#told, ownerSeq)))
  }
}

/** What frames say of a change, without what only its kind has. */
const toldOf = (change: Change): ChangeBase => ({
  seq: change.seq,
  atMs: change.atMs,
  orderId: change.orderId,
  owner: change.owner,
  side: change.side,
  limitPrice: change.limitPrice,
  desired: change.desired,
  filled: change.filled,
  pending: change.pending,
  open: change.open,
  openDelta: change.openDelta,
  status: change.status,
})

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
  return textFrame(JSON.stringify(frame))
}
