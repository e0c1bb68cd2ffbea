import { assert } from '../core/assert.js'
import type { Command } from '../core/model/command.js'
import {
  OF_NO_ORDER,
  type Block,
  type Change,
  type ChangeBase,
  type Leader,
  type Tombstone,
} from '../core/model/change.js'
import type { Fill, Match } from '../core/model/match.js'
import {
  address,
  amountE18,
  hex,
  int,
  oneOf,
  position,
  priceE18,
  quoteE18,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { implied, later, list, optional, struct, union } from '../core/wire/compound.js'
import { MAX_MESSAGE_BYTES, message, since, WIRE_VERSION, type Versions } from './envelope.js'
import { marketTerms } from './markets.js'
import { holdReason, order, orderStatus, side } from './orders.js'

const matchFields = {
  settlementId: text,
  makerOrderId: text,
  takerOrderId: text,
  price: priceE18,
  amount: amountE18,
  takerFee: quoteE18,
}
export const match = struct<Match>(matchFields)

/** The fields of a change that is of no order. They do not travel. */
const ofNoOrder = {
  orderId: implied(() => OF_NO_ORDER.orderId),
  owner: implied(() => OF_NO_ORDER.owner),
  side: implied(() => OF_NO_ORDER.side),
  limitPrice: implied(() => OF_NO_ORDER.limitPrice),
  desired: implied(() => OF_NO_ORDER.desired),
  filled: implied(() => OF_NO_ORDER.filled),
  pending: implied(() => OF_NO_ORDER.pending),
  open: implied(() => OF_NO_ORDER.open),
  openDelta: implied(() => OF_NO_ORDER.openDelta),
  status: implied(() => OF_NO_ORDER.status),
}

const fill = struct<Fill>({
  ...matchFields,
  liquidity: oneOf<Fill['liquidity']>({ maker: true, taker: true }),
  fee: quoteE18,
  txHash: hex,
  blockNumber: uint,
  tradeId: whole,
  takerSide: side,
  markPrice: optional(priceE18),
})

/** A change's seq follows from its place in the block. */
const seq = later(0)
/** Where the order stands after the change. */
const standing = {
  atMs: whole,
  filled: amountE18,
  pending: amountE18,
  open: amountE18,
  openDelta: int,
  status: orderStatus,
}
/** Fields of every change but a placement, whose order has them. */
const base = {
  seq,
  orderId: text,
  owner: address,
  side,
  limitPrice: priceE18,
  desired: amountE18,
  ...standing,
}
/** Why an order is not simply open. */
const reasons = { hold: optional(holdReason), cancelReason: optional(text) }

const change = union<Change>({
  OrderPlaced: {
    seq,
    ...standing,
    rank: whole,
    ...reasons,
    order,
    orderId: implied(({ order }) => order.orderId),
    owner: implied(({ order }) => order.owner),
    side: implied(({ order }) => order.side),
    limitPrice: implied(({ order }) => order.limitPrice),
    desired: implied(({ order }) => order.desiredAmount),
  },
  OrderMatched: { ...base, match },
  OrderFilled: { ...base, fill },
  MatchReverted: { ...base, settlementId: text, revert: text, ...reasons },
  FillReversed: { ...base, fill, revert: text, ...reasons },
  OrderHeld: { ...base, hold: holdReason },
  OrderReleased: { ...base, ...reasons },
  OrderResized: { ...base, ...reasons },
  OrderCancelled: { ...base, cancelReason: text },
  OrderExpired: base,
  OrderForgotten: {
    seq,
    atMs: whole,
    ...ofNoOrder,
    tombstone: optional(
      struct<Tombstone>({ orderId: text, owner: address, nonce: uint, fingerprint: hex }),
    ),
  },
  CommandRefused: {
    seq,
    atMs: whole,
    ...ofNoOrder,
    command: text as Codec<Command['kind']>,
    source: text,
    sourceNo: whole,
  },
})

const form: Codec<Block> = struct<Block>({
  market: text,
  commandSeq: whole,
  commandIndex: whole,
  firstSeq: position,
  changes: list(change),
  terms: optional(marketTerms),
  leader: optional(struct<Leader>({ term: whole, id: text })),
})

/** A block that was read has its seqs still to be set. */
const block: Codec<Block> = {
  write(written) {
    assertPurpose(written)
    written.changes.forEach(({ seq }, index) => {
      if (seq !== written.firstSeq + index) assert(false, `change ${seq} breaks the block's run`)
    })
    return form.write(written)
  },
  read(json, field) {
    const read = form.read(json, field)
    assertPurpose(read)
    const changes: readonly { -readonly [K in keyof ChangeBase]: ChangeBase[K] }[] = read.changes
    let { firstSeq: seq } = read
    for (const each of changes) {
      each.seq = seq
      seq += 1
    }
    return read
  },
}

function assertPurpose({ changes, terms, leader }: Block): void {
  const says = changes.length > 0 || terms !== undefined
  assert(says !== (leader !== undefined), 'a block has changes or terms, or it names a leader')
}

/** The versions of a message of the feed. */
export const blockVersions = since(WIRE_VERSION, block)

/** The messages of a feed. */
export interface BlockMessages {
  /** The version that is written. */
  readonly version: number
  /**
   * One message. A block has changes or the market's terms, or names the matcher that takes over and has neither; its seqs
   * have no gap. Anything else, or one too large to store, breaks an invariant.
   */
  readonly encode: (block: Block) => Uint8Array
  /** The inverse of `encode`, for messages of every known version. Throws as `decode` of a message does. */
  readonly decode: (data: Uint8Array) => Block
  /**
   * Whether a stored message holds this block: whether both have the same text in the newest form, whatever version the message was
   * written in. Throws as `decode`.
   */
  readonly holds: (stored: Uint8Array, block: Block) => boolean
}

export function blockMessages(versions: Versions<Block>): BlockMessages {
  const { version, encode: encodeAny, decode } = message('block', versions)
  const encode = (written: Block): Uint8Array => {
    const data = encodeAny(written)
    assert(data.length <= MAX_MESSAGE_BYTES, `block ${written.firstSeq} has ${data.length} bytes`)
    return data
  }
  return {
    version,
    encode,
    decode,
    holds(stored, block) {
      const expected = encode(block)
      if (Buffer.compare(expected, stored) === 0) return true
      // A reader takes only what its writer writes, so equal blocks, and no others, have equal texts in the newest form.
      return Buffer.compare(expected, encode(decode(stored))) === 0
    },
  }
}

export const {
  version: BLOCK_VERSION,
  encode: encodeBlock,
  decode: decodeBlock,
  holds: holdsBlock,
} = blockMessages(blockVersions)
