import { z } from 'zod'
import { assert } from '../core/assert.js'
import type { Block } from '../core/change.js'
import { changeFromWire, changeToWire, changeWire } from './change-wire.js'
import {
  MAX_MESSAGE_BYTES,
  WIRE_VERSION,
  decodeMessage,
  encodeMessage,
  wholeNumber,
} from './wire.js'

const blockMessage = z.strictObject({
  v: z.literal(WIRE_VERSION),
  market: z.string(),
  command_seq: wholeNumber,
  command_index: wholeNumber,
  first_seq: z.int().positive(),
  changes: z.array(changeWire),
  leader: z.strictObject({ term: wholeNumber, id: z.string() }).exactOptional(),
})

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
  const data = encodeMessage({
    market: block.market,
    command_seq: block.commandSeq,
    command_index: block.commandIndex,
    first_seq: block.firstSeq,
    changes,
    ...(block.leader !== undefined && { leader: { term: block.leader.term, id: block.leader.id } }),
  })
  assert(data.length <= MAX_MESSAGE_BYTES, `block ${block.firstSeq} has ${data.length} bytes`)
  return data
}

/** The inverse of encodeBlock. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeBlock(data: Uint8Array): Block {
  const wire = decodeMessage('block', blockMessage, data)
  assertPurpose(wire.changes.length, wire.leader !== undefined)
  return {
    market: wire.market,
    commandSeq: wire.command_seq,
    commandIndex: wire.command_index,
    firstSeq: wire.first_seq,
    changes: wire.changes.map((change, index) => changeFromWire(change, wire.first_seq + index)),
    ...(wire.leader !== undefined && { leader: wire.leader }),
  }
}

function assertPurpose(changes: number, namesLeader: boolean): void {
  assert(changes > 0 !== namesLeader, 'a block has changes, or it names a leader')
}
