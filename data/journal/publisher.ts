import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeJournal } from '../../bus-schemas/journal.js'
import { crash } from '../../core/crash-point.js'
import type { Hex } from '../../core/action.js'
import type { JournalEntry } from '../../core/transaction-journal.js'
import { AnotherWriter, appendFenced } from '../../runtime/bus/append-fenced.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Publication, StreamPlace } from './publication.js'
import type { EntrySink } from './transaction-journal.js'

/** Another process of this name sends: this one was deposed and must stop. It could not broadcast anything since. */
export class Deposed extends Error {
  override readonly name = 'Deposed'
}

/** Most text of one message, so that it stays below the server's limit; one entry alone may be longer. */
const MESSAGE_SIZE = 512 * 1024
/** Longest wait of a stop for appends in flight. */
const STOP_WITHIN_MS = 1_000

export interface PublisherOptions {
  readonly publication: Publication
  readonly bus: Pick<Bus, 'append' | 'lastMessage'>
  readonly stream: string
  readonly subject: string
  readonly term: number
  readonly writer: string
  readonly onUnknown: (error: unknown) => void
  readonly onFatal: (error: unknown) => void
}

/** Appends a journal's entries to its stream in their order, each message fenced by the one before. */
export interface Publisher extends EntrySink {
  /** Publishes what waits. */
  wake(): void
  readonly trouble: () => string | undefined
  /** The stream's message behind which the next one is appended. */
  readonly lastSeq: () => number
  /** Everything that cannot be published soon stays in the file. */
  stop(): Promise<void>
}

/** What waits while one message is in flight goes into the next one: a message for each group, however many entries. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { publication, onFatal } = options
  /** Signed forms that are not in the stream, with the numbers of their entries. Bounded by the lane's open transactions. */
  const unpublished = new Map<Hex, number>()
  let place: StreamPlace = publication.place()
  let publishedNo = publication.publishedNo()
  const waiters = createWaiters()
  let running: Promise<void> | undefined
  let over = false
  const { append, trouble } = createAppends(options)

  function wake(): void {
    if (running !== undefined || over) return
    running = drain().catch(fail)
    void running.then(() => {
      running = undefined
      if (!over && publication.newestNo() > publishedNo) wake()
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
    while (!over) {
      const waiting = publication.waiting(publishedNo, MESSAGE_SIZE)
      const last = waiting.at(-1)
      if (last === undefined) return
      const lastSeq = await append(
        waiting.map(({ entry }) => entry),
        place.lastSeq,
      )
      if (over) return
      place = { lastSeq, term: options.term }
      publishedNo = last.no
      for (const [hash, no] of unpublished) if (no <= publishedNo) unpublished.delete(hash)
      waiters.serve(publishedNo)
    }
  }

  return {
    add(entry) {
      // With the next write, so that it costs no write of its own. A start finds out what a crash leaves unmarked.
      publication.published(publishedNo, place)
      const no = publication.add(entry)
      if (entry.kind === 'signed' || entry.kind === 'attempt')
        unpublished.set(entry.attempt.hash, no)
      // The rows are written when this turn ends.
      queueMicrotask(wake)
    },
    durable: async () => {
      const no = publication.newestNo()
      if (no > publishedNo) await waiters.wait(no)
    },
    isDurable: (hash) => !unpublished.has(hash),
    ...{ wake, trouble, lastSeq: () => place.lastSeq },
    async stop() {
      await Promise.race([running, soon(STOP_WITHIN_MS)])
      over = true
      waiters.forget()
      publication.published(publishedNo, place)
    },
  }
}

/** Appends entries as one message behind the given one, and says why that does not go on. */
function createAppends(options: PublisherOptions) {
  const { bus, stream, subject, term, writer } = options
  let trouble: string | undefined
  const onUnknown = (error: unknown): void => {
    trouble = 'the bus does not take the journal'
    options.onUnknown(error)
  }
  const onSent = (): void => crash('journal.after_publish_before_ack')
  const append = async (entries: readonly JournalEntry[], lastSeq: number): Promise<number> => {
    const data = encodeJournal({ term, writer, entries })
    crash('journal.before_publish')
    try {
      const seq = await appendFenced({ bus, stream, subject, onUnknown, onSent }, data, lastSeq)
      crash('journal.after_ack_before_broadcast')
      trouble = undefined
      return seq
    } catch (error) {
      if (!(error instanceof AnotherWriter)) throw error
      throw new Deposed(`another process has taken over: ${error.message}`, { cause: error })
    }
  }
  return { append, trouble: () => trouble }
}

const soon = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms).unref())

/** Callers that wait until the entries up to a number are published. Bounded by the open requests and transactions. */
function createWaiters() {
  let waiting: { readonly no: number; readonly resolve: () => void }[] = []
  return {
    wait: (no: number): Promise<void> =>
      new Promise((resolve) => void waiting.push({ no, resolve })),
    serve(publishedNo: number): void {
      const served = waiting.filter(({ no }) => no <= publishedNo)
      waiting = waiting.filter(({ no }) => no > publishedNo)
      for (const { resolve } of served) resolve()
    },
    forget(): void {
      waiting = []
    },
  }
}
