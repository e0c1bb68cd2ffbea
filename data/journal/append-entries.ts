import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeJournal } from '../../bus-schemas/journal.js'
import { assert } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import type { Hex } from '../../core/action.js'
import type { JournalEntry, SnapshotPart, EntrySink } from '../../core/transaction-journal.js'
import { Fenced } from '../../runtime/actor/leadership.js'
import { AnotherWriter, appendFenced } from '../../runtime/bus/append-fenced.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { JournalUnwritable, type FoldedFile } from './journal-file.js'

/** Most bytes of one message, so that it stays below the server's limit; one entry alone may be longer. */
const MESSAGE_SIZE = 512 * 1024
const MAX_ENTRIES_OF_MESSAGE = 512
/**
 * With so many entries that the bus does not take nothing new is signed, refused or claimed. Outcomes of what was signed are recorded
 * on: the transactions that a sender follows bound them.
 */
const MAX_WAITING = 4_096
/** Longest wait of a stop for appends in flight. */
const STOP_WITHIN_MS = 1_000

export interface EntryLogOptions {
  readonly file: FoldedFile
  readonly bus: Pick<Bus, 'append' | 'lastMessage'>
  readonly stream: string
  readonly subject: string
  readonly term: number
  readonly writer: string
  readonly onUnknown: (error: unknown) => void
  readonly onFatal: (error: unknown) => void
}

/**
 * Appends a journal's entries to its stream in their order, each message fenced by the one before and one at a time, and
 * commits their rows once the stream has them.
 */
export interface EntryLog extends EntrySink {
  readonly trouble: () => string | undefined
  /** The stream's message behind which the next one is appended. */
  readonly lastSeq: () => number
  /**
   * Appends a part of a snapshot between the messages of entries. Resolves once the stream has it; does not resolve after `stop`.
   * One call at a time.
   */
  appendPart(part: SnapshotPart): Promise<void>
  /** Entries that cannot be appended soon are forgotten: nothing was broadcast or told for them. */
  stop(): Promise<void>
}

/** What waits while one message is in flight goes into the next one: a message for each group, however many entries. */
export function createEntryLog(options: EntryLogOptions): EntryLog {
  const { file, onFatal } = options
  const waiting = createWaitingEntries()
  const parts = createNextPart()
  let running: Promise<void> | undefined
  let over = false
  const messages = createMessages(options, { waiting, parts, isOver: () => over })
  const isIdle = (): boolean => waiting.count() === 0 && parts.next() === undefined

  function wake(): void {
    if (running !== undefined || over) return
    running = drain().catch(fail)
    void running.then(() => {
      running = undefined
      if (!over && !isIdle()) wake()
    })
  }

  function fail(error: unknown): void {
    // The work that a stop interrupts fails too.
    if (!over) onFatal(error)
    over = true
  }

  async function drain(): Promise<void> {
    // Let a turn's entries gather: a poll of the chain records many outcomes at once.
    await nextTurn()
    while (!over && !isIdle()) {
      if (waiting.count() > 0) await messages.appendEntries()
      if (!over) await messages.appendPart()
    }
  }

  return {
    record(entry) {
      const isNew = ['signed', 'refused', 'claimed'].includes(entry.kind)
      if (isNew && waiting.count() >= MAX_WAITING)
        throw new JournalUnwritable('the bus does not take the journal')
      const reversals = file.apply(entry)
      waiting.add(entry)
      queueMicrotask(wake)
      return reversals
    },
    durable: () => waiting.gone(),
    isDurable: (hash) => !waiting.holds(hash),
    trouble: messages.trouble,
    lastSeq: messages.lastSeq,
    appendPart(part) {
      const gone = parts.put(part)
      wake()
      return gone
    },
    async stop() {
      await Promise.race([running, soon(STOP_WITHIN_MS)])
      over = true
      waiting.forgetCallers()
      file.forget()
    },
  }
}

interface PendingAppend {
  readonly waiting: ReturnType<typeof createWaitingEntries>
  readonly parts: ReturnType<typeof createNextPart>
  readonly isOver: () => boolean
}

