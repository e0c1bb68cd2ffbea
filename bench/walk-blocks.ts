import { encodeBlock } from '../bus-schemas/blocks.js'
import { applyMessage } from '../core/engine/apply-message.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import type { Block } from '../core/model/change.js'
import type { LoggedCommand } from '../core/model/command.js'
import { openingOf } from '../core/model/market-terms.js'
import type { StreamedBlock } from '../data/history/project.js'
import { benchMarket } from './bench-market.js'

/** Commands per message, about as many as the intake groups under load. */
export const BATCH = 64

/** The commands as the messages of a log would hold them. */
export function batchesOf(commands: readonly LoggedCommand[]): LoggedCommand[][] {
  const batches: LoggedCommand[][] = []
  for (let at = 0; at < commands.length; at += BATCH) batches.push(commands.slice(at, at + BATCH))
  return batches
}

/** The blocks of a market's feed after those commands. */
export function blocksOf(commands: readonly LoggedCommand[]): StreamedBlock[] {
  const state = emptyMatcherState(openingOf(benchMarket()))
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
