import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import type { Change, ChangeBase } from '../../core/model/change.js'
import { completedTrade, type OrderStand } from '../../core/engine/feed.js'
import type { LevelChange } from '../../core/market-data/level-book.js'
import { bookUpdate, ordersUpdate, tradesUpdate, tradeUpdate } from '../../core/records/frames.js'
import type { Trade } from '../../core/records/trade-record.js'
import { isoTime } from '../../core/time.js'
import type { Ack, Channel, LeaseFrame, SocketError } from '../../interface/socket.js'

/** One channel of a market; `orders` are those of one owner, in lower case. */
export type Topic =
  { readonly channel: 'book' | 'trades' } | { readonly channel: 'orders'; readonly owner: Address }

/** A topic's state at `seq`, its data serialised, in parts. */
export interface Snapshot {
  readonly seq: number
  readonly data: readonly Buffer[]
}

/** The frames of one change: `book`, `orders` for its owner, `trades` if it completes a trade. */
export interface ChangeFrames {
  readonly seq: number
  readonly owner: Address
  /** What the change did to its level. */
  readonly level: LevelChange
  readonly book: Buffer
  readonly trades: Buffer | undefined
  readonly orders: Buffer
}

/** The topic's frame of a change; undefined when there is none. Only here is an owner's frame selected. */
export function frameOf(topic: Topic, frames: ChangeFrames): Buffer | undefined {
  if (topic.channel === 'orders') return topic.owner === frames.owner ? frames.orders : undefined
  return frames[topic.channel]
}

/** The values of `prev_seq` in a change's frames. */
export interface Previous {
  /** Of the newest trade before the change, 0 if there was none. */
  readonly tradeSeq: number
  /** Of the owner's change before this one; undefined when it is no longer known. */
  readonly ownerSeq: number | undefined
}

/** What the frames of a change need besides it: the `prev_seq` of each, and how the change leaves its order. */
type Beside = Previous & { readonly ownerSeq: number; readonly stand: OrderStand | undefined }

/**
 * The frames of a change as bytes. Each is made once, at its first use, because few clients subscribe to every channel.
 * On `book` and `trades` those of a live change and of a replayed one are equal.
 */
export const changeFrames = (market: Market, change: Change, beside: Beside): ChangeFrames =>
  new LazyFrames(market, change, beside)

/** A class, because the ring holds one for each change: closures would take more memory than the change. */
class LazyFrames implements ChangeFrames {
  readonly seq: number
  readonly owner: Address
  readonly #market: Market
  readonly #beside: Beside
  readonly #change: ChangeBase
  readonly #trade: Trade | undefined
  #book: Buffer | undefined
  #trades: Buffer | undefined
  #orders: Buffer | undefined

  constructor(market: Market, change: Change, beside: Beside) {
    this.seq = change.seq
    this.owner = change.owner
    this.#market = market
    this.#beside = beside
    this.#change = publicPart(change)
    this.#trade = completedTrade(change)
  }

  get level(): LevelChange {
    return this.#change
  }

