import type { Database } from 'better-sqlite3'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeJournal, encodeJournal, JOURNAL_VERSION } from '../../bus-schemas/journal.js'
import { journalStream, journalSubject } from '../../bus-schemas/subjects.js'
import type {
  ClaimJournal,
  JournalOwner,
  TransactionJournal,
} from '../../core/transaction-journal.js'
import {
  Fenced,
  takeTerm,
  untilSilent,
  type Actor,
  type LeadershipTerm,
} from '../../runtime/actor/leadership.js'
import { BusUnavailable, type Bus } from '../../runtime/bus/bus.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import { whileUnavailable } from '../../runtime/bus/while-unavailable.js'
import type { Logger } from '../../runtime/process/log.js'
import { createEntryLog } from './append-entries.js'
import { createClaimJournal } from './claim-journal.js'
import { openFoldedFile, type FoldedFile } from './journal-file.js'
import { orGone, placeBefore, rebuildFile } from './rebuild-file.js'
import { createTransactionJournal } from './transaction-journal.js'
import { createTrimmer, type JournalTrimmer, type TrimPolicy } from './trim-journal.js'

/** Pause after a term that was not taken. */
const AGAIN_AFTER_MS = 250
/** Messages folded in one transaction. */
const FOLDED_AT_ONCE = 256

/** What the opening of a journal reports to its operator. */
export interface JournalObserver {
  /** Another process of the name sends; this one follows its journal. */
  readonly standingBy: (writer: string) => void
  /** This process is the only writer from now on. `rebuilt`: messages of the stream that were folded into the file. */
  readonly leads: (term: number, rebuilt: number) => void
  /** The outcome of an append has to be looked up. */
  readonly journalUnclear: (error: unknown) => void
  readonly versionRaised: (message: string) => void
  /** What was final and old is gone: the stream begins with this message now. */
  readonly trimmed: (firstSeq: number) => void
}

interface PublishedJournalOptions {
  /** The journal's file, locked by this process. */
  readonly db: Database
  readonly bus: Bus
  /** The process whose journal it is; the stream is named after it, and holds what all its keys have sent. */
  readonly owner: JournalOwner
  readonly facts: JournalObserver
  /** Another process has taken over, or the journal failed: this process must stop. */
  readonly onFatal: (error: unknown) => void
  /** Unix milliseconds; stamps entries. */
  readonly nowMs?: () => number
  /** Absent where nothing is to be trimmed. */
  readonly trimming?: TrimPolicy
  /** After so long without an answer another writer counts as gone; LEADER_SILENCE_MS by default. */
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
  /** As by JournalTrimmer. */
  readonly trim: JournalTrimmer['trim']
  /** Appends what can be appended within a moment; the rest is forgotten, as by a crash. */
  stop(): Promise<void>
}

/**
 * Opens the journal of a process. While another process writes it, this one stands by: it folds what that process appends,
 * and takes the next term once it is silent. What the file lacks is folded from the stream, so a file that
 * was deleted or is older is completed; from the stream's snapshot where the messages before it are gone. Throws JournalDiverged.
 */
export async function openPublishedJournal(
  options: PublishedJournalOptions,
): Promise<PublishedJournal> {
  const { bus, owner, facts } = options
  const stream = journalStream(owner)
  const file = await whileUnavailable(() => findFile(options, stream))
  const opening: JournalOpening = { options, actor: actorOf(options, stream), rebuilt: 0, file }
  await recordVersions(bus, new Map([[stream, JOURNAL_VERSION]]), facts.versionRaised)
  for (;;) {
    await untilUnled(opening)
    const leading = await takeOver(opening)
    if (leading !== undefined) return leading
    await delay(AGAIN_AFTER_MS)
  }
}

/** The process that writes the journal, as an actor whose log the journal is. */
const actorOf = (
  { bus, owner, facts, silenceMs }: PublishedJournalOptions,
  stream: string,
): Actor => ({
  bus,
  stream,
  silenceMs,
  name: owner,
  subject: journalSubject(owner),
  id: randomUUID(),
  termOf: (data) => decodeJournal(data).term,
  onUnknown: facts.journalUnclear,
})

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
    const found = await orGone(bus.read(stream, seq, 1))
    if (found === undefined) return placeBefore(bus, stream, seq)
    return found[0]?.seq === seq ? decodeJournal(found[0].data) : undefined
  }
  return openFoldedFile(db, { stream, streamEnd, messageAt })
}

