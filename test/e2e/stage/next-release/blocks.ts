import { blockMessages, blockVersions as published } from '../../../../bus-schemas/blocks.js'
import type { Block } from '../../../../core/model/change.js'
import { text } from '../../../../core/wire/codec.js'
import { mapped, struct } from '../../../../core/wire/compound.js'

export * from '../../../../bus-schemas/blocks.js'

interface Named {
  readonly writtenBy: string
  readonly block: Block
}

/** The next release writes into each block who wrote it. */
export const blockVersions = published.next(
  mapped<Block, Named>(
    struct<Named>({ writtenBy: text, block: published.form }),
    (block) => ({ writtenBy: 'the next release', block }),
    ({ block }) => block,
  ),
  (older) => older,
)

export const {
  version: BLOCK_VERSION,
  encode: encodeBlock,
  decode: decodeBlock,
  holds: holdsBlock,
} = blockMessages(blockVersions)
