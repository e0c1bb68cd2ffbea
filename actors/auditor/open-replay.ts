import { type Bus, StreamMissing } from '../../bus-schemas/bus.js'
import { type Checkpoint, CheckpointUnusable } from '../../bus-schemas/checkpoint-message.js'
import { listCheckpoints, loadCheckpoint } from '../../bus-schemas/checkpoint-store.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import { restoreSnapshot } from '../../core/matcher-snapshot.js'
import { emptyMatcherState } from '../../core/matcher-state.js'
import type { Market } from '../../core/market.js'
import { extentOf } from './read-stream.js'
import { replayLog, type Replay } from './replay-log.js'

/** A replay, and from where on it says what the feed has to hold. */
export interface OpenReplay {
  readonly replay: Replay
  /** The last message of the feed that it does not give, 0 when it gives them all. */
  readonly afterMessage: number
  /** SHA-256 of that message in hex, as the checkpoint knows it. */
  readonly sha256?: string
}

/**
 * From the beginning of the market's log, or where that was trimmed from the oldest checkpoint that reaches it;
 * undefined when nothing does.
 */
export async function openReplay(bus: Bus, market: Market): Promise<OpenReplay | undefined> {
  const name = market.market
  const { firstSeq } = await extentOf(bus, commandsStream(name))
  if (firstSeq === 1) {
    const start = { state: emptyMatcherState(market), fromSeq: 1 }
    return { replay: replayLog(bus, name, start), afterMessage: 0 }
  }
  const checkpoint = await oldestCheckpoint(bus, name, firstSeq - 1)
  if (checkpoint === undefined) return undefined
  const { state, commandSeq, feed } = checkpoint
  const start = { state: restoreSnapshot(state), fromSeq: commandSeq + 1 }
  const { messageSeq: afterMessage, sha256 } = feed
  return { replay: replayLog(bus, name, start), afterMessage, sha256 }
}

async function oldestCheckpoint(
  bus: Bus,
  market: string,
  leastCommandSeq: number,
): Promise<Checkpoint | undefined> {
  for (const stored of (await storedCheckpoints(bus, market)).reverse()) {
    if (stored.commandSeq < leastCommandSeq) continue
    try {
      return await loadCheckpoint(bus, market, stored)
    } catch (error) {
      // The matcher, too, goes on to the next one.
      if (!(error instanceof CheckpointUnusable)) throw error
    }
  }
  return undefined
}

async function storedCheckpoints(bus: Bus, market: string) {
  try {
    return await listCheckpoints(bus, market)
  } catch (error) {
    if (error instanceof StreamMissing) return []
    throw error
  }
}
