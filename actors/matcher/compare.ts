import { decodeBlock, holdsBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import { isNextSeq, type Block } from '../../core/model/change.js'
import { untilSilent } from '../../runtime/actor/leadership.js'
import type { BusMessage } from '../../runtime/bus/bus.js'
import type { LoopTurns } from '../../runtime/process/loop-turns.js'
import { matcherActor } from './actor.js'
import type { FeedEnd, FeedStart, RestoredMatcher } from './checkpoints.js'
import { openStreamReader, type CommandLog, type LoggedMessage, type StreamReader } from './log.js'
import type { MatcherSettings } from './settings.js'

/** How long a standby waits for a message of the log or of the feed before it looks at the leader again. */
const WAIT_MS = 100

/** The phase after restoring: every block since the checkpoint is compared with the feed. Nothing is published. */
export interface ComparisonPhase {
  readonly kind: 'comparing'
  readonly turns: LoopTurns
  readonly log: CommandLog
  readonly feed: FeedCursor
  /** Where the command log ended when this matcher started. */
  readonly logEnd: number
  stop(): Promise<void>
}

/** The phase of a standby: it compares what the leader publishes, until the leader is gone. Nothing is published. */
export interface StandingBy {
  readonly kind: 'standing by'
  readonly turns: LoopTurns
  readonly log: CommandLog
  readonly feed: FeedCursor
  readonly silence: Silence
  stop(): Promise<void>
}

/** What comparing hands on: all that the feed holds equals what the log gives, and `feed` is where it ends. */
export interface ComparedLog {
  readonly log: CommandLog
  readonly feed: FeedEnd
  /** The greatest term of the feed, as far as it is compared, and of the checkpoint. */
  readonly term: number
}

export async function startComparing(
  settings: MatcherSettings,
  restored: RestoredMatcher,
  log: CommandLog,
): Promise<ComparisonPhase> {
  const { endAtStart } = restored.feed
  const feed = await openFeedCursor(settings, restored, {
    waitFor: (messageSeq) => (messageSeq < endAtStart.messageSeq ? Infinity : 0),
  })
  const { turns } = settings
  return { kind: 'comparing', turns, log, feed, logEnd: restored.logEnd, stop: () => feed.stop() }
}

/** Resolves at the feed's end, at the latest when the log is at its own. A feed that is longer breaks an invariant. */
export async function compare(comparing: ComparisonPhase): Promise<ComparedLog> {
  const { turns, log, feed, logEnd } = comparing
  while (!(feed.isPastStart() && (await feed.skipLeaders())) && log.commandSeq < logEnd) {
    // Waits only for what has not arrived: a promise for each message is a tenth of the replay of small ones.
    const message = log.ahead() ?? (await log.next())
    if (!(await isInFeed(feed, message, turns))) break
    log.finish()
  }
  const { changeSeq } = feed.endAtStart
  const isThrough = feed.isPastStart() && (await feed.skipLeaders())
  assert(isThrough, `log gives seq ${log.state.seq}, feed holds ${changeSeq}`)
  return comparedAt(log, feed)
}

export async function startStandingBy(
  settings: MatcherSettings,
  restored: RestoredMatcher,
  log: CommandLog,
): Promise<StandingBy> {
  const silence = createSilence(settings)
  const feed = await openFeedCursor(settings, restored, { waitFor: () => WAIT_MS })
  const stop = async (): Promise<void> => {
    silence.stop()
    await feed.stop()
  }
  return { kind: 'standing by', turns: settings.turns, log, feed, silence, stop }
}

/** Resolves when the leader is silent and everything that it published is compared. May be called again after that. */
export async function standBy({ turns, log, feed, silence }: StandingBy): Promise<ComparedLog> {
  for (;;) {
    const message = await log.nextWithin(WAIT_MS)
    if (message !== undefined && (await isInFeed(feed, message, turns))) log.finish()
    if (silence.hasLasted() && (await feed.skipLeaders())) return comparedAt(log, feed)
  }
}

const comparedAt = (log: CommandLog, { end, term }: FeedCursor): ComparedLog => ({
  log,
  feed: end,
  term,
})

/** Compares a message's blocks with the feed; false at the first block that the feed does not hold. */
async function isInFeed(
  feed: FeedCursor,
  message: LoggedMessage,
  turns: LoopTurns,
): Promise<boolean> {
  for (; message.step !== undefined; message.advance()) {
    const { block } = message.step
    if (block !== undefined) {
      if (!(await feed.holds(block))) return false
      crash('matcher.replay_mid')
    }
    const pause = turns.pause()
    if (pause !== undefined) await pause
  }
  return true
}

/** The leader's silence, which a standby waits for while it compares. */
interface Silence {
  hasLasted(): boolean
  /** Waits for another one: the last was not taken in time. */
  await(): void
  stop(): void
}

/** The first one is waited for at once. */
function createSilence(settings: MatcherSettings): Silence {
  const stopping = new AbortController()
  const { signal } = stopping
  let hasLasted = false
  const wait = (): void => {
    hasLasted = false
    untilSilent(matcherActor(settings), { mustLast: true, signal }).then(
      () => (hasLasted = true),
      (error: unknown) => {
        if (!signal.aborted) settings.onFatal(error)
      },
    )
  }
  wait()
  return { hasLasted: () => hasLasted, await: wait, stop: () => stopping.abort() }
}

interface FeedCursorOptions {
  /** How many milliseconds to wait for the message after this one; 0 when it is not to be read. */
  readonly waitFor: (messageSeq: number) => number
}

async function openFeedCursor(
  { bus, market: { market }, onFatal: onError }: MatcherSettings,
  { feed, term }: RestoredMatcher,
  options: FeedCursorOptions,
): Promise<FeedCursor> {
  const fromSeq = feed.end.messageSeq + 1
  const reader = await openStreamReader({ bus, stream: feedStream(market), fromSeq, onError })
  return new FeedCursor(reader, { feed, term }, options)
}

/** The feed, read as far as it equals what the log gives. */
class FeedCursor {
  /** Where the feed ended when this matcher started. */
  readonly endAtStart: FeedStart['endAtStart']
  readonly #reader: StreamReader
  readonly #options: FeedCursorOptions
  readonly #firstKept: Block | undefined
  #end: FeedEnd
  #term: number

  constructor(
    reader: StreamReader,
    { feed, term }: Pick<RestoredMatcher, 'feed' | 'term'>,
    options: FeedCursorOptions,
  ) {
    this.endAtStart = feed.endAtStart
    this.#reader = reader
    this.#options = options
    this.#firstKept = feed.firstKept
    this.#end = feed.end
    this.#term = term
  }

  /** The last place that is compared. */
  get end(): FeedEnd {
    return this.#end
  }

  /** The greatest term of the feed, as far as it is compared, and of the checkpoint. */
  get term(): number {
    return this.#term
  }

  /** Whether every change is compared that the feed held when this matcher started. */
  isPastStart(): boolean {
    return this.#end.changeSeq >= this.endAtStart.changeSeq
  }

  /**
   * Compares a block with what the feed holds in its place, in whatever version, and moves on when they are equal. False
   * when the feed does not hold it, or not yet. A feed that holds another block there breaks an invariant.
   */
  async holds(block: Block): Promise<boolean> {
    const { firstSeq, changes } = block
    const { changeSeq } = this.#end
    const lastSeq = firstSeq + changes.length - 1
    assert(isNextSeq(firstSeq, changeSeq), `block ${firstSeq} after ${changeSeq}`)
    if (this.#firstKept !== undefined && isBefore(block, this.#firstKept)) {
      this.#end = { ...this.#end, changeSeq: lastSeq }
      return true
    }
    for (;;) {
      const next = this.#nextStored()
      const stored = next instanceof Promise ? await next : next
      if (stored === undefined) return false
      if (holdsBlock(stored.data, block)) {
        this.#moveOver(stored, lastSeq)
        return true
      }
      assert(
        this.#skipLeader(stored),
        `replay gives another block at seq ${firstSeq} than the feed holds`,
      )
    }
  }

  /** Skips the blocks by which matchers took the market; true when the feed, as far as it is known, ends there. */
  async skipLeaders(): Promise<boolean> {
    for (;;) {
      const stored = await this.#nextStored()
      if (stored === undefined) return true
      if (!this.#skipLeader(stored)) return false
    }
  }

  stop(): Promise<void> {
    return this.#reader.stop()
  }

  #nextStored(): BusMessage | undefined | Promise<BusMessage | undefined> {
    const waitMs = this.#options.waitFor(this.#end.messageSeq)
    return waitMs === 0 ? undefined : (this.#reader.ahead() ?? this.#reader.peek(waitMs))
  }

  #skipLeader(stored: BusMessage): boolean {
    const { leader } = decodeBlock(stored.data)
    if (leader === undefined) return false
    this.#term = Math.max(this.#term, leader.term)
    this.#moveOver(stored, this.#end.changeSeq)
    return true
  }

  #moveOver({ seq, data }: BusMessage, changeSeq: number): void {
    this.#reader.take()
    this.#end = { messageSeq: seq, changeSeq, data }
  }
}

/** Whether a block of the log stands before one of the feed. One without changes is placed by its command. */
function isBefore({ firstSeq, changes, commandSeq, commandIndex }: Block, kept: Block): boolean {
  if (changes.length > 0 || firstSeq < kept.firstSeq) return firstSeq < kept.firstSeq
  if (commandSeq !== kept.commandSeq) return commandSeq < kept.commandSeq
  const isBehindAll = kept.leader !== undefined && kept.commandIndex === 0
  return isBehindAll || commandIndex < kept.commandIndex
}
