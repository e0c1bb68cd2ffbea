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
  changes: z.array(changeWire).min(1),
})

/**
 * One message of a market's feed. Equal blocks give equal bytes, so that a replay can be compared with what is stored.
 * A block has at least one change and its seqs have no gap; anything else, or one too large to store, breaks an invariant.
 */
export function encodeBlock(block: Block): Uint8Array {
  assert(block.changes.length > 0, 'a block without changes is not published')
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
  })
  assert(data.length <= MAX_MESSAGE_BYTES, `block ${block.firstSeq} has ${data.length} bytes`)
  return data
}

/** The inverse of encodeBlock. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeBlock(data: Uint8Array): Block {
  const wire = decodeMessage('block', blockMessage, data)
  return {
    market: wire.market,
    commandSeq: wire.command_seq,
    commandIndex: wire.command_index,
    firstSeq: wire.first_seq,
    changes: wire.changes.map((change, index) => changeFromWire(change, wire.first_seq + index)),
  }
}
