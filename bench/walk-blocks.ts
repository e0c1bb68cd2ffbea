import { encodeBlock } from '../bus-schemas/block-message.js'
import { applyMessage } from '../core/apply-message.js'
import type { Block } from '../core/change.js'
import type { LoggedCommand } from '../core/command.js'
import { emptyMatcherState } from '../core/matcher-state.js'
import type { StreamedBlock } from '../data/apply-block.js'
import { benchMarket } from './bench-market.js'

/** Commands of one message, about as many as the intake puts into one under load. */
export const BATCH = 64

/** The commands as the messages of a log would hold them. */
export function batchesOf(commands: readonly LoggedCommand[]): LoggedCommand[][] {
  const batches: LoggedCommand[][] = []
  for (let at = 0; at < commands.length; at += BATCH) batches.push(commands.slice(at, at + BATCH))
  return batches
}

/** What a market's feed holds after those commands. */
export function blocksOf(commands: readonly LoggedCommand[]): StreamedBlock[] {
  const state = emptyMatcherState(benchMarket())
  const blocks: Block[] = []
  for (const [index, batch] of batchesOf(commands).entries()) {
    for (const { block } of applyMessage(state, index + 1, batch)) {
      if (block !== undefined) blocks.push(block)
    }
  }
  return blocks.map((block, index) => ({ streamSeq: index + 1, block }))
}

/** The same as the messages of the feed. */
export const messagesOf = (blocks: readonly StreamedBlock[]): Uint8Array[] =>
  blocks.map(({ block }) => encodeBlock(block))

export const countChanges = (blocks: readonly StreamedBlock[]): number =>
  blocks.reduce((sum, { block }) => sum + block.changes.length, 0)
