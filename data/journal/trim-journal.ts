import type { Database } from 'better-sqlite3'
import { setTimeout as delay } from 'node:timers/promises'
import { snapshotRowBytes } from '../../bus-schemas/journal.js'
import { crash } from '../../core/crash-point.js'
import { exactNumber } from '../../core/decimal.js'
import type { SnapshotRow, StreamPlace } from '../../core/transaction-journal.js'
import { mayBeReadLater, MessagesGone, type Bus } from '../../runtime/bus/bus.js'
import { whileUnavailable } from '../../runtime/bus/while-unavailable.js'
import type { EntryLog } from './append-entries.js'
import { openJournalFile } from './journal-file.js'
import { readPlace, readRows } from './journal-snapshot.js'
import { trimEntries } from './trimmed-rows.js'

/**
 * How a journal's stream stays short. What is final and old is dropped from the rows by entries like any other. Then a snapshot of
 * the rows is appended, in parts between other messages, and with its last part in the stream all messages before it are deleted.
 * A crash before that deletion leaves a stream that is folded as before; a later look begins again.
 */

export interface TrimPolicy {
  /** What is final is trimmed once it is so old. */
  readonly keptMs: number
  /** Pause between two looks whether there is enough to trim. */
  readonly lookEveryMs: number
  /** The least number of messages that are worth a snapshot. */
  readonly leastMessages: number
}

/** Of the processes that send. */
export const TRIMMING: TrimPolicy = {
  keptMs: 30 * 86_400_000,
  lookEveryMs: 600_000,
  leastMessages: 1_024,
}

/**
 * A snapshot repeats every intent for ever, at about an eighth of what its messages took. So many more messages have to be old for
 * each intent that a snapshot is not larger than what is deleted behind it.
 */
const INTENTS_A_MESSAGE = 8n

/** Bytes of rows in one part. */
const PART_BYTES = 256 * 1024

export interface TrimmerOptions {
  /** The journal's file, which this process writes. */
  readonly db: Database
  readonly bus: Pick<Bus, 'streamState' | 'read' | 'trim'>
  readonly stream: string
  readonly log: Pick<EntryLog, 'record' | 'durable' | 'appendPart'>
  /** The stream begins with this message from now on. */
  readonly onTrimmed: (firstSeq: number) => void
}

export interface JournalTrimmer {
  /**
   * Trims what is final and older than `beforeMs`, unix milliseconds, behind a snapshot. Resolves with false when it was stopped
   * before, or the bus did not answer. One call at a time.
   */
  readonly trim: (beforeMs: number) => Promise<boolean>
  /** Trims when it is worth it, until it is stopped. Rejects when the journal failed. */
  keepTrimming(trimming: TrimPolicy, nowMs: () => number): Promise<void>
  stop(): Promise<void>
}

export function createTrimmer(options: TrimmerOptions): JournalTrimmer {
  const { bus, stream, log, db, onTrimmed } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<unknown> = Promise.resolve()

  async function trimOnce(beforeMs: number): Promise<boolean> {
    if (signal.aborted) return false
    const stopped = onceAborted(signal)
    for (const entry of trimEntries(db, beforeMs)) {
      log.record(entry)
      if ((await Promise.race([log.durable(), stopped])) === STOPPED) return false
    }
    crash('trim.before_snapshot')
    const place = await writeSnapshot(options, stopped)
    if (place === undefined) return false
    crash('trim.after_snapshot_before_deletion')
    const firstSeq = place.lastSeq + 1
    const trimmed = whileUnavailable(() => bus.trim(stream, firstSeq)).then(() => true, unanswered)
    const outcome = await Promise.race([trimmed, stopped])
    if (outcome !== true) return false
    crash('trim.after_deletion')
    onTrimmed(firstSeq)
    return true
  }

  const trim = (beforeMs: number): Promise<boolean> => {
    const trimming = trimOnce(beforeMs)
    running = trimming.catch(() => undefined)
    return trimming
  }

  return {
    trim,
    async keepTrimming(trimming, nowMs) {
      while (!signal.aborted) {
        await delay(trimming.lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined)
        if (signal.aborted) return
        const beforeMs = nowMs() - trimming.keptMs
        if (await isWorthIt(options, trimming, beforeMs)) await trim(beforeMs)
      }
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

const STOPPED = Symbol('stopped')

const onceAborted = (signal: AbortSignal): Promise<typeof STOPPED> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(STOPPED)
    signal.addEventListener('abort', () => resolve(STOPPED), { once: true })
  })

/** The next look begins again. */
function unanswered(error: unknown): false {
  if (mayBeReadLater(error)) return false
  throw error
}

/** Whether enough of the stream's oldest messages are older than that. */
async function isWorthIt(
  { bus, stream, db }: TrimmerOptions,
  { leastMessages }: TrimPolicy,
  beforeMs: number,
): Promise<boolean> {
  const newest = db.prepare<[], bigint | null>('SELECT max(rowid) FROM intents').pluck().get()
  const least = leastMessages + exactNumber((newest ?? 0n) / INTENTS_A_MESSAGE)
  try {
    const { firstSeq, lastSeq } = await bus.streamState(stream)
    const seq = firstSeq + least
    if (seq > lastSeq) return false
    const [message] = await bus.read(stream, seq, 1)
    return message !== undefined && message.storedAtMs < beforeMs
  } catch (error) {
    if (mayBeReadLater(error) || error instanceof MessagesGone) return false
    throw error
  }
}

/**
 * Appends what the file holds as a snapshot, and resolves with the place of which it is; with undefined when it was stopped before.
 * The rows are read by a connection of its own, in one read transaction: the file moves on meanwhile.
 */
async function writeSnapshot(
  { db, log }: TrimmerOptions,
  stopped: Promise<typeof STOPPED>,
): Promise<StreamPlace | undefined> {
  const reader = openJournalFile(db.name, { readonly: true })
  try {
    reader.exec('BEGIN')
    const place = readPlace(reader)
    for (const part of partsOf(readRows(reader), place)) {
      if ((await Promise.race([log.appendPart(part), stopped])) === STOPPED) return undefined
      if (!part.isLast) crash('trim.in_snapshot')
    }
    return place
  } finally {
    reader.close()
  }
}

/** At least one part. */
function* partsOf(rows: Iterable<SnapshotRow>, place: StreamPlace) {
  let no = 1
  let part: SnapshotRow[] = []
  let bytes = 0
  for (const row of rows) {
    const added = snapshotRowBytes(row)
    if (part.length > 0 && bytes + added > PART_BYTES) {
      yield { place, no, isLast: false, rows: part }
      no += 1
      part = []
      bytes = 0
    }
    part.push(row)
    bytes += added
  }
  yield { place, no, isLast: true, rows: part }
}
