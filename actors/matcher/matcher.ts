import { randomUUID } from 'node:crypto'
import { applyMessage, type BlockOfCommands, type MessageResult } from '../../core/apply-message.js'
import type { Block } from '../../core/change.js'
import { crash } from '../../core/crash-point.js'
import { takeSnapshot } from '../../core/matcher-snapshot.js'
import { encodeBlock } from '../../bus-schemas/block-message.js'
import type { BusMessage } from '../../bus-schemas/bus.js'
import type { Checkpoint } from '../../bus-schemas/checkpoint-message.js'
import { declareCheckpoints } from '../../bus-schemas/checkpoint-store.js'
import { commandsOf } from '../../bus-schemas/command-message.js'
import {
  commandsStream,
  commandsSubject,
  feedStream,
  feedSubject,
} from '../../bus-schemas/subjects.js'
import type { Standing } from '../answer-ping.js'
import { encodeAnswer } from './answer-caller.js'
import { CHECKPOINT_SETTINGS, createCheckpointer } from './checkpointing.js'
import { openFeedReader } from './feed-reader.js'
import { findFeedPlace, isInFeed } from './follow-feed.js'
import { goLive, stopLive, type Live } from './go-live.js'
import {
  assertLeads,
  assertUnled,
  heedLeader,
  lead,
  LEADER_SILENCE_MS,
  takeOver,
  watchLeader,
} from './lead.js'
import { Fenced, publishBlock } from './publish-block.js'
import { restoreMatcher, sha256Of } from './restore.js'
import type { MatcherOptions, Run } from './run.js'
import { createUnanswered, LATE_AFTER_MS } from './unanswered.js'
import { REVERSALS_EVERY_MS } from './watch-reversals.js'

export type { MatcherOptions } from './run.js'

/** A live matcher whose ticks have not come back for so long is not working, whatever the reason. */
const STALLED_AFTER_MS = 5_000

export interface Matcher {
  /** Resolves when it has taken the market. */
  readonly whenLeading: Promise<void>
  /** True once it leads, the log has been replayed and every block of it is in the feed. */
  isLive(): boolean
  positions(): { command_seq: number; feed_seq: number }
  /** Whether it does its work now, and if not, why. */
  standing(): Standing
  stop(): Promise<void>
}

/**
 * Runs one market: goes on from the newest checkpoint, folds the command log, compares what comes of it with the feed
 * and publishes what the feed does not hold yet. From the end of the log on it answers callers, settles matches and lets
 * the clock tick. A block is acted on only when durable. Of all matchers of a market one leads; as a standby it does all
 * of this in silence until the leader is gone. Throws Fenced when the market is led, and StreamsDisagree.
 */
export async function startMatcher(given: MatcherOptions): Promise<Matcher> {
  let over = false
  const onFatal = (error: unknown): void => {
    if (error instanceof Fenced) crash('matcher.fence_detected')
    // What is given up in stopping fails as well; that is no news.
    if (!over) given.onFatal(error)
    over = true
  }
  const options = withDefaults({ ...given, onFatal })
  const { bus, market, standby } = options
  await declareStreams(options)
  if (!standby) await assertUnled(options)
  let onLeading = (): void => undefined
  const whenLeading = new Promise<void>((resolve) => (onLeading = resolve))
  const run = await openRun(options, onLeading)
  await run.inTurn(() => leadAtEnd(run))
  const subscription = await bus.follow({
    stream: commandsStream(market.market),
    fromSeq: run.commandSeq + 1,
    onMessage: (message) => run.inTurn(() => applyLogged(run, message)),
    onError: onFatal,
  })
  const watch = standby ? watchLeader(run) : undefined
  return {
    whenLeading,
    isLive: () => run.live !== undefined,
    positions: () => positionsOf(run),
    standing: () => standingOf(run),
    stop: async () => {
      over = true
      clearInterval(watch)
      await stopLive(run.live)
      await run.checkpointer.stop()
      await run.asked?.stop()
      await run.reader.stop()
      await subscription.stop()
    },
  }
}

