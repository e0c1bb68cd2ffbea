import { createHash } from 'node:crypto'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { CheckpointUnusable } from '../../bus-schemas/checkpoint.js'
import { checkpointStateInPieces } from '../../bus-schemas/checkpoint-state.js'
import type { Checkpoint } from '../../bus-schemas/checkpoint-form.js'
import type { LogMarket } from '../../bus-schemas/commands.js'
import { checkpointsStream, commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { CannotStart } from '../../core/cannot-start.js'
import { assert } from '../../core/assert.js'
import { emptyMatcherState } from '../../core/engine/empty-state.js'
import type { Block } from '../../core/model/change.js'
import type { MatcherState } from '../../core/engine/state.js'
import { MessagesGone, type Bus, type BusMessage, type StreamState } from '../../runtime/bus/bus.js'
import {
  CHECKPOINTS_KEPT,
  listCheckpoints,
  loadCheckpoint,
  verifyStored,
  writeCheckpoint,
  type StoredCheckpoint,
} from '../../runtime/bus/checkpoint-store.js'
import { readOpening } from '../../runtime/bus/market-log.js'
import { inTurns, type LoopTurns } from '../../runtime/process/loop-turns.js'
import type { MatcherObserver } from './observe.js'
import type { MatcherSettings, CheckpointSettings } from './settings.js'

/**
 * The market's streams and its checkpoints contradict each other: one of them was restored from an older backup, belongs
 * to another venue, or was trimmed too far. Going on could give a seq a second content, so an operator has to look.
 */
export class StreamsDisagree extends CannotStart {
  override readonly name = 'StreamsDisagree'
}

/** A place in the feed. */
export interface FeedEnd {
  /** 0 for none. */
  readonly messageSeq: number
  readonly changeSeq: number
  /** The bytes of that message, empty when they are not stored any more. */
  readonly data: Uint8Array
}

/** Where comparing with the feed begins. */
export interface FeedStart {
  readonly end: FeedEnd
  /** Blocks before this one cannot be compared, because the feed's beginning was trimmed away. */
  readonly firstKept: Block | undefined
  /** Where the feed ended when this matcher started. */
  readonly endAtStart: Pick<FeedEnd, 'messageSeq' | 'changeSeq'>
}

/** The first phase: a state, and what of the log and the feed it includes. */
export interface RestoredMatcher {
  readonly state: MatcherState
  readonly commandSeq: number
  readonly feed: FeedStart
  /** The term of the checkpoint, 0 without one. */
  readonly term: number
  /** Newest first, from the newest that can be used on: what is older is as good, what is newer is not counted. */
  readonly checkpoints: readonly StoredCheckpoint[]
  /** Where the command log ended, at least as far as the feed reaches. */
  readonly logEnd: number
  /** When it was restored, in monotonic milliseconds. */
  readonly atMs: number
}

type CheckpointRestoreOptions = Pick<
  MatcherSettings,
  'bus' | 'market' | 'facts' | 'elapsedMs' | 'turns' | 'onStep'
>

/**
 * Restores the newest checkpoint that can be trusted, or else the empty state at the beginning of the log. Throws
 * StreamsDisagree when what is stored since cannot follow it.
 */
export async function restore(options: CheckpointRestoreOptions): Promise<RestoredMatcher> {
  const { bus, market, facts, elapsedMs } = options
  const found = await restoreState(options)
  if (found.commandSeq > 0) facts.restored(found.commandSeq)
  const feed = await findFeedStart(bus, market.market, found)
  // Read last, so that the log covers the feed.
  const { lastSeq: logEnd } = await bus.streamState(commandsStream(market.market))
  return { ...found, feed, logEnd, atMs: elapsedMs() }
}

type RestoredState = Pick<RestoredMatcher, 'state' | 'commandSeq' | 'term' | 'checkpoints'> & {
  readonly block: Pick<FeedEnd, 'messageSeq' | 'data'>
}

async function restoreState({
  bus,
  market,
  facts,
  turns,
  onStep: onPiece,
}: CheckpointRestoreOptions): Promise<RestoredState> {
  const checkpoints = await listCheckpoints(bus, market.market)
  // Read afterwards, so that the log covers them: a leader may write one meanwhile.
  const commands = await bus.streamState(commandsStream(market.market))
  for (const [place, stored] of checkpoints.entries()) {
    try {
      const checkpoint = await loadCheckpoint(bus, market, stored, { turns, onPiece })
      assertCovered(checkpoint, commands, market.market)
      const block = await lastBlockOf(bus, checkpoint)
      const { commandSeq, term } = checkpoint
      const state = await inTurns(checkpointStateInPieces(checkpoint), turns, onPiece)
      return { state, commandSeq, block, term, checkpoints: checkpoints.slice(place) }
    } catch (error) {
      if (!(error instanceof CheckpointUnusable)) throw error
      facts.checkpointUnusable(stored, error.message)
    }
  }
  if (commands.firstSeq > 1) {
    throw new StreamsDisagree(
      `${commandsStream(market.market)} begins at ${commands.firstSeq}, and no usable checkpoint reaches it`,
    )
  }
  const opening = await readOpening(bus, market)
  assert(opening !== undefined, `${commandsStream(market.market)} is empty`)
  const block = { messageSeq: 0, data: new Uint8Array() }
  return { state: emptyMatcherState(opening), commandSeq: 0, block, term: 0, checkpoints: [] }
}

/** Throws StreamsDisagree when the feed holds nothing from which its place could be read. */
async function findFeedStart(
  bus: Bus,
  market: string,
  { state, block }: RestoredState,
): Promise<FeedStart> {
  const stream = feedStream(market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  const end = { ...block, changeSeq: state.seq }
  const last = await bus.lastMessage(stream)
  if (last === undefined && lastSeq > end.messageSeq) {
    throw new StreamsDisagree(`${stream} was emptied at ${lastSeq}, so its last seq is not known`)
  }
  const endAtStart = last === undefined ? end : endOf(last)
  if (firstSeq <= end.messageSeq + 1) return { end, firstKept: undefined, endAtStart }
  const [first] = await bus.read(stream, firstSeq, 1)
  assert(first !== undefined, `${stream} does not give message ${firstSeq}`)
  const firstKept = decodeBlock(first.data)
  return { end: { ...end, messageSeq: firstSeq - 1 }, firstKept, endAtStart }
}

function endOf({ seq, data }: BusMessage): FeedStart['endAtStart'] {
  const { firstSeq, changes } = decodeBlock(data)
  return { messageSeq: seq, changeSeq: firstSeq + changes.length - 1 }
}

function assertCovered({ commandSeq }: Checkpoint, commands: StreamState, market: string): void {
  const stream = commandsStream(market)
  if (commands.lastSeq < commandSeq) {
    throw new StreamsDisagree(
      `${stream} ends at ${commands.lastSeq}, but a checkpoint includes ${commandSeq}: it was rolled back`,
    )
  }
  if (commands.firstSeq > commandSeq + 1) {
    throw new StreamsDisagree(
      `${stream} begins at ${commands.firstSeq}, but the newest usable checkpoint ends at ${commandSeq}`,
    )
  }
}

/** The feed's message at the checkpoint's place, which must be the one that stood there. */
async function lastBlockOf(
  bus: Bus,
  { market, feed }: Checkpoint,
): Promise<RestoredState['block']> {
  const { messageSeq, sha256 } = feed
  if (messageSeq === 0) return { messageSeq, data: new Uint8Array() }
  const stream = feedStream(market)
  const { lastSeq } = await bus.streamState(stream)
  if (lastSeq < messageSeq) {
    throw new StreamsDisagree(
      `${stream} ends at ${lastSeq}, but a checkpoint knows message ${messageSeq}: it was rolled back`,
    )
  }
  const data = await retained(bus, stream, messageSeq)
  if (data !== undefined && sha256Of(data) !== sha256) {
    throw new StreamsDisagree(
      `${stream} holds another message ${messageSeq} than the checkpoint knows`,
    )
  }
  return { messageSeq, data: data ?? new Uint8Array() }
}

async function retained(bus: Bus, stream: string, seq: number): Promise<Uint8Array | undefined> {
  try {
    return (await bus.read(stream, seq, 1))[0]?.data
  } catch (error) {
    if (error instanceof MessagesGone) return undefined
    throw error
  }
}

/** In hex. */
export const sha256Of = (data: Uint8Array): string =>
  createHash('sha256').update(data).digest('hex')

export interface CheckpointerOptions {
  readonly bus: Bus
  readonly market: string
  readonly settings: CheckpointSettings
  /** Those that are stored, newest first. */
  readonly stored: readonly StoredCheckpoint[]
  /** From when on the age of the last one counts, in monotonic milliseconds. */
  readonly sinceMs: number
  /** The last message of the log whose claims the intake has stored; 0 while that is not known. */
  readonly claimsStoredTo: () => Promise<number>
  readonly facts: Pick<
    MatcherObserver,
    'checkpointWritten' | 'checkpointFailed' | 'checkpointUnusable' | 'commandsTrimmed'
  >
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number
  readonly turns?: LoopTurns
  /** Called before each message of a checkpoint is encoded. */
  readonly onPiece?: () => void
}

/** A checkpoint that is read while the market goes on. */
export interface CapturedCheckpoint {
  readonly checkpoint: Checkpoint
  /** Call when it is written, or given up. */
  readonly release: () => void
}

/** Writes checkpoints while matching goes on, one at a time. */
export interface Checkpointer {
  /** Counts applied commands; when a checkpoint is due, captures it and writes it in the background. */
  applied(commands: number, capture: () => CapturedCheckpoint): void
  /** Gives up what is being written. */
  stop(): Promise<void>
}

/**
 * When the first checkpoint of a market is due, between half of the time between two and all of it: those of the markets that one
 * process has restored at once would be written at once too, each time.
 */
function firstAfterMs(market: string, everyMs: number): number {
  const share = createHash('sha256').update(market).digest().readUInt16BE(0) / 2 ** 16
  return Math.ceil(everyMs * (1 - share / 2))
}

/**
 * A checkpoint that cannot be written is no reason to stop a market: it is reported, and the next one is due in time. One that
 * cannot be used counts as none, so that nothing is deleted before as many as are kept can.
 */
export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  const { settings, facts, elapsedMs } = options
  /** Whole, newest first. */
  let kept: readonly StoredCheckpoint[] = []
  let unverified = options.stored
  let commands = 0
  let lastAtMs = options.sinceMs
  let dueAfterMs = firstAfterMs(options.market, settings.everyMs)
  let writing: Promise<void> | undefined
  let stopped = false

  const isUsable = async (market: LogMarket, stored: StoredCheckpoint): Promise<boolean> => {
    try {
      return await verifyStored(options.bus, market, stored, () => stopped)
    } catch (error) {
      if (!(error instanceof CheckpointUnusable)) throw error
      facts.checkpointUnusable(stored, error.message)
      return false
    }
  }
  const write = async (checkpoint: Checkpoint): Promise<void> => {
    const startedAtMs = elapsedMs()
    const written = await writeCheckpoint(options.bus, checkpoint, () => stopped, options)
    if (written === undefined) return
    facts.checkpointWritten(written, Math.round(elapsedMs() - startedAtMs))
    kept = [written, ...kept].slice(0, CHECKPOINTS_KEPT)
    // Those of earlier processes count once they are known to be whole.
    for (const older of unverified) {
      if (kept.length === CHECKPOINTS_KEPT) break
      const isWhole = await isUsable(checkpoint.state.identity, older)
      if (stopped) return
      if (isWhole) kept = [...kept, older]
      unverified = unverified.slice(1)
    }
    await trimBehind(options, kept)
  }
  return {
    applied(count, capture) {
      commands += count
      if (writing !== undefined || stopped) return
      const isDue = commands >= settings.everyCommands || elapsedMs() - lastAtMs >= dueAfterMs
      if (!isDue) return
      dueAfterMs = settings.everyMs
      commands = 0
      lastAtMs = elapsedMs()
      const { checkpoint, release } = capture()
      writing = write(checkpoint)
        .catch((error: unknown) => {
          if (!stopped) facts.checkpointFailed(error)
        })
        .finally(() => {
          release()
          writing = undefined
        })
    },
    stop: async () => {
      stopped = true
      await writing
    },
  }
}

/**
 * Deletes older checkpoints, and the commands that neither a checkpoint nor the intake needs and that have been kept for long
 * enough.
 */
async function trimBehind(
  options: CheckpointerOptions,
  kept: readonly StoredCheckpoint[],
): Promise<void> {
  const { bus, market, settings, facts } = options
  const [newest] = kept
  const oldest = kept[CHECKPOINTS_KEPT - 1]
  if (newest === undefined || oldest === undefined) return
  await bus.trim(checkpointsStream(market), oldest.firstSeq)
  const stream = commandsStream(market)
  const { firstSeq } = await bus.streamState(stream)
  const beforeMs = newest.storedAtMs - settings.keepCommandsMs
  const neededFrom = Math.min(oldest.commandSeq, await options.claimsStoredTo()) + 1
  const range = { firstSeq, endSeq: neededFrom }
  const trimTo = await firstNotBefore(bus, stream, range, beforeMs)
  if (trimTo <= firstSeq) return
  await bus.trim(stream, trimTo)
  facts.commandsTrimmed(trimTo)
}

/** The first message of a range that was stored at that moment or later; the range's end when all of it is older. */
async function firstNotBefore(
  bus: Bus,
  stream: string,
  range: { readonly firstSeq: number; readonly endSeq: number },
  momentMs: number,
): Promise<number> {
  let low = range.firstSeq
  let high = Math.max(range.endSeq, low)
  // The first is looked at first, because nearly always it is young enough.
  for (let at = low; low < high; at = Math.floor((low + high) / 2)) {
    const [message] = await bus.read(stream, at, 1)
    if (message !== undefined && message.storedAtMs < momentMs) low = at + 1
    else high = at
  }
  return low
}
