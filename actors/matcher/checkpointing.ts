import type { Bus } from '../../bus-schemas/bus.js'
import type { Checkpoint } from '../../bus-schemas/checkpoint-message.js'
import {
  CHECKPOINTS_KEPT,
  type StoredCheckpoint,
  writeCheckpoint,
} from '../../bus-schemas/checkpoint-store.js'
import { checkpointsStream, commandsStream } from '../../bus-schemas/subjects.js'
import type { MatcherFacts } from './observe.js'

export interface CheckpointSettings {
  /** A checkpoint is due after so many commands, or when the last one is so old, whichever comes first. */
  readonly everyCommands: number
  readonly everyMs: number
  /** The command log is kept at least so long, by the bus's clock, and at least from the oldest checkpoint on. */
  readonly keepCommandsMs: number
}

export const CHECKPOINT_SETTINGS: CheckpointSettings = {
  everyCommands: 100_000,
  everyMs: 600_000,
  keepCommandsMs: 7 * 86_400_000,
}

export interface CheckpointerOptions {
  readonly bus: Bus
  readonly market: string
  readonly settings: CheckpointSettings
  /** Those that are stored, newest first. */
  readonly stored: readonly StoredCheckpoint[]
  readonly facts: Pick<MatcherFacts, 'checkpointWritten' | 'checkpointFailed' | 'commandsTrimmed'>
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number
}

/** Writes checkpoints beside the matching, one at a time. */
export interface Checkpointer {
  /** Counts applied commands; when a checkpoint is due, takes one at once and writes it in the background. */
  applied(commands: number, capture: () => Checkpoint): void
  /** Gives up what is being written. */
  stop(): Promise<void>
}

/** A checkpoint that cannot be written is no reason to stop a market: it is reported, and the next one is due in time. */
export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  const { settings, facts, elapsedMs } = options
  let kept = options.stored
  let commands = 0
  let lastAtMs = elapsedMs()
  let writing: Promise<void> | undefined
  let stopped = false

  const write = async (checkpoint: Checkpoint): Promise<void> => {
    const startedAtMs = elapsedMs()
    const written = await writeCheckpoint(options.bus, checkpoint, () => stopped)
    if (written === undefined) return
    facts.checkpointWritten(written, Math.round(elapsedMs() - startedAtMs))
    kept = [written, ...kept].slice(0, CHECKPOINTS_KEPT)
    await trimBehind(options, kept)
  }
  return {
    applied(count, capture) {
      commands += count
      if (writing !== undefined || stopped) return
      const isDue = commands >= settings.everyCommands || elapsedMs() - lastAtMs >= settings.everyMs
      if (!isDue) return
      commands = 0
      lastAtMs = elapsedMs()
      writing = write(capture())
        .catch((error: unknown) => {
          if (!stopped) facts.checkpointFailed(error)
        })
        .finally(() => (writing = undefined))
    },
    stop: async () => {
      stopped = true
      await writing
    },
  }
}

/** Lets go of older checkpoints, and of the commands that neither a checkpoint nor the time to keep them needs. */
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
  const range = { firstSeq, endSeq: oldest.commandSeq + 1 }
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
