import { setTimeout as delay } from 'node:timers/promises'
import {
  checkBytes,
  checkCheckpoint,
  CheckpointUnusable,
  decodeInPieces,
  encodeCheckpoint,
  readPartNumber,
  readTrailer,
  type CheckpointCheck,
} from '../../bus-schemas/checkpoint.js'
import type { Checkpoint } from '../../bus-schemas/checkpoint-form.js'
import type { LogMarket } from '../../bus-schemas/commands.js'
import { MAX_MESSAGE_BYTES } from '../../bus-schemas/envelope.js'
import { checkpointsStream, checkpointsSubject } from '../../bus-schemas/subjects.js'
import { createLoopTurns, inTurns, type LoopTurns } from '../process/loop-turns.js'
import { MessagesGone, stateOrEmpty, type Bus, type BusMessage } from './bus.js'

/** Checkpoints kept per market; the command log reaches back to the oldest. */
export const CHECKPOINTS_KEPT = 3
/** More are stored only where some of them cannot be used. */
const CHECKPOINTS_LISTED = 4 * CHECKPOINTS_KEPT
/** Messages of a checkpoint per read. */
const READ_CHUNK = 64
/** The pause after a message of a checkpoint, as a multiple of the time it took: orders have the rest of process and bus. */
const PAUSE_PER_WORK = 3

/** The position of a checkpoint in its stream and the command of its trailer; not verified yet. */
export interface StoredCheckpoint {
  readonly firstSeq: number
  readonly trailerSeq: number
  readonly commandSeq: number
  /** When its trailer was stored, in unix milliseconds of the bus's clock. */
  readonly storedAtMs: number
}

/** Creates the stream of a market's checkpoints when absent. Throws as Bus.declareStream. */
export function declareCheckpoints(bus: Bus, market: string): Promise<void> {
  return bus.declareStream({
    stream: checkpointsStream(market),
    subject: checkpointsSubject(market),
    description: `States of the matcher of ${market}, the newest ${CHECKPOINTS_KEPT}`,
  })
}

/** The newest complete checkpoints, newest first, at most CHECKPOINTS_LISTED; none of a market that had no matcher yet. Whether they are whole is not known yet. */
export async function listCheckpoints(bus: Bus, market: string): Promise<StoredCheckpoint[]> {
  const stream = checkpointsStream(market)
  const { firstSeq, lastSeq } = await stateOrEmpty(bus, stream)
  const found: StoredCheckpoint[] = []
  for (let seq = lastSeq; seq >= firstSeq && found.length < CHECKPOINTS_LISTED;) {
    const [message] = await readKept(bus, stream, { seq, count: 1 })
    if (message === undefined) break
    const trailer = readTrailer(message.data)
    const start = seq - (trailer?.parts ?? readPartNumber(message.data) ?? 0)
    if (trailer !== undefined && start >= firstSeq) {
      const { storedAtMs } = message
      found.push({ firstSeq: start, trailerSeq: seq, commandSeq: trailer.commandSeq, storedAtMs })
    }
    // A checkpoint that would start before the stream is damaged; skip its last message only, not those before it.
    seq = start >= firstSeq ? start - 1 : seq - 1
  }
  return found
}

/** Reads messages; none when they were trimmed, which a newer checkpoint may cause at any moment. */
async function readKept(
  bus: Bus,
  stream: string,
  { seq, count }: { readonly seq: number; readonly count: number },
): Promise<BusMessage[]> {
  try {
    return await bus.read(stream, seq, count)
  } catch (error) {
    if (error instanceof MessagesGone) return []
    throw error
  }
}

/** How the pieces of the work on a checkpoint are carried out. */
export interface PieceOptions {
  /** By default they are of this call alone. */
  readonly turns?: LoopTurns
  readonly onPiece?: () => void
}

