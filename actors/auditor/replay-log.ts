import { encodeBlock } from '../../bus-schemas/block-message.js'
import type { Bus } from '../../bus-schemas/bus.js'
import { commandsOf } from '../../bus-schemas/command-message.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import { applyMessage } from '../../core/apply-message.js'
import type { MatcherState } from '../../core/matcher-state.js'

/** Messages of the log that are folded ahead of what is asked for. */
const PAGE = 64

/** A market's command log folded afresh, one block at a time. */
export interface Replay {
  /** The next block's bytes; undefined while the log holds no further one. */
  next(): Promise<Uint8Array | undefined>
}

/**
 * Folds the log by the production step, from a message on that the state does not include, so that what comes out is
 * what the matcher has to have published.
 */
export function replayLog(
  bus: Pick<Bus, 'read'>,
  market: string,
  { state, fromSeq }: { readonly state: MatcherState; readonly fromSeq: number },
): Replay {
  let nextSeq = fromSeq
  const blocks: Uint8Array[] = []
  return {
    async next() {
      while (blocks.length === 0) {
        const messages = await bus.read(commandsStream(market), nextSeq, PAGE)
        if (messages.length === 0) return undefined
        for (const message of messages) {
          for (const { block } of applyMessage(state, message.seq, commandsOf(message))) {
            if (block !== undefined) blocks.push(encodeBlock(block))
          }
        }
        nextSeq += messages.length
      }
      return blocks.shift()
    },
  }
}
