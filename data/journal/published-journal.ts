import type { Database } from 'better-sqlite3'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeJournal, encodeJournal, JOURNAL_VERSION } from '../../bus-schemas/journal.js'
import { askJournalWriter, journalStream, journalSubject } from '../../bus-schemas/subjects.js'
import type {
  ClaimJournal,
  JournalOwner,
  TransactionJournal,
} from '../../core/transaction-journal.js'
import { AnotherWriter, appendFenced } from '../../runtime/bus/append-fenced.js'
import { BusUnavailable, NoAnswer, type Bus, type Subscription } from '../../runtime/bus/bus.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import { whileUnavailable } from '../../runtime/bus/while-unavailable.js'
import type { Logger } from '../../runtime/process/log.js'
import { createEntryLog } from './append-entries.js'
import { createClaimJournal } from './claim-journal.js'
import { openFoldedFile, type FoldedFile } from './journal-file.js'
import { createTransactionJournal } from './transaction-journal.js'
import { watchTerm } from './watch-term.js'

/** How long a writer may be silent until it counts as gone. */
const WRITER_SILENCE_MS = 3_000
const ASK_EVERY_MS = 250
/** Messages folded in one transaction. */
const FOLDED_AT_ONCE = 256

/** What the opening of a journal reports to its operator. */
export interface JournalFacts {
  /** Another process of the name sends; this one follows its journal. */
  readonly standingBy: (writer: string) => void
  /** This process is the only writer from now on. `rebuilt`: messages of the stream that were folded into the file. */
  readonly leads: (term: number, rebuilt: number) => void
  /** The outcome of an append has to be looked up. */
  readonly journalUnclear: (error: unknown) => void
  readonly versionRaised: (message: string) => void
}

interface PublishedJournalOptions {
  /** The journal's file, locked by this process. */
  readonly db: Database
  readonly bus: Bus
  /** The process whose journal it is; the stream is named after it, and holds what all its keys have sent. */
  readonly owner: JournalOwner
  readonly facts: JournalFacts
  /** Another process has taken over, or the journal failed: this process must stop. */
  readonly onFatal: (error: unknown) => void
  /** Unix milliseconds; stamps entries. */
  readonly nowMs?: () => number
  /** After so long without an answer another writer counts as gone; for tests, as how often a writer looks for a later one. */
  readonly silenceMs?: number
}

/** The journal of a process, in its stream and folded into its file, with this process as its only writer. */
export interface PublishedJournal {
  readonly journal: TransactionJournal
  /** Of a submitter. */
  readonly claims: ClaimJournal
  /** Greater than that of every writer before. */
  readonly term: number
  /** Why nothing can be appended now. */
  readonly trouble: () => string | undefined
  /** Appends what can be appended within a moment; the rest is forgotten, as by a crash. */
  stop(): Promise<void>
}

/**
 * Opens the journal of a process. While another process writes it, this one stands by: it folds what that process appends,
 * and takes over once it is silent for WRITER_SILENCE_MS. What the file lacks is folded from the stream, so a file that
 * was deleted or is older is completed. Throws JournalDiverged.
 */
export async function openPublishedJournal(
  options: PublishedJournalOptions,
): Promise<PublishedJournal> {
  const { bus, owner, facts } = options
  const stream = journalStream(owner)
  const file = await whileUnavailable(() => findFile(options, stream))
  const opening: Opening = { options, stream, writer: randomUUID(), rebuilt: 0, file }
  await recordVersions(bus, new Map([[stream, JOURNAL_VERSION]]), facts.versionRaised)
  for (;;) {
    await untilUnled(opening)
    const leading = await takeOver(opening)
    if (leading !== undefined) return leading
    await delay(ASK_EVERY_MS)
  }
}

/** The file as the fold of the stream, which is created when absent. Rejects with BusUnavailable. */
async function findFile(
  { db, bus, owner }: PublishedJournalOptions,
  stream: string,
): Promise<FoldedFile> {
  await bus.declareStream({
    stream,
    subject: journalSubject(owner),
    description: `Transactions of ${owner}: what was signed, and what became of it`,
  })
  const { lastSeq: streamEnd } = await bus.streamState(stream)
  const messageAt = async (seq: number) => {
    const [found] = await bus.read(stream, seq, 1)
    return found?.seq === seq ? decodeJournal(found.data) : undefined
  }
  return openFoldedFile(db, { stream, streamEnd, messageAt })
}

