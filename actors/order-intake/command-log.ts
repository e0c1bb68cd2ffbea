import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { commandsStream, commandsSubject } from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'
import {
  INTAKE_SOURCE,
  type EntryOutcome,
  type IntakeRegistry,
  type LogEntry,
  type OutboxMessage,
  type PublishedPosition,
} from '../../data/intake-registry.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { createGroupCommit, QueueFull } from '../../runtime/process/group-commit.js'
import type { Logger } from '../../runtime/process/log.js'

/** Most commands of one message. */
export const MAX_GROUP = 128
/** Most weight of one message in bytes: half of the bus's limit. */
const MAX_GROUP_BYTES = 512 * 1024
/** Most commands waiting for a message. */
export const MAX_QUEUE = 4_096
/** A command that waited longer is refused, because its caller is about to time out. */
const MAX_WAIT_MS = 2_500
const RETRY_FIRST_MS = 50
const RETRY_MOST_MS = 1_000
const READ_CHUNK = 256

/** Stream and registry contradict each other; going on could lose orders or accept an id twice. */
export class LogMismatch extends Error {
  override readonly name = 'LogMismatch'
}

/** `busy`: nothing was stored, because the queue is full or too slow. */
export type SubmitOutcome = EntryOutcome | { readonly kind: 'busy' }

/** The intake's writer of a market's command log. */
export interface CommandLog {
  /**
   * Publishes, in order, the messages of the outbox that the stream does not hold. Submit nothing before it resolves.
   * Throws LogMismatch when stream and registry contradict each other.
   */
  recover(): Promise<void>
  /**
   * Resolves when the entry is refused, or when it is durable in the stream. After a rejection the outcome is unknown:
   * the entry may be stored and published later.
   */
  submit(entry: LogEntry): Promise<SubmitOutcome>
  /** Why the last append failed, while it is retried; undefined otherwise. */
  trouble(): string | undefined
  /** Accepts nothing new; stored messages that could not be published stay in the outbox. */
  stop(): Promise<void>
}

export interface CommandLogOptions extends LogMarket {
  readonly bus: Pick<Bus, 'append' | 'read' | 'streamState'>
  readonly registry: IntakeRegistry
  /** Unix milliseconds; stamps commands. */
  readonly nowMs: () => number
  /** Monotonic milliseconds; measures how long a command waited. */
  readonly elapsedMs?: () => number
  readonly log: Logger
}

interface Pending {
  readonly entry: LogEntry
  /** Monotonic milliseconds. */
  readonly submittedAt: number
  readonly settle: (outcome: SubmitOutcome) => void
}

interface Publishing extends CommandLogOptions {
  readonly signal: AbortSignal
  readonly onTrouble: (trouble: string | undefined) => void
}

/** One message is in flight at a time; the next one carries every command that arrived meanwhile. */
export function createCommandLog(options: CommandLogOptions): CommandLog {
  const { elapsedMs = () => performance.now() } = options
  const stopping = new AbortController()
  let trouble: string | undefined
  const publishing: Publishing = {
    ...options,
    signal: stopping.signal,
    onTrouble: (found) => (trouble = found),
  }
  const committer = createGroupCommit<Pending>({
    maxItems: MAX_GROUP,
    maxQueue: MAX_QUEUE,
    maxWeight: MAX_GROUP_BYTES,
    weigh: ({ entry }) => weightOf(entry),
    flush: (group) => flush(publishing, refuseStale(group, elapsedMs())),
  })
  return {
    recover: () => recover(publishing),
    trouble: () => trouble,
    submit: (entry) =>
      new Promise((resolve, reject) => {
        committer.submit({ entry, submittedAt: elapsedMs(), settle: resolve }).then(
          () => resolve({ kind: 'logged' }),
          (error: Error) => {
            if (error instanceof QueueFull) resolve({ kind: 'busy' })
            else reject(error)
          },
        )
      }),
    stop: async () => {
      const stopped = committer.stop()
      stopping.abort(new Error('the command log is stopping'))
      await stopped
    },
  }
}

/** An upper estimate of the encoded command's bytes; the checks bound every text of an order. */
function weightOf({ command }: LogEntry): number {
  return 3_072 + (command.kind === 'PlaceOrder' ? command.order.signature.length : 0)
}

