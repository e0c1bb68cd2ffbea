import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Bus, type BusMessage, MessagesGone } from './bus.js'
import {
  type Checkpoint,
  CheckpointUnusable,
  decodeCheckpoint,
  encodeCheckpoint,
  readPartNumber,
  readSeal,
} from './checkpoint-message.js'
import { checkpointsStream, checkpointsSubject } from './subjects.js'

/** Checkpoints of a market that are kept; the command log reaches back to the oldest. */
export const CHECKPOINTS_KEPT = 3
/** Messages of a checkpoint that are read at a time. */
const READ_CHUNK = 64

/** Where a checkpoint stands in its stream, and how far its seal says it reaches; nothing of it is verified yet. */
export interface StoredCheckpoint {
  readonly firstSeq: number
  readonly sealSeq: number
  readonly commandSeq: number
  /** When its seal was stored, by the bus's clock, unix milliseconds. */
  readonly storedAtMs: number
}

/** Creates the stream of a market's checkpoints when it is absent. Throws as Bus.declareStream. */
export function declareCheckpoints(bus: Bus, market: string): Promise<void> {
  return bus.declareStream({
    stream: checkpointsStream(market),
    subject: checkpointsSubject(market),
    description: `States of the matcher of ${market}, the newest ${CHECKPOINTS_KEPT}`,
  })
}

/** The newest checkpoints that were finished, newest first, at most CHECKPOINTS_KEPT; what was left unfinished is skipped. */
export async function listCheckpoints(bus: Bus, market: string): Promise<StoredCheckpoint[]> {
  const stream = checkpointsStream(market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  const found: StoredCheckpoint[] = []
  for (let seq = lastSeq; seq >= firstSeq && found.length < CHECKPOINTS_KEPT;) {
    const [message] = await readKept(bus, stream, { seq, count: 1 })
    if (message === undefined) break
    const seal = readSeal(message.data)
    const start = seq - (seal?.parts ?? readPartNumber(message.data) ?? 0)
    if (seal !== undefined && start >= firstSeq) {
      const { storedAtMs } = message
      found.push({ firstSeq: start, sealSeq: seq, commandSeq: seal.command_seq, storedAtMs })
    }
    // What says that it begins before the stream does is damaged: it does not hide what stands before it.
    seq = start >= firstSeq ? start - 1 : seq - 1
  }
  return found
}

/** Nothing of what was trimmed behind a newer checkpoint, which may happen at any moment. */
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

/** Reads a checkpoint. Throws CheckpointUnusable unless it is whole, of this market and of this build's version. */
export async function loadCheckpoint(
  bus: Bus,
  market: string,
  { firstSeq, sealSeq }: StoredCheckpoint,
): Promise<Checkpoint> {
  const messages: Uint8Array[] = []
  while (firstSeq + messages.length <= sealSeq) {
    const count = Math.min(READ_CHUNK, sealSeq - firstSeq - messages.length + 1)
    const from = { seq: firstSeq + messages.length, count }
    const read = await readKept(bus, checkpointsStream(market), from)
    if (read.length === 0) throw new CheckpointUnusable('its messages are gone')
    messages.push(...read.map(({ data }) => data))
  }
  return decodeCheckpoint(messages, market)
}

/**
 * Writes a checkpoint, each message right after the one before, and resolves once its seal is durable; `isOver` is asked
 * before each whether to give up. What throws, or is given up, leaves messages without a seal, which count for nothing:
 * so does one whose acknowledgement was lost, or between whose messages somebody else wrote.
 */
export async function writeCheckpoint(
  bus: Bus,
  checkpoint: Checkpoint,
  isOver: () => boolean,
): Promise<StoredCheckpoint | undefined> {
  const { market, commandSeq } = checkpoint
  const stream = checkpointsStream(market)
  const { lastSeq } = await bus.streamState(stream)
  let sealSeq = lastSeq
  for (const data of encodeCheckpoint(checkpoint)) {
    if (isOver()) return undefined
    sealSeq = await bus.append(checkpointsSubject(market), data, { expectedLastSeq: sealSeq })
    await nextTurn()
  }
  const [seal] = await bus.read(stream, sealSeq, 1)
  if (seal === undefined) return undefined
  return { firstSeq: lastSeq + 1, sealSeq, commandSeq, storedAtMs: seal.storedAtMs }
}
