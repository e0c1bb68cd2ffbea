import { assert } from '../core/assert.js'
import type { Block, Leader } from '../core/change.js'
import { changeFromWire, changeToWire } from './change-wire.js'
import {
  assertClosed,
  fieldsOf,
  malformed,
  one,
  readList,
  readText,
  readWhole,
} from './read-fields.js'
import { MAX_MESSAGE_BYTES, encodeMessage, readMessage } from './wire.js'

/**
 * One message of a market's feed. Equal blocks give equal bytes, so that a replay can be compared with what is stored.
 * A block has at least one change, or names the matcher that takes over and has none; its seqs have no gap. Anything
 * else, or one too large to store, breaks an invariant.
 */
export function encodeBlock(block: Block): Uint8Array {
  assertPurpose(block.changes.length, block.leader !== undefined)
  const changes = block.changes.map((change, index) => {
    assert(change.seq === block.firstSeq + index, `change ${change.seq} breaks the block's run`)
    return changeToWire(change)
  })
  const { leader } = block
  const data = encodeMessage({
    market: block.market,
    command_seq: block.commandSeq,
    command_index: block.commandIndex,
    first_seq: block.firstSeq,
    changes,
    leader: leader === undefined ? undefined : { term: leader.term, id: leader.id },
  })
  assert(data.length <= MAX_MESSAGE_BYTES, `block ${block.firstSeq} has ${data.length} bytes`)
  return data
}

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

function blockFromWire(message: object): Block {
  const wire = fieldsOf<BlockFields>(message, 'message')
  const firstSeq = readWhole(wire.first_seq, 'first_seq')
  if (firstSeq === 0) malformed('first_seq', 'a position')
  const block = {
    market: readText(wire.market, 'market'),
    commandSeq: readWhole(wire.command_seq, 'command_seq'),
    commandIndex: readWhole(wire.command_index, 'command_index'),
    firstSeq,
    changes: readList(wire.changes, 'changes').map((change, index) =>
      changeFromWire(change, firstSeq + index),
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