interface JournalOpening {
  readonly options: PublishedJournalOptions
  readonly actor: Actor
  readonly file: FoldedFile
  rebuilt: number
  /** Whether it was told that another process writes. */
  isFollowing?: boolean
}

/** Folds the stream until no writer answers: at once where none listens, else when the silence has lasted. */
async function untilUnled(opening: JournalOpening): Promise<void> {
  await untilSilent(opening.actor, {
    mustLast: false,
    onLed: (writer) => {
      if (opening.isFollowing !== true) opening.options.facts.standingBy(writer)
      opening.isFollowing = true
    },
    meanwhile: () => isFolded(opening),
  })
}

/**
 * Folds what the stream holds beyond the file; false while the bus does not answer. Throws StreamMissing: where the stream was deleted, or
 * is made anew by another process, only a start compares the file with it again.
 */
async function isFolded(opening: JournalOpening): Promise<boolean> {
  try {
    await foldToEnd(opening)
    return true
  } catch (error) {
    if (error instanceof BusUnavailable) return false
    throw error
  }
}

async function foldToEnd(opening: JournalOpening): Promise<void> {
  const { options, actor, file } = opening
  for (;;) {
    const from = file.place().lastSeq + 1
    const read = await orGone(options.bus.read(actor.stream, from, FOLDED_AT_ONCE))
    if (read === undefined) {
      await rebuildFile(options.bus, actor.stream, file)
      continue
    }
    if (read.length === 0) return
    file.fold(read.map(({ seq, data }) => ({ seq, message: decodeJournal(data) })))
    opening.rebuilt += read.length
  }
}

/**
 * Undefined when another process has taken the journal meanwhile, or the bus does not answer: it elects new leaders just when
 * the writer is lost with a server.
 */
async function takeOver(opening: JournalOpening): Promise<PublishedJournal | undefined> {
  const { options, actor, file } = opening
  if (!(await isFolded(opening))) return undefined
  const { lastSeq, term: before } = file.place()
  const term = before + 1
  const writer = actor.id
  try {
    const message = encodeJournal({ term, writer, entries: [] })
    const lead = await takeTerm(actor, { term, lastSeq, message, onFenced: options.onFatal })
    file.commit([], { lastSeq: lead.firstSeq, term, writer }, [])
    options.facts.leads(term, opening.rebuilt)
    return write(opening, lead)
  } catch (error) {
    if (!(error instanceof Fenced)) throw error
    return undefined
  }
}

function write({ options, actor, file }: JournalOpening, lead: LeadershipTerm): PublishedJournal {
  const { db, bus, facts, onFatal, nowMs, trimming } = options
  const { stream, subject, id: writer } = actor
  const { term } = lead
  const log = createEntryLog({
    file,
    bus,
    stream,
    subject,
    term,
    writer,
    onUnknown: facts.journalUnclear,
    onFatal,
  })
  lead.writes(log.lastSeq)
  const journal = createTransactionJournal(db, nowMs, log)
  const claims = createClaimJournal(db, log, nowMs)
  const trimmer = createTrimmer({ db, bus, stream, log, onTrimmed: facts.trimmed })
  const { trim } = trimmer
  if (trimming !== undefined) trimmer.keepTrimming(trimming, nowMs ?? Date.now).catch(onFatal)
  return {
    journal,
    claims,
    term,
    trouble: log.trouble,
    trim,
    stop: async () => {
      await trimmer.stop()
      await log.stop()
      await lead.stop()
    },
  }
}

/** One log line for each fact of a journal on the bus. */
export function observeJournal(log: Logger): JournalObserver {
  return {
    standingBy: (writer) => log.info({ writer }, 'standing by: another process sends'),
    leads: (term, folded) => log.info({ term, folded }, 'sends from now on'),
    journalUnclear: (error) => log.warn({ err: error }, 'append to the journal unclear'),
    versionRaised: (message) => log.warn(message),
    trimmed: (first_seq) => log.info({ first_seq }, 'trimmed what was final and old'),
  }
}