/** Reads a checkpoint, with pauses; `onPiece` is called before each piece of decoding. Throws CheckpointUnusable unless it is complete, of this market and of this build's version. */
export async function loadCheckpoint(
  bus: Bus,
  market: LogMarket,
  { firstSeq, trailerSeq }: StoredCheckpoint,
  { turns = createLoopTurns(), onPiece }: PieceOptions = {},
): Promise<Checkpoint> {
  const messages: Uint8Array[] = []
  while (firstSeq + messages.length <= trailerSeq) {
    const count = Math.min(READ_CHUNK, trailerSeq - firstSeq - messages.length + 1)
    const from = { seq: firstSeq + messages.length, count }
    const read = await readKept(bus, checkpointsStream(market.market), from)
    if (read.length === 0) throw new CheckpointUnusable('its messages are gone')
    messages.push(...read.map(({ data }) => data))
  }
  return inTurns(decodeInPieces(messages, market), turns, onPiece)
}

/**
 * Writes the messages of a checkpoint in succession and resolves once its trailer is durable; stops when `isOver` returns
 * true before a message. What is stored is read back before its trailer is written: throws CheckpointUnusable when a start could not
 * decode it. After an error, a lost acknowledgement or a message of another writer in between, the messages have no trailer
 * and are ignored. `onPiece` is called before each message is encoded.
 */
export async function writeCheckpoint(
  bus: Bus,
  checkpoint: Checkpoint,
  isOver: () => boolean,
  { turns = createLoopTurns(), onPiece = () => undefined }: PieceOptions = {},
): Promise<StoredCheckpoint | undefined> {
  const { market, commandSeq } = checkpoint
  const stream = checkpointsStream(market)
  const { lastSeq } = await bus.streamState(stream)
  const firstSeq = lastSeq + 1
  let trailerSeq = lastSeq
  const buffer = Buffer.allocUnsafeSlow(MAX_MESSAGE_BYTES)
  await turns.pause()
  onPiece()
  let startedAt = performance.now()
  for (const text of encodeCheckpoint(checkpoint)) {
    if (isOver()) return undefined
    const data = buffer.subarray(0, buffer.write(text))
    if (readTrailer(data) !== undefined) {
      const check = checkCheckpoint(checkpoint.state.identity)
      if (!(await takeStored(bus, stream, { firstSeq, trailerSeq: trailerSeq + 1, check, isOver })))
        return undefined
      check.close(data)
    }
    trailerSeq = await bus.append(checkpointsSubject(market), data, { expectedLastSeq: trailerSeq })
    await delay(PAUSE_PER_WORK * (performance.now() - startedAt))
    await turns.pause()
    onPiece()
    startedAt = performance.now()
  }
  const [trailer] = await bus.read(stream, trailerSeq, 1)
  if (trailer === undefined) return undefined
  return { firstSeq, trailerSeq, commandSeq, storedAtMs: trailer.storedAtMs }
}

/**
 * Reads a stored checkpoint while the process works; false when it is over before. Throws CheckpointUnusable when it is
 * not what its trailer says, or of no use to this build.
 */
export async function verifyStored(
  bus: Bus,
  market: LogMarket,
  { firstSeq, trailerSeq }: StoredCheckpoint,
  isOver: () => boolean,
): Promise<boolean> {
  const stream = checkpointsStream(market.market)
  const check = checkBytes(market)
  if (!(await takeStored(bus, stream, { firstSeq, trailerSeq, check, isOver }))) return false
  const [trailer] = await readKept(bus, stream, { seq: trailerSeq, count: 1 })
  check.close(trailer?.data ?? new Uint8Array())
  return true
}

interface TakenParts extends Pick<StoredCheckpoint, 'firstSeq' | 'trailerSeq'> {
  readonly check: CheckpointCheck
  readonly isOver: () => boolean
}

/** Takes the stored parts one by one, with pauses; false when it is over before. */
async function takeStored(
  bus: Bus,
  stream: string,
  { firstSeq, trailerSeq, check, isOver }: TakenParts,
): Promise<boolean> {
  for (let seq = firstSeq; seq < trailerSeq; seq += 1) {
    if (isOver()) return false
    const [message] = await readKept(bus, stream, { seq, count: 1 })
    if (message === undefined) throw new CheckpointUnusable('its messages are gone')
    const startedAt = performance.now()
    check.take(message.data)
    await delay(PAUSE_PER_WORK * (performance.now() - startedAt))
  }
  return true
}
