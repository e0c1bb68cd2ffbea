import { setTimeout as delay } from 'node:timers/promises'
import { commandsStream } from '../../bus-schemas/subjects.js'
import { assert, InvariantBroken } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import { whyUnderivable } from '../../core/engine/derive.js'
import { INTAKE_SOURCE, termOf, type Numbering } from '../../core/model/command.js'
import type { LogPosition } from '../../data/claim-writer.js'
import { DiskTrouble } from '../../data/disk-trouble.js'
import type { OrderClaim, ClaimTaken, TakenOrder } from '../../data/intake-registry.js'
import {
  createLogWriter,
  type LogMessage,
  type LogWriter,
  type NewCommand,
} from '../../runtime/actor/command-writer.js'
import { Fenced } from '../../runtime/actor/leadership.js'
import {
  AppendRefused,
  AppendUnknown,
  BusUnavailable,
  MessagesGone,
  StreamMissing,
} from '../../runtime/bus/bus.js'
import { createGroupCommit, QueueFull } from '../../runtime/process/group-commit.js'
import { endSpan } from '../../runtime/process/trace-spans.js'
import { foldLog, LogMismatch, type LogFoldOptions } from './fold-log.js'

/** Most commands of one message. */
export const MAX_GROUP = 128
/** Most weight of one message in bytes: half of the bus's limit. */
const MAX_GROUP_BYTES = 512 * 1024
/** Most commands waiting for a message. */
export const MAX_QUEUE = 4_096
/** A command that waited longer is refused, because its caller is about to time out. */
const MAX_WAIT_MS = 2_500
const RETRY_PAUSE_MS = 200

/** One command to be appended to the log, with the request that waits for the answer; an order has a claim. */
export interface LogEntry extends Omit<NewCommand, 'source'> {
  readonly claim?: OrderClaim
}

/** The step could not derive what it needs of a command: it is a fault of the checks before, and nothing was logged. */
export class CommandUnderivable extends Error {
  override readonly name = 'CommandUnderivable'
}

/** Outcome of an entry: it is in the log, or an earlier order holds its id or nonce. */
export type EntryOutcome = { readonly kind: 'logged' } | ClaimTaken

/** `busy`: nothing was stored, because the queue is full or too slow, or the log takes no more of this process. */
export type SubmitOutcome = EntryOutcome | { readonly kind: 'busy' }

/** What an intake begins a term with. */
export interface Term {
  readonly numbers: Numbering
  /** Unique to the process, so that two that begin the same term differ. */
  readonly id: string
}

/** The intake's writer of a market's command log. */
export interface CommandLogWriter {
  /** Folds the claims of the log. Throws LogMismatch, after which the log takes nothing. */
  recover(): Promise<void>
  /**
   * Appends the epoch marker of a term and folds the log up to it: from there on the market skips every command of an earlier
   * term. Call it once, after all logs have recovered, and submit nothing to any log before it has resolved for each.
   * Throws Fenced when another intake was faster.
   */
  begin(term: Term): Promise<void>
  /**
   * Resolves when the entry is refused, or when it is durable in the log. Its claim holds in every market from before
   * the append. After a rejection the outcome is unknown, and the log takes no more; but CommandUnderivable comes before
   * anything is stored, and concerns that entry alone.
   */
  submit(entry: LogEntry): Promise<SubmitOutcome>
  /** Resolves when the log holds what is being appended; rejects when that stays unknown. */
  settled(): Promise<void>
  /** What the market's matcher has taken. */
  heard(taken: TakenLog): void
  /** The change of the market by which it had decided the order that holds a claim; undefined while that is not known. */
  decidedBy(holder: TakenOrder): number | undefined
  /** Entries that wait for a message. */
  waiting(): number
  /** Why the last append failed, while it is retried; undefined otherwise. */
  trouble(): string | undefined
  /** Accepts nothing new; what cannot be appended is given up. */
  stop(): Promise<void>
}

/** How far the market's matcher has taken its log, and the last change that it has made of it. */
export interface TakenLog extends LogPosition {
  readonly feedSeq: number
}

export interface CommandLogWriterOptions extends LogFoldOptions {
  /** Unix milliseconds; stamps commands. */
  readonly nowMs: () => number
  /** Monotonic milliseconds; measures how long a command waited. */
  readonly elapsedMs?: () => number
}