function withDefaults(given: MatcherOptions): Required<MatcherOptions> {
  return {
    standby: false,
    silenceMs: LEADER_SILENCE_MS,
    checkpoints: CHECKPOINT_SETTINGS,
    reversals: { ask: () => Promise.resolve([]), everyMs: REVERSALS_EVERY_MS },
    lateAfterMs: LATE_AFTER_MS,
    leaderId: randomUUID(),
    elapsedMs: () => performance.now(),
    ...given,
  }
}

async function declareStreams({ bus, market: { market } }: MatcherOptions): Promise<void> {
  await bus.declareStream({
    stream: commandsStream(market),
    subject: commandsSubject(market),
    description: `Everything that changes ${market}, in order`,
  })
  await bus.declareStream({
    stream: feedStream(market),
    subject: feedSubject(market),
    description: `Blocks of changes of ${market}, written by its matcher alone`,
  })
  await declareCheckpoints(bus, market)
}

/** What is stored, read in an order in which the log always covers the feed. */
async function openRun(options: Required<MatcherOptions>, onLeading: () => void): Promise<Run> {
  const { bus, market, facts, elapsedMs, onFatal } = options
  const restored = await restoreMatcher(options)
  if (restored.commandSeq > 0) facts.restored(restored.commandSeq)
  const feed = await findFeedPlace(bus, market.market, restored)
  const reader = await openFeedReader({
    bus,
    stream: feedStream(market.market),
    fromSeq: feed.messageSeq + 1,
    onError: onFatal,
  })
  return {
    options,
    state: restored.state,
    feed,
    reader,
    checkpointer: createCheckpointer({
      bus,
      market: market.market,
      settings: options.checkpoints,
      stored: restored.checkpoints,
      facts,
      elapsedMs,
    }),
    onLeading,
    inTurn: createTurns(),
    commandSeq: restored.commandSeq,
    term: restored.term,
    leader: undefined,
    asked: undefined,
    liveFrom: (await bus.streamState(commandsStream(market.market))).lastSeq,
    live: undefined,
    unanswered: createUnanswered(options),
    appliedAtMs: elapsedMs(),
    provedAtMs: -Infinity,
    publishTrouble: undefined,
    silentLooks: 0,
  }
}

/** Takes steps one after the other; a step that throws does not keep the next from its turn. */
function createTurns(): Run['inTurn'] {
  let last: Promise<unknown> = Promise.resolve()
  return (step) => {
    const turn = last.then(step)
    last = turn.catch(() => undefined)
    return turn
  }
}

async function applyLogged(run: Run, message: BusMessage): Promise<void> {
  crash('matcher.after_read')
  const { facts } = run.options
  const onAhead = run.live === undefined ? undefined : facts.clockAhead
  const commands = commandsOf(message, onAhead)
  heedLeader(run, commands)
  if (isFeedAtEnd(run)) await lead(run)
  for (const group of applyMessage(run.state, message.seq, commands)) {
    if (group.block !== undefined && (await isStored(run, group.block))) {
      crash('matcher.replay_mid')
      continue
    }
    if (run.leader === undefined) continue
    if (group.block !== undefined) await publish(run, group.block)
    await answerCallers(run, group)
    if (run.live !== undefined) followUp(run, run.live, group.results)
  }
  run.commandSeq = message.seq
  run.appliedAtMs = run.options.elapsedMs()
  await leadAtEnd(run)
  if (run.live !== undefined) {
    run.checkpointer.applied(commands.length, () => checkpointOf(run))
  }
}

/** Whether the feed, as this matcher found it, holds nothing of what comes next, and nobody else is to lead. */
const isFeedAtEnd = ({ options, leader, feed }: Run): boolean =>
  leader === undefined && !options.standby && feed.changeSeq >= feed.endAtStart.changeSeq

/** At the end of the log: leads, unless somebody else is to, and goes live when it leads. */
async function leadAtEnd(run: Run): Promise<void> {
  if (run.commandSeq < run.liveFrom) return
  if (run.leader === undefined && !run.options.standby) await lead(run)
  if (run.leader !== undefined && run.live === undefined && run.commandSeq >= run.liveFrom) {
    goLive(run)
  }
}

