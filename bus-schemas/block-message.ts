import { assert } from '../core/assert.js'
import type { Block, Leader } from '../core/change.js'
import type { OrderStatement } from '../core/order-statement.js'
import { jsonText } from '../core/json-text.js'
import { changeFromWire, changeJson } from './change-wire.js'
import { type Lines, framed } from './frame.js'
import {
  assertClosed,
  fieldsOf,
  malformed,
  one,
  readList,
  readText,
  readWhole,
} from './read-fields.js'
import { readMessage } from './read-message.js'
import { MAX_MESSAGE_BYTES, WIRE_VERSION } from './wire.js'

/**
 * One message of a market's feed. Equal blocks give equal bytes, so that a replay can be compared with what is stored.
 * A block has at least one change, or names the matcher that takes over and has none; its seqs have no gap. Anything
 * else, or one too large to store, breaks an invariant.
 */
export function encodeBlock(block: Block): Uint8Array {
  assertPurpose(block.changes.length, block.leader !== undefined)
  const statements: OrderStatement[] = []
  let changes = ''
  let seq = block.firstSeq
  for (const change of block.changes) {
    assert(change.seq === seq, `change ${change.seq} breaks the block's run`)
    changes += seq === block.firstSeq ? changeJson(change) : `,${changeJson(change)}`
    if (change.kind === 'OrderPlaced') statements.push(change.order.statement)
    seq += 1
  }
  const { market, commandSeq, commandIndex, firstSeq, leader } = block
  const place = `"command_seq":${commandSeq},"command_index":${commandIndex},"first_seq":${firstSeq}`
  const lead = leader === undefined ? '' : `,"leader":${leaderJson(leader)}`
  const head = `{"v":${WIRE_VERSION},"market":${jsonText(market)},${place},"changes":[${changes}]${lead}}`
  const data = framed(head, statements)
  assert(data.length <= MAX_MESSAGE_BYTES, `block ${block.firstSeq} has ${data.length} bytes`)
  return data
}

const leaderJson = ({ term, id }: Leader): string => `{"term":${term},"id":${jsonText(id)}}`

/** The inverse of encodeBlock. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeBlock(data: Uint8Array): Block {
  const block = readMessage('block', blockFromWire, data)
  assertPurpose(block.changes.length, block.leader !== undefined)
  return block
}

interface BlockFields {
  readonly v: number
  readonly market: string
  readonly command_seq: number
  readonly command_index: number
  readonly first_seq: number
  readonly changes: readonly unknown[]
  readonly leader: Leader
}

function blockFromWire(message: object, lines: Lines): Block {
  const wire = fieldsOf<BlockFields>(message, 'message')
  const firstSeq = readWhole(wire.first_seq, 'first_seq')
  if (firstSeq === 0) malformed('first_seq', 'a position')
  const block = {
    market: readText(wire.market, 'market'),
    commandSeq: readWhole(wire.command_seq, 'command_seq'),
    commandIndex: readWhole(wire.command_index, 'command_index'),
    firstSeq,
    changes: readList(wire.changes, 'changes').map((change, index) =>
      changeFromWire(change, firstSeq + index, lines),
    ),
  }
  assertClosed(wire, 6 + one(wire.leader), 'message')
  return wire.leader === undefined ? block : { ...block, leader: leaderFromWire(wire.leader) }
}

function leaderFromWire(value: unknown): Leader {
  const wire = fieldsOf<Leader>(value, 'leader')
  assertClosed(wire, 2, 'leader')
  return { term: readWhole(wire.term, 'leader.term'), id: readText(wire.id, 'leader.id') }
}

function assertPurpose(changes: number, namesLeader: boolean): void {
  assert(changes > 0 !== namesLeader, 'a block has changes, or it names a leader')
}