/** Refuses what has waited too long and returns the rest. */
function refuseStale(group: readonly Pending[], now: number): Pending[] {
  const isStale = ({ submittedAt }: Pending): boolean => now - submittedAt > MAX_WAIT_MS
  for (const pending of group) if (isStale(pending)) pending.settle({ kind: 'busy' })
  return group.filter((pending) => !isStale(pending))
}

function refuseAll(group: readonly Pending[]): void {
  for (const pending of group) pending.settle({ kind: 'busy' })
}

async function flush(publishing: Publishing, group: readonly Pending[]): Promise<void> {
  const { market, registry, nowMs } = publishing
  // An unpublished message must enter the log before later ones. The matcher skips numbers below one that it has seen,
  // and recovery would take a later number as proof that the earlier message is in the log.
  if (registry.outbox(market).length > 0) return refuseAll(group)
  const entries = group.map(({ entry }) => entry)
  crash('intake.before_commit')
  const { outcomes, message } = registry.commit(publishing, entries, nowMs())
  crash('intake.after_commit_before_publish')
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'taken') group[index]?.settle(outcome)
  }
  if (message !== undefined) await publish(publishing, message)
}

/**
 * Appends a message until the stream is known to hold it. After an append with unknown outcome, the stream is read before
 * the append is repeated; if both land, the matcher skips the source_no that it has seen.
 */
async function publish(publishing: Publishing, message: OutboxMessage): Promise<void> {
  const { market, registry, signal, onTrouble, log } = publishing
  for (let attempt = 0; ; attempt += 1) {
    try {
      const position = await appendOrFind(publishing, message, attempt === 0)
      crash('intake.after_ack_before_mark')
      registry.markPublished(market, position)
      crash('intake.after_mark')
      onTrouble(undefined)
      return
    } catch (error) {
      if (error instanceof LogMismatch) throw error
      log.warn({ err: error, market, command_no: message.lastNo, attempt }, 'append failed')
      onTrouble(error instanceof Error ? error.message : String(error))
      await pause(Math.min(RETRY_FIRST_MS * 2 ** attempt, RETRY_MOST_MS), signal)
    }
  }
}

async function appendOrFind(
  options: CommandLogOptions,
  { market, lastNo, payload }: OutboxMessage,
  isFirstAttempt: boolean,
): Promise<PublishedPosition> {
  if (!isFirstAttempt) {
    const tail = await readOwnTail(options)
    if (tail.lastNo >= lastNo) return tail
  }
  const messageId = `${INTAKE_SOURCE}:${lastNo}`
  const appending = options.bus.append(commandsSubject(market), payload, { messageId })
  crash('intake.after_publish_before_ack')
  return { streamSeq: await appending, lastNo }
}

/** The end of the stream and our highest command number up to it. Throws LogMismatch. */
async function readOwnTail(options: CommandLogOptions): Promise<PublishedPosition> {
  const { market, bus, registry } = options
  const stream = commandsStream(market)
  const known = registry.published(market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  if (lastSeq < known.streamSeq) {
    throw new LogMismatch(`${stream} ends at ${lastSeq}, but it once reached ${known.streamSeq}`)
  }
  let { lastNo } = known
  let next = Math.max(firstSeq, known.streamSeq + 1)
  while (next <= lastSeq) {
    const messages = await bus.read(stream, next, READ_CHUNK)
    const own = messages
      .flatMap(({ data }) => commandMessages(options).decode(data))
      .filter(({ source }) => source === INTAKE_SOURCE)
    for (const { sourceNo } of own) lastNo = Math.max(lastNo, sourceNo)
    next = (messages.at(-1)?.seq ?? lastSeq) + 1
  }
  return { streamSeq: next - 1, lastNo }
}

async function recover(publishing: Publishing): Promise<void> {
  const { market, registry, log } = publishing
  const tail = await readOwnTail(publishing)
  if (tail.lastNo > registry.lastNo()) {
    throw new LogMismatch(
      `${commandsStream(market)} holds command ${tail.lastNo} of this intake, its registry only ` +
        `${registry.lastNo()}: the registry is older than the log`,
    )
  }
  registry.markPublished(market, tail)
  const unpublished = registry.outbox(market)
  for (const message of unpublished) {
    crash('intake.outbox_replay_mid')
    await publish(publishing, message)
  }
  if (unpublished.length > 0) log.info({ market, messages: unpublished.length }, 'outbox published')
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