interface PendingEntry {
  readonly entry: LogEntry
  /** Monotonic milliseconds. */
  readonly submittedAt: number
  readonly settle: (outcome: SubmitOutcome) => void
}

interface LogWriting extends CommandLogWriterOptions {
  readonly signal: AbortSignal
  /** Of the term, once it has begun. */
  writer: LogWriter | undefined
  /** Why the log cannot be read, or not be folded. */
  trouble: string | undefined
  /** What became of an append is not known, or the log is another one: later messages could not be told from it. */
  isOver: boolean
}

/** One message is in flight at a time; the next one carries every command that arrived meanwhile. */
export function createCommandLog(options: CommandLogWriterOptions): CommandLogWriter {
  const { market, registry, elapsedMs = () => performance.now() } = options
  const stopping = new AbortController()
  const writing: LogWriting = {
    ...options,
    signal: stopping.signal,
    writer: undefined,
    trouble: undefined,
    isOver: false,
  }
  let flushing = Promise.resolve()
  let heard: TakenLog | undefined
  const committer = createGroupCommit<PendingEntry>({
    maxItems: MAX_GROUP,
    maxQueue: MAX_QUEUE,
    maxWeight: MAX_GROUP_BYTES,
    weigh: ({ entry }) => weightOf(entry),
    flush: (group) => (flushing = flush(writing, refuseStale(group, elapsedMs()))),
  })
  return {
    recover: async () => void (await foldLog(writing, { term: undefined })),
    begin: (term) => begin(writing, term),
    settled: () => flushing,
    heard(taken) {
      const { streamSeq, lastNo } = taken
      // A matcher that has started again first reports an older position than the one before it.
      if (streamSeq > (heard?.streamSeq ?? 0)) heard = taken
      const known = registry.folded(market)
      // With the same last command, the registry has folded everything up to this position.
      if (lastNo === known.lastNo && streamSeq > known.streamSeq) {
        try {
          registry.fold(market, [], { streamSeq, lastNo })
        } catch (error) {
          // The position is known; it is stored with the next claims.
          if (!(error instanceof DiskTrouble)) throw error
          options.log.warn({ err: error, market }, 'the position in the log is not stored')
        }
      }
    },
    decidedBy(holder) {
      const heldAt = registry.heldAt(holder)
      if (heard === undefined || heldAt === undefined) return undefined
      return heard.streamSeq >= heldAt ? heard.feedSeq : undefined
    },
    waiting: () => committer.waiting(),
    trouble: () => writing.writer?.trouble() ?? writing.trouble,
    submit: (entry) =>
      new Promise((resolve, reject) => {
        const why = whyUnderivable(entry.command)
        if (why !== undefined) return reject(new CommandUnderivable(why))
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
  // The body of a request has at most 64 KiB.
  if (command.kind === 'CancelOrders') return 64 * 1024
  return 3_072 + (command.kind === 'PlaceOrder' ? command.order.signature.length : 0)
}

/** Refuses what has waited too long and returns the rest. */
function refuseStale(group: readonly PendingEntry[], now: number): PendingEntry[] {
  const isStale = ({ submittedAt }: PendingEntry): boolean => now - submittedAt > MAX_WAIT_MS
  for (const pending of group) if (isStale(pending)) pending.settle({ kind: 'busy' })
  return group.filter((pending) => !isStale(pending))
}

async function flush(writing: LogWriting, group: readonly PendingEntry[]): Promise<void> {
  const { market, registry, writer } = writing
  if (writing.isOver) {
    for (const pending of group) pending.settle({ kind: 'busy' })
    return
  }
  assert(writer !== undefined, `a command for ${market} before its term began`)
  const { message, claims } = compose(writing, writer, group)
  if (message === undefined) return
  const entries = group.map(({ entry }) => entry)
  endSpan('claimed', entries)
  crash('intake.before_append')
  try {
    const streamSeq = await writer.store(message)
    endSpan('logged', entries)
    crash('intake.after_ack_before_fold')
    await repeated(writing, () => {
      registry.fold(market, claims, { streamSeq, lastNo: message.lastNo })
      return Promise.resolve()
    })
  } catch (error) {
    throw endOf(writing, error)
  }
  crash('intake.after_fold')
}

interface ComposedMessage {
  /** Absent when no entry remains. */
  readonly message?: LogMessage
  readonly claims: readonly OrderClaim[]
}

/** Takes the claims in order, settles the entries whose claim is not free, and makes one message of the others. */
function compose(
  writing: LogWriting,
  writer: LogWriter,
  group: readonly PendingEntry[],
): ComposedMessage {
  const { market, registry } = writing
  const claims: OrderClaim[] = []
  const commands: NewCommand[] = []
  try {
    for (const { entry, settle } of group) {
      const { claim } = entry
      if (claim !== undefined && registry.isFull()) {
        settle({ kind: 'busy' })
        continue
      }
      const taken = claim && registry.take(market, claim)
      if (taken !== undefined) {
        settle(taken)
        continue
      }
      if (claim !== undefined) claims.push(claim)
      commands.push(entry)
    }
    return commands.length === 0 ? { claims } : { message: oneMessage(writer, commands), claims }
  } catch (error) {
    for (const claim of claims) registry.giveBack(claim)
    throw error
  }
}

function oneMessage(writer: LogWriter, commands: readonly NewCommand[]): LogMessage {
  const [message, ...others] = writer.compose(commands)
  assert(message !== undefined && others.length === 0, 'a group of commands is one message')
  return message
}

/** After these the same step may succeed. */
const CLEARS_UP = [BusUnavailable, StreamMissing, MessagesGone, DiskTrouble] as const

/** Repeats a step that reads the log or folds it until it succeeds. Rejects when that is given up, and with any other error. */
async function repeated<T>(writing: LogWriting, step: () => Promise<T>): Promise<T> {
  const { market, signal, log } = writing
  for (;;) {
    try {
      const result = await step()
      writing.trouble = undefined
      return result
    } catch (error) {
      if (signal.aborted || !isOneOf(CLEARS_UP, error)) throw error
      log.warn({ err: error, market }, 'the log cannot be folded')
      writing.trouble = error.message
      await delay(RETRY_PAUSE_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) throw error
    }
  }
}

const isOneOf = (
  kinds: readonly (new (...args: never[]) => Error)[],
  error: unknown,
): error is Error => kinds.some((kind) => error instanceof kind)

/** No later attempt will succeed. */
const FINAL = [LogMismatch, Fenced, InvariantBroken] as const

/** Ends the log. An error that is neither final nor what was given up at a stop breaks an invariant. */
function endOf(writing: LogWriting, error: unknown): unknown {
  writing.isOver = true
  if (isOneOf([...FINAL, ...CLEARS_UP, AppendUnknown, AppendRefused], error)) return error
  const why = error instanceof Error ? error.message : String(error)
  return new InvariantBroken(`${commandsStream(writing.market)}: ${why}`, { cause: error })
}

/** No later attempt will succeed. */
export const isFinal = (error: unknown): boolean => isOneOf(FINAL, error)

const laterTerm = (market: string, term: number): string =>
  `${commandsStream(market)} holds term ${term} of another intake`

async function begin(writing: LogWriting, term: Term): Promise<void> {
  const { market, registry } = writing
  // Of a log that came back after the term was taken, while its stream had forgotten the later one.
  const logged = termOf(registry.folded(market).lastNo)
  if (logged >= term.numbers.term) throw new Fenced(laterTerm(market, logged))
  const writer = createWriter(writing, term)
  writing.writer = writer
  const marker = oneMessage(writer, [{ requestId: term.id, command: { kind: 'Tick' } }])
  crash('intake.before_barrier')
  try {
    await writer.store(marker)
    crash('intake.after_barrier')
    const streamSeq = await foldSought(writing, term, marker)
    assert(streamSeq !== undefined, `the epoch marker of ${market} is not in its log`)
    registry.fold(market, [], { streamSeq, lastNo: marker.lastNo })
  } catch (error) {
    throw endOf(writing, error)
  }
}

const foldSought = (
  writing: LogWriting,
  { numbers }: Term,
  { data: sought }: LogMessage,
): Promise<number | undefined> =>
  repeated(writing, () => foldLog(writing, { term: numbers.term, sought }))

/** What is not acknowledged is sought in the log before it is repeated; if both land, the matcher skips the numbers that it has seen. */
function createWriter(writing: LogWriting, term: Term): LogWriter {
  const { market, log } = writing
  return createLogWriter({
    ...writing,
    writer: 'order-intake',
    source: INTAKE_SOURCE,
    numbers: term.numbers,
    id: term.id,
    onUnknown: (err) => log.warn({ err, market }, 'append failed'),
    lookUp: (message) => foldSought(writing, term, message),
    onSent: () => crash('intake.after_publish_before_ack'),
  })
}