  get book(): Buffer {
    return (this.#book ??= jsonFrame(bookUpdate(this.#market, this.#change)))
  }

  get trades(): Buffer | undefined {
    if (this.#trade === undefined) return undefined
    const { tradeSeq } = this.#beside
    return (this.#trades ??= jsonFrame(tradeUpdate(this.#market, this.#trade, tradeSeq)))
  }

  get orders(): Buffer {
    return (this.#orders ??= jsonFrame(ordersUpdate(this.#market, this.#change, this.#beside)))
  }
}

/** The part of a change that frames show; the order of a placement is not kept in memory. */
const publicPart = (change: Change): ChangeBase => ({
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

interface ReplayedChange {
  readonly topic: Topic
  readonly previous: Previous
  /** How the change left its order, as far as that is still known. */
  readonly stand: OrderStand | undefined
}

/** The topic's frame of one change; undefined when there is none, `unlinked` when its `prev_seq` is not known. */
export function topicFrame(
  market: Market,
  change: Change,
  { topic, previous, stand }: ReplayedChange,
): Buffer | undefined | 'unlinked' {
  if (topic.channel === 'orders') {
    if (change.owner !== topic.owner) return undefined
    const { ownerSeq } = previous
    if (ownerSeq === undefined) return 'unlinked'
    return jsonFrame(ordersUpdate(market, change, { stand, ownerSeq }))
  }
  if (topic.channel === 'book') return jsonFrame(bookUpdate(market, change))
  const update = tradesUpdate(market, change, previous.tradeSeq)
  return update === undefined ? undefined : jsonFrame(update)
}

/** Sequence of the newest trade after a change. */
export const tradeSeqAfter = (change: Change, before: number): number =>
  completedTrade(change)?.seq ?? before

function jsonFrame(frame: object): Buffer {
  return textFrame(JSON.stringify(frame))
}

const ERROR_MESSAGES = {
  bad_json: 'invalid frame',
  bad_op: 'unknown op',
  bad_channel: 'unknown channel',
  unknown_market: 'no such market',
  auth_required: 'authenticate before subscribing to orders',
  auth_failed: 'the frame does not authenticate its address',
  session_key_ended: 'the session key that authenticated this connection has ended',
  resume_too_old: 'snapshot follows',
  stream_reset: 'resubscribe with since_seq',
  snapshot_failed: 'could not load snapshot',
  slow_consumer: 'reconnect and resume with since_seq',
  lease_failed: 'the lease could not be set in every market: ask again',
  lease_ended: 'the lease has ended: the orders under it are cancelled',
} as const satisfies Readonly<Record<SocketError['code'], string>>

/** Optional fields of a reply; undefined ones are left out. */
export interface ReplyContext {
  readonly reqId?: string | undefined
  readonly channel?: Channel | undefined
  readonly market?: string | undefined
  readonly field?: string | undefined
  readonly seq?: number | undefined
  /** Replaces an error's usual text. */
  readonly message?: string | undefined
}

/** What is wrong with a frame whose op is known is one of its fields. */
const usualMessage = (code: SocketError['code'], field: string | undefined): string =>
  code === 'bad_op' && field !== undefined
    ? `${field} is missing or not valid`
    : ERROR_MESSAGES[code]

/** The error frame of a code. */
export function errorFrame(code: SocketError['code'], context: ReplyContext = {}): string {
  const { reqId: req_id, channel, market, field } = context
  const { message = usualMessage(code, field) } = context
  const frame: SocketError = { type: 'error', code, message, field, channel, market, req_id }
  return JSON.stringify(frame)
}

/** Refuses a frame that only an authenticated socket may send. */
export const authRequired = (op: string, reqId: string | undefined): string =>
  errorFrame('auth_required', { reqId, message: `authenticate before ${op}` })

/** The `ack` frame. */
export function ackFrame(message: Ack['message'], context: ReplyContext = {}): string {
  const { reqId: req_id, channel, market, seq } = context
  const frame: Ack = { type: 'ack', channel, market, message, seq, req_id }
  return JSON.stringify(frame)
}

/** What a `lease` frame says. */
export interface ShownLease {
  readonly reqId: string | undefined
  readonly seconds: number
  /** Of a socket's lease. */
  readonly leaseId?: string
  /** Of a lease over all orders: unix milliseconds, 0 when it is disarmed. */
  readonly endsAtMs?: number
}

/** The answer to `cancel_on_disconnect` and `cancel_all_after`. */
export function leaseFrame({ reqId: req_id, seconds, leaseId, endsAtMs = 0 }: ShownLease): string {
  const ends_at = endsAtMs === 0 ? undefined : isoTime(endsAtMs)
  const frame: LeaseFrame = { type: 'lease', seconds, lease_id: leaseId, ends_at, req_id }
  return JSON.stringify(frame)
}

export function pongFrame(reqId: string | undefined): string {
  return JSON.stringify({ type: 'pong', req_id: reqId })
}

/** A snapshot frame around data that is already JSON, in parts, so that it is neither serialised nor copied for each client. */
export function snapshotFrame(
  head: { readonly channel: string; readonly market: string | undefined },
  { seq, data }: Snapshot,
  reqId: string | undefined,
): Buffer[] {
  const opening = JSON.stringify({ type: 'snapshot', ...head, seq, req_id: reqId })
  const text = Buffer.from(`${opening.slice(0, -1)},"data":`)
  const length = data.reduce((sum, part) => sum + part.length, text.length + CLOSING.length)
  const header = Buffer.allocUnsafe(headerLength(length))
  writeHeader(header, length)
  return [header, text, ...data, CLOSING]
}

const CLOSING = Buffer.from('}')
const FINAL_TEXT = 0x81

/**
 * A complete unmasked text message (RFC 6455, 5.2). Server frames are not masked, so one buffer serves every client, and
 * several frames can share one write.
 */
export function textFrame(payload: string | Buffer): Buffer {
  const length = Buffer.byteLength(payload)
  const start = headerLength(length)
  const frame = Buffer.allocUnsafe(start + length)
  writeHeader(frame, length)
  if (typeof payload === 'string') frame.write(payload, start)
  else payload.copy(frame, start)
  return frame
}

/** Limits of the one-byte and of the two-byte payload length. */
const SHORT = 126
const MEDIUM = 65_536

const headerLength = (length: number): number => (length < SHORT ? 2 : length < MEDIUM ? 4 : 10)

function writeHeader(frame: Buffer, length: number): void {
  frame[0] = FINAL_TEXT
  if (length < SHORT) {
    frame[1] = length
  } else if (length < MEDIUM) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
}
