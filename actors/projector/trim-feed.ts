import { decodeBlock } from '../../bus-schemas/blocks.js'
import { decodeTrimAnswer, encodeTrimQuestion } from '../../bus-schemas/operations.js'
import { askTrim, feedStream } from '../../bus-schemas/subjects.js'
import { changeOfSettlement } from '../../core/engine/match-id.js'
import { CheckpointUnusable } from '../../bus-schemas/checkpoint.js'
import type { Checkpoint } from '../../bus-schemas/checkpoint-form.js'
import { openFeedArchive } from '../../data/feed-archive.js'
import { claimsStoredTo } from '../../runtime/bus/ask-intake.js'
import { StreamMissing, type Bus } from '../../runtime/bus/bus.js'
import {
  CHECKPOINTS_KEPT,
  listCheckpoints,
  loadCheckpoint,
} from '../../runtime/bus/checkpoint-store.js'
import type { ArchiveOptions } from './archive-feed.js'

export interface TrimOptions extends Pick<ArchiveOptions, 'market' | 'settings'> {
  readonly bus: Bus
  /** Deletes what is below a sequence of the feed; by default the market's matcher is asked to. */
  readonly trim?: ((belowSeq: number) => Promise<void>) | undefined
}

/** The market's matcher does not trim its feed to there; the message says why. */
export class TrimRefused extends Error {
  override readonly name = 'TrimRefused'
}

const TRIM_TIMEOUT_MS = 10_000

async function askToTrim(bus: Bus, market: string, belowSeq: number): Promise<void> {
  const question = encodeTrimQuestion({ below_seq: belowSeq })
  const answer = decodeTrimAnswer(await bus.ask(askTrim(market), question, TRIM_TIMEOUT_MS))
  if (answer.kind === 'refused') throw new TrimRefused(answer.why)
}

/**
 * Trims a market's feed up to what is archived, as far as the oldest kept checkpoint, the claims that the intake has stored
 * and the matches without an outcome allow. Every archived segment is read from disk first. Resolves with the stream's first
 * message from then on, undefined when nothing is trimmed. Throws TrimRefused, and NoAnswer without a matcher.
 */
export async function trimFeed({
  bus,
  market,
  settings,
  trim = (belowSeq) => askToTrim(bus, market.market, belowSeq),
}: TrimOptions): Promise<number | undefined> {
  const stream = feedStream(market.market)
  const checkpoint = await oldestCheckpoint(bus, market)
  if (checkpoint === undefined) return undefined
  const { feed, state } = checkpoint
  const claimsTo = await claimsStoredTo(bus, market.market)
  const [oldestMatch] = state.matches
  const neededChange =
    oldestMatch === undefined ? Infinity : changeOfSettlement(oldestMatch.settlementId)
  const { firstSeq } = await bus.streamState(stream)
  const archive = openFeedArchive(settings.dir)
  let trimTo = firstSeq
  for (const segment of await archive.segments(stream)) {
    if (segment.last_seq >= feed.messageSeq || segment.last_change >= neededChange) break
    if (segment.last_seq < firstSeq) continue
    const last = (await archive.load(stream, segment)).at(-1)
    // Ids and nonces of trimmed placements are in intake.db, not only on their way into it.
    if (last === undefined || decodeBlock(last.data).commandSeq > claimsTo) break
    trimTo = segment.last_seq + 1
  }
  if (trimTo === firstSeq) return undefined
  await trim(trimTo)
  return trimTo
}

/** Undefined unless as many checkpoints are stored as are kept, and the oldest is whole. */
async function oldestCheckpoint(
  bus: Bus,
  market: TrimOptions['market'],
): Promise<Checkpoint | undefined> {
  try {
    const oldest = (await listCheckpoints(bus, market.market))[CHECKPOINTS_KEPT - 1]
    return oldest && (await loadCheckpoint(bus, market, oldest))
  } catch (error) {
    if (error instanceof CheckpointUnusable || error instanceof StreamMissing) return undefined
    throw error
  }
}