interface Opening {
  readonly options: PublishedJournalOptions
  readonly stream: string
  readonly writer: string
  readonly file: FoldedFile
  rebuilt: number
}

/** Folds the stream until no writer answers. The first silence counts at once, one after an answer only when it lasts. */
async function untilUnled(opening: Opening): Promise<void> {
  const { facts, silenceMs = WRITER_SILENCE_MS } = opening.options
  let heardAtMs = -Infinity
  for (;;) {
    const writer = await askWriter(opening)
    if (writer !== undefined) {
      if (heardAtMs === -Infinity) facts.standingBy(writer)
      heardAtMs = performance.now()
    } else if (performance.now() - heardAtMs >= silenceMs) return
    await isFolded(opening)
    await delay(ASK_EVERY_MS)
  }
}

async function askWriter({ options }: Opening): Promise<string | undefined> {
  const { bus, owner, silenceMs = WRITER_SILENCE_MS } = options
  try {
    const answer = await bus.ask(askJournalWriter(owner), new Uint8Array(), silenceMs)
    return Buffer.from(answer).toString('utf8')
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}

/** Folds what the stream holds beyond the file; false while the bus does not answer. */
async function isFolded(opening: Opening): Promise<boolean> {
  try {
    await foldToEnd(opening)
    return true
  } catch (error) {
    if (error instanceof BusUnavailable) return false
    throw error
  }
}

async function foldToEnd(opening: Opening): Promise<void> {
  const { options, stream, file } = opening
  for (;;) {
    const from = file.place().lastSeq + 1
    const read = await options.bus.read(stream, from, FOLDED_AT_ONCE)
    if (read.length === 0) return
    file.fold(read.map(({ seq, data }) => ({ seq, message: decodeJournal(data) })))
    opening.rebuilt += read.length
  }
}

/**
 * Undefined when another process has taken the journal meanwhile, or the bus does not answer: it elects new leaders just when
 * the writer is lost with a server.
 */
async function takeOver(opening: Opening): Promise<PublishedJournal | undefined> {
  const { options, stream, writer, file } = opening
  const { bus, owner, facts } = options
  if (!(await isFolded(opening))) return undefined
  const term = file.place().term + 1
  // One that starts meanwhile gets an answer. The queue has a name of its own: a deposed writer must not get the question.
  const answering = await bus.answer(askJournalWriter(owner), writer, (_, replyTo) => {
    bus.reply(replyTo, Buffer.from(`${writer} of term ${term}`))
  })
  try {
    const data = encodeJournal({ term, writer, entries: [] })
    const append = { bus, stream, subject: journalSubject(owner), onUnknown: facts.journalUnclear }
    const lastSeq = await appendFenced(append, data, file.place().lastSeq)
    file.commit([], { lastSeq, term, writer }, [])
    facts.leads(term, opening.rebuilt)
    return lead(opening, term, answering)
  } catch (error) {
    await answering.stop()
    if (!(error instanceof AnotherWriter)) throw error
    return undefined
  }
}

function lead(
  { options, stream, writer, file }: Opening,
  term: number,
  answering: Subscription,
): PublishedJournal {
  const { db, bus, owner, facts, onFatal, nowMs, silenceMs } = options
  const log = createEntryLog({
    ...{ file, bus, stream, subject: journalSubject(owner), term, writer },
    onUnknown: facts.journalUnclear,
    onFatal,
  })
  const journal = createTransactionJournal(db, nowMs, log)
  const claims = createClaimJournal(db, log, nowMs)
  const watching = watchTerm({
    ...{ bus, stream, term, lastSeq: log.lastSeq, onFatal, everyMs: silenceMs },
  })
  return {
    ...{ journal, claims, term, trouble: log.trouble },
    stop: async () => {
      watching.stop()
      await answering.stop()
      await log.stop()
    },
  }
}

/** One log line for each fact of a journal on the bus. */
export function observeJournal(log: Logger): JournalFacts {
  return {
    standingBy: (writer) => log.info({ writer }, 'standing by: another process sends'),
    leads: (term, folded) => log.info({ term, folded }, 'sends from now on'),
    journalUnclear: (error) => log.warn({ err: error }, 'append to the journal unclear'),
    versionRaised: (message) => log.warn(message),
  }
}