/**
 * Whether somebody published this block already. Who is not leading finds out, and leads when nobody has and nobody
 * else is going to.
 */
async function isStored(run: Run, block: Block): Promise<boolean> {
  while (run.leader === undefined) {
    if (await isInFeed(run, block)) return true
    if (run.options.standby) await takeOver(run)
    else await lead(run)
  }
  return false
}

async function publish(run: Run, block: Block): Promise<void> {
  const { options, feed } = run
  const { bus, market, facts, elapsedMs } = options
  const onUnknown = (error: unknown) => {
    run.publishTrouble = error instanceof Error ? error.message : String(error)
    facts.appendUnknown('block', error)
  }
  const place = { bus, market: market.market, onUnknown }
  const data = encodeBlock(block)
  const startedAtMs = elapsedMs()
  crash('matcher.after_apply_before_publish')
  feed.messageSeq = await publishBlock(place, data, feed.messageSeq)
  feed.changeSeq += block.changes.length
  feed.data = data
  run.provedAtMs = startedAtMs
  run.publishTrouble = undefined
  crash('matcher.after_ack_before_answer')
}

async function answerCallers(run: Run, { block, results }: BlockOfCommands): Promise<void> {
  const { bus, market, facts } = run.options
  const isAsked = results.some(
    ({ logged, applied }) => logged.replyTo !== undefined && applied.answer !== undefined,
  )
  if (block === undefined && isAsked) await assertLeads(run)
  for (const result of results) {
    const { logged, applied } = result
    facts.applied(result)
    if (logged.replyTo === undefined || applied.answer === undefined) continue
    const answer = encodeAnswer(applied.answer, market.market, run.feed.changeSeq)
    bus.reply(logged.replyTo, answer)
  }
}

/** What a durable block asks of the outside: settlements, and the commands by which long work goes on. */
function followUp({ options }: Run, live: Live, results: readonly MessageResult[]): void {
  for (const { applied } of results) {
    for (const change of applied.changes) {
      if (change.kind !== 'OrderMatched') continue
      crash('matcher.after_answer_before_settle')
      live.settler.add(change.match)
    }
    for (const orderId of applied.continueOrderIds) {
      live.own.submit({ kind: 'ContinueOrder', orderId }).catch(options.onFatal)
    }
    if (applied.moreIsDue) live.own.submit({ kind: 'Tick' }).catch(options.onFatal)
  }
}

function checkpointOf({ options, state, commandSeq, feed, term }: Run): Checkpoint {
  return {
    market: options.market.market,
    commandSeq,
    feed: { messageSeq: feed.messageSeq, sha256: sha256Of(feed.data) },
    term,
    state: takeSnapshot(state),
  }
}

const positionsOf = ({ commandSeq, feed }: Run) => ({
  command_seq: commandSeq,
  feed_seq: feed.changeSeq,
})

/** The words of the ping for settlements without an outcome; ages in whole seconds, rounded down. */
function settlementsOf({ unanswered }: Run): Record<string, number> {
  const { pending, oldestMs, late } = unanswered.standing()
  return {
    pending_settlements: pending,
    oldest_pending_settlement_s: Math.floor(oldestMs / 1_000),
    late_settlements: late,
  }
}

function standingOf(run: Run): Standing {
  const trouble = troubleOf(run)
  return {
    ready: trouble === undefined,
    detail: trouble ?? 'live',
    positions: { ...positionsOf(run), ...settlementsOf(run) },
  }
}

/** What keeps it from its work; the clock's ticks go the way of every order, so one that comes back proves it all. */
function troubleOf({
  options,
  leader,
  live,
  publishTrouble,
  appliedAtMs,
}: Run): string | undefined {
  if (live === undefined) {
    return options.standby && leader === undefined ? 'standing by' : 'replaying its log'
  }
  if (!options.bus.isConnected()) return 'the bus is not connected'
  const silentMs = Math.round(options.elapsedMs() - appliedAtMs)
  const stalled = silentMs > STALLED_AFTER_MS + options.tickMs
  return (
    publishTrouble ??
    live.own.trouble() ??
    (stalled ? `no tick has come back for ${silentMs} ms` : undefined)
  )
}