/** Appends what is pending, a message at a time, and commits it. */
function createMessages(options: EntryLogOptions, { waiting, parts, isOver }: PendingAppend) {
  const { file, term, writer } = options
  let { lastSeq } = file.place()
  const { append, trouble } = createAppends(options)

  async function appendEntries(): Promise<void> {
    const { data, count } = messageOf(waiting.first(MAX_ENTRIES_OF_MESSAGE), { term, writer })
    lastSeq = await append(data, lastSeq)
    if (isOver()) return
    const ahead = waiting.first(waiting.count()).slice(count)
    file.commit(waiting.first(count), { lastSeq, term, writer }, ahead)
    waiting.drop(count)
  }

  async function appendPart(): Promise<void> {
    const snapshot = parts.next()
    if (snapshot === undefined) return
    lastSeq = await append(encodeJournal({ term, writer, entries: [], snapshot }), lastSeq)
    if (isOver()) return
    file.commit([], { lastSeq, term, writer }, waiting.first(waiting.count()))
    parts.drop()
  }

  return { appendEntries, appendPart, trouble, lastSeq: () => lastSeq }
}

/** The part of a snapshot that is to be appended next; at most one. */
function createNextPart() {
  let next: { readonly part: SnapshotPart; readonly resolve: () => void } | undefined
  return {
    next: () => next?.part,
    /** Resolves once it is in the stream. */
    put: (part: SnapshotPart) =>
      new Promise<void>((resolve) => {
        assert(next === undefined, 'a part of a snapshot is being appended')
        next = { part, resolve }
      }),
    /** It is in the stream. */
    drop(): void {
      next?.resolve()
      next = undefined
    },
  }
}

/** The next message: of all these, or of the first half of them, until it is short enough. */
function messageOf(
  waiting: readonly JournalEntry[],
  { term, writer }: Pick<EntryLogOptions, 'term' | 'writer'>,
): { readonly data: Uint8Array; readonly count: number } {
  for (let count = waiting.length; ; count = Math.ceil(count / 2)) {
    const data = encodeJournal({ term, writer, entries: waiting.slice(0, count) })
    if (count === 1 || data.length <= MESSAGE_SIZE) return { data, count }
  }
}

/** Appends one message behind the given one, and says why that does not go on. */
function createAppends({ bus, stream, subject, ...options }: EntryLogOptions) {
  let trouble: string | undefined
  const onUnknown = (error: unknown): void => {
    trouble = 'the bus does not take the journal'
    options.onUnknown(error)
  }
  const onSent = (): void => crash('journal.after_append_before_ack')
  const append = async (data: Uint8Array, lastSeq: number): Promise<number> => {
    crash('journal.before_append')
    try {
      const seq = await appendFenced({ bus, stream, subject, onUnknown, onSent }, data, lastSeq)
      crash('journal.after_ack_before_fold')
      trouble = undefined
      return seq
    } catch (error) {
      if (!(error instanceof AnotherWriter)) throw error
      throw new Fenced(`another process has taken over: ${error.message}`, { cause: error })
    }
  }
  return { append, trouble: () => trouble }
}

const soon = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms).unref())

/**
 * Entries that the stream may lack, oldest first; their rows are not committed. MAX_WAITING and the transactions that a sender
 * follows bound them.
 */
function createWaitingEntries() {
  const entries: JournalEntry[] = []
  /** Signed forms among them, with the numbers of their entries. */
  const unpublished = new Map<Hex, number>()
  /** Those that wait until an entry is in the stream. Bounded by the open requests, and the transactions that a sender follows. */
  let callers: { readonly no: number; readonly resolve: () => void }[] = []
  let goneNo = 0
  const newestNo = (): number => goneNo + entries.length
  return {
    count: () => entries.length,
    first: (count: number): JournalEntry[] => entries.slice(0, count),
    add(entry: JournalEntry): void {
      entries.push(entry)
      if (entry.kind === 'signed' || entry.kind === 'attempt')
        unpublished.set(entry.attempt.hash, newestNo())
    },
    /** The first ones are in the stream. */
    drop(count: number): void {
      entries.splice(0, count)
      goneNo += count
      for (const [hash, no] of unpublished) if (no <= goneNo) unpublished.delete(hash)
      const served = callers.filter(({ no }) => no <= goneNo)
      callers = callers.filter(({ no }) => no > goneNo)
      for (const { resolve } of served) resolve()
    },
    holds: (hash: Hex): boolean => unpublished.has(hash),
    /** Resolves once all that waits now is in the stream. */
    gone: async (): Promise<void> => {
      const no = newestNo()
      if (no > goneNo) await new Promise<void>((resolve) => callers.push({ no, resolve }))
    },
    forgetCallers(): void {
      callers = []
    },
  }
}
