import type { Database } from 'better-sqlite3'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeJournal, encodeJournal, JOURNAL_VERSION } from '../../bus-schemas/journal.js'
import { askJournalWriter, journalStream, journalSubject } from '../../bus-schemas/subjects.js'
import type { JournalOwner, TransactionJournal } from '../../core/transaction-journal.js'
import { AnotherWriter, appendFenced } from '../../runtime/bus/append-fenced.js'
import { BusUnavailable, NoAnswer, type Bus, type Subscription } from '../../runtime/bus/bus.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import { whileUnavailable } from '../../runtime/bus/while-unavailable.js'
import type { Logger } from '../../runtime/process/log.js'
import { isPublishedIn, openPublication, type Publication } from './publication.js'
import { createPublisher } from './publisher.js'
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
  /** The file held entries that no stream has, of a time in which another process wrote; it is rebuilt. */
  readonly journalDiscarded: () => void
  /** The outcome of an append has to be looked up. */
  readonly journalUnclear: (error: unknown) => void
  readonly versionRaised: (message: string) => void
}

interface PublishedJournalOptions {
  /** The journal's file, locked by this process and opened with synchronous FULL. */
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

/** The journal of a process, in its file and on the bus, with this process as its only writer. */
export interface PublishedJournal {
  readonly journal: TransactionJournal
  /** Greater than that of every writer before. */
  readonly term: number
  /** Why nothing can be published now. */
  readonly trouble: () => string | undefined
  /** Publishes what can be published within a moment; the rest waits in the file. */
  stop(): Promise<void>
}

/**
 * Opens the journal of a process. While another process writes it, this one stands by: it folds what that process appends,
 * and takes over once it is silent for WRITER_SILENCE_MS. What the file lacks is folded from the stream, so a file that
 * was deleted is rebuilt; what the stream lacks is published. Throws JournalDiverged.
 */
export async function openPublishedJournal(
  options: PublishedJournalOptions,
): Promise<PublishedJournal> {
  const { bus, owner, facts } = options
  const stream = journalStream(owner)
  const publication = await whileUnavailable(() => findPublication(options, stream))
  const opening: Opening = { options, stream, writer: randomUUID(), rebuilt: 0, publication }
  await recordVersions(bus, new Map([[stream, JOURNAL_VERSION]]), facts.versionRaised)
  for (;;) {
    await untilUnled(opening)
    const leading = await takeOver(opening)
    if (leading !== undefined) return leading
    await delay(ASK_EVERY_MS)
  }
}

/** The publication of the file in the stream, which is created when absent. Rejects with BusUnavailable. */
async function findPublication(
  { db, bus, owner }: PublishedJournalOptions,
  stream: string,
): Promise<Publication> {
  await bus.declareStream({
    stream,
    subject: journalSubject(owner),
    description: `Transactions of ${owner}: what was signed, and what became of it`,
  })
  const { lastSeq } = await bus.streamState(stream)
  return openPublication(db, {
    ...{ stream, streamEnd: lastSeq },
    holdsEntries: !isPublishedIn(db, stream) && (await holdsEntries(bus, stream)),
  })
}

/** Takeovers alone are nothing that was sent. */
async function holdsEntries(bus: Pick<Bus, 'read'>, stream: string): Promise<boolean> {
  for (let next = 1; ;) {
    const read = await bus.read(stream, next, FOLDED_AT_ONCE)
    const last = read.at(-1)
    if (last === undefined) return false
    if (read.some(({ data }) => decodeJournal(data).entries.length > 0)) return true
    next = last.seq + 1
  }
}

interface Opening {
  readonly options: PublishedJournalOptions
  readonly stream: string
  readonly writer: string
  readonly publication: Publication
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
  const { options, stream, publication } = opening
  for (;;) {
    const from = publication.place().lastSeq + 1
    const read = await options.bus.read(stream, from, FOLDED_AT_ONCE)
    if (read.length === 0) return
    const messages = read.map(({ seq, data }) => ({ seq, message: decodeJournal(data) }))
    opening.rebuilt += messages.length
    if (publication.fold(messages) === 'discarded') {
      options.facts.journalDiscarded()
      opening.rebuilt = 0
    }
  }
}

/**
 * Undefined when another process has taken the journal meanwhile, or the bus does not answer: it elects new leaders just when
 * the writer is lost with a server.
 */
async function takeOver(opening: Opening): Promise<PublishedJournal | undefined> {
  const { options, stream, writer, publication } = opening
  const { bus, owner, facts } = options
  if (!(await isFolded(opening))) return undefined
  const term = publication.place().term + 1
  // One that starts meanwhile gets an answer. The queue has a name of its own: a deposed writer must not get the question.
  const answering = await bus.answer(askJournalWriter(owner), writer, (_, replyTo) => {
    bus.reply(replyTo, Buffer.from(`${writer} of term ${term}`))
  })
  try {
    const data = encodeJournal({ term, writer, entries: [] })
    const append = { bus, stream, subject: journalSubject(owner), onUnknown: facts.journalUnclear }
    const lastSeq = await appendFenced(append, data, publication.place().lastSeq)
    publication.published(0, { lastSeq, term })
    facts.leads(term, opening.rebuilt)
    return await lead(opening, term, answering)
  } catch (error) {
    await answering.stop()
    if (!(error instanceof AnotherWriter)) throw error
    return undefined
  }
}

async function lead(
  { options, stream, writer, publication }: Opening,
  term: number,
  answering: Subscription,
): Promise<PublishedJournal> {
  const { db, bus, owner, facts, onFatal, nowMs, silenceMs } = options
  const publisher = createPublisher({
    ...{ publication, bus, stream, subject: journalSubject(owner), term, writer },
    onUnknown: facts.journalUnclear,
    onFatal,
  })
  const journal = createTransactionJournal(db, nowMs, publisher)
  // Also what a file of an earlier release holds.
  publisher.wake()
  await journal.durable()
  const watching = watchTerm({
    ...{ bus, stream, term, lastSeq: publisher.lastSeq, onFatal, everyMs: silenceMs },
  })
  return {
    ...{ journal, term, trouble: publisher.trouble },
    stop: async () => {
      watching.stop()
      await answering.stop()
      await publisher.stop()
    },
  }
}

/** One log line for each fact of a journal on the bus. */
export function observeJournal(log: Logger): JournalFacts {
  return {
    standingBy: (writer) => log.info({ writer }, 'standing by: another process sends'),
    leads: (term, folded) => log.info({ term, folded }, 'sends from now on'),
    journalDiscarded: () =>
      log.warn('the journal has entries that its stream lacks; rebuilding it from the stream'),
    journalUnclear: (error) => log.warn({ err: error }, 'append to the journal unclear'),
    versionRaised: (message) => log.warn(message),
  }
}
