import { assert } from '../../core/assert.js'
import { applyMessage, type BlockOfCommands, type MessageResult } from '../../core/apply-message.js'
import type { Block } from '../../core/change.js'
import { crash } from '../../core/crash-point.js'
import type { LoggedCommand } from '../../core/command.js'
import { emptyMatcherState, knownOrder, type MatcherState } from '../../core/matcher-state.js'
import type { Market } from '../../core/market.js'
import { decodeBlock, encodeBlock } from '../../bus-schemas/block-message.js'
import type { Bus, BusMessage, Subscription } from '../../bus-schemas/bus.js'
import { decodeCommands } from '../../bus-schemas/command-message.js'
import {
  commandsStream,
  commandsSubject,
  feedStream,
  feedSubject,
} from '../../bus-schemas/subjects.js'
import { encodeAnswer } from './answer-caller.js'
import type { AskExecutor } from './ask-executor.js'
import { executePayload } from './execute-payload.js'
import type { MatcherFacts } from './observe.js'
import { createOwnCommands, MATCHER_SOURCE, type OwnCommands } from './own-commands.js'
import { Fenced, publishBlock } from './publish-block.js'
import { createSettler, type Settler } from './settle.js'

export interface MatcherOptions {
  readonly bus: Bus
  readonly market: Market
  readonly ask: AskExecutor
  readonly facts: MatcherFacts
  readonly nowMs: () => number
  readonly tickMs: number
  /** Called at most once, when the market can no longer be right; the process is to end. */
  readonly onFatal: (error: unknown) => void
}

export interface Matcher {
  /** True once the log has been replayed and every block of it is in the feed. */
  isLive(): boolean
  positions(): { command_seq: number; feed_seq: number }
  stop(): Promise<void>
}

/** Where the feed ends: message and change numbers, and the command its last block covers. */
interface FeedEnd {
  messageSeq: number
  changeSeq: number
  readonly stored: { readonly block: Block; readonly data: Uint8Array } | undefined
}

interface Live {
  readonly own: OwnCommands
  readonly settler: Settler
  readonly ticks: NodeJS.Timeout
}

/**
 * Runs one market: folds its command log from the beginning, publishes what the feed does not hold yet, and from the
 * end of the log on answers callers, settles matches and lets the clock tick. A block is acted on only when durable.
 */
export async function startMatcher(given: MatcherOptions): Promise<Matcher> {
  const { bus, market } = given
  let over = false
  const onFatal = (error: unknown): void => {
    // What is given up in stopping fails as well; that is no news.
    if (error instanceof Fenced) crash('matcher.fence_detected')
    if (!over) given.onFatal(error)
    over = true
  }
  const options = { ...given, onFatal }
  await declareStreams(options)
  const run = {
    options,
    state: emptyMatcherState(market),
    feed: await readFeedEnd(bus, market.market),
    commandSeq: 0,
    /** What was in the log when we came: until there it is replay. */
    replayEnd: (await bus.streamState(commandsStream(market.market))).lastSeq,
    live: undefined as Live | undefined,
  }
  if (run.replayEnd === 0) goLive(run)
  const subscription = await bus.follow({
    stream: commandsStream(market.market),
    fromSeq: 1,
    onMessage: (message) => applyLogged(run, message),
    onError: onFatal,
  })
  return {
    isLive: () => run.live !== undefined,
    positions: () => ({ command_seq: run.commandSeq, feed_seq: run.feed.changeSeq }),
    stop: () => {
      over = true
      return stopRun(run.live, subscription)
    },
  }
}

interface Run {
  readonly options: MatcherOptions
  readonly state: MatcherState
  readonly feed: FeedEnd
  readonly replayEnd: number
  commandSeq: number
  live: Live | undefined
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
}

async function readFeedEnd(bus: Bus, market: string): Promise<FeedEnd> {
  const last = await bus.lastMessage(feedStream(market))
  if (last === undefined) return { messageSeq: 0, changeSeq: 0, stored: undefined }
  const block = decodeBlock(last.data)
  const changeSeq = block.firstSeq + block.changes.length - 1
  return { messageSeq: last.seq, changeSeq, stored: { block, data: last.data } }
}

async function applyLogged(run: Run, message: BusMessage): Promise<void> {
  crash('matcher.after_read')
  const commands = decodeCommands(message.data)
  if (run.live !== undefined) assertNotSuperseded(run.live, commands)
  for (const group of applyMessage(run.state, message.seq, commands)) {
    if (isInFeed(run, group, message.seq)) {
      crash('matcher.replay_mid')
      continue
    }
    if (group.block !== undefined) await publish(run, group.block)
    answerCallers(run, group.results)
    if (run.live !== undefined) followUp(run, run.live, group.results)
  }
  run.commandSeq = message.seq
  if (run.live === undefined && message.seq >= run.replayEnd) goLive(run)
}

/**
 * Two matchers of one market make the same blocks, so the feed's fence alone would let both go on; but the step skips
 * what the older one reports, because its numbers are lower. The newer one stays.
 */
function assertNotSuperseded({ own }: Live, commands: readonly LoggedCommand[]): void {
  const newer = commands.some(
    ({ source, sourceNo }) => source === MATCHER_SOURCE && sourceNo > own.lastNo(),
  )
  if (newer) throw new Fenced('a newer matcher runs this market')
}

/** Whether an earlier life of this matcher published this already; its last block must be the same to the byte. */
function isInFeed(run: Run, { block }: BlockOfCommands, commandSeq: number): boolean {
  const { stored } = run.feed
  if (stored === undefined) return false
  const last = stored.block
  if (block === undefined) return commandSeq <= last.commandSeq
  if (block.firstSeq > last.firstSeq) return false
  if (block.firstSeq === last.firstSeq) {
    const same = Buffer.from(encodeBlock(block)).equals(stored.data)
    assert(same, `replay gives another block at seq ${block.firstSeq} than the feed holds`)
  }
  return true
}

async function publish({ options, feed }: Run, block: Block): Promise<void> {
  const { bus, market, facts } = options
  assert(block.firstSeq === feed.changeSeq + 1, `block ${block.firstSeq} after ${feed.changeSeq}`)
  const onUnknown = (error: unknown) => facts.appendUnknown('block', error)
  const place = { bus, market: market.market, onUnknown }
  crash('matcher.after_apply_before_publish')
  feed.messageSeq = await publishBlock(place, encodeBlock(block), feed.messageSeq)
  feed.changeSeq += block.changes.length
  crash('matcher.after_ack_before_answer')
}

function answerCallers({ options, feed }: Run, results: readonly MessageResult[]): void {
  for (const result of results) {
    const { logged, applied } = result
    options.facts.applied(result)
    if (logged.replyTo === undefined || applied.answer === undefined) continue
    const answer = encodeAnswer(applied.answer, options.market.market, feed.changeSeq)
    options.bus.reply(logged.replyTo, answer)
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

/** Takes up what the log left open: matches without a result, sweeps that had stopped, the clock. */
function goLive(run: Run): void {
  const { options, state, feed } = run
  const { bus, market, facts, nowMs, onFatal } = options
  assert(state.seq === feed.changeSeq, `log gives seq ${state.seq}, feed holds ${feed.changeSeq}`)
  const own = createOwnCommands({
    bus,
    market: market.market,
    lastSourceNo: state.lastSourceNo.get(MATCHER_SOURCE) ?? 0,
    nowMs,
    onUnknown: (error) => facts.appendUnknown('commands', error),
  })
  const order = (orderId: string) => knownOrder(state, orderId).order
  const settler = createSettler({
    ask: options.ask,
    payloadOf: (match) =>
      state.matches.has(match.settlementId)
        ? executePayload(market, match, order(match.makerOrderId), order(match.takerOrderId))
        : undefined,
    report: (settlementId, outcome) =>
      own.submit({ kind: 'SettlementReported', settlementId, outcome }),
    facts,
    onFatal,
  })
  run.live = { own, settler, ticks: startTicks(own, options) }
  for (const match of state.matches.values()) settler.add(match)
  for (const live of state.orders.values()) {
    const { orderId } = live.order
    if (live.hold?.reason === 'continuing' && live.hold.untilMs === undefined) {
      own.submit({ kind: 'ContinueOrder', orderId }).catch(onFatal)
    }
  }
  facts.caughtUp({ command_seq: run.commandSeq, feed_seq: run.feed.changeSeq }, state.matches.size)
}

/** One tick at a time: while one is on its way, the clock has nothing new to say. */
function startTicks(own: OwnCommands, { tickMs, onFatal }: MatcherOptions): NodeJS.Timeout {
  let underWay = false
  return setInterval(() => {
    if (underWay) return
    underWay = true
    own
      .submit({ kind: 'Tick' })
      .catch(onFatal)
      .finally(() => (underWay = false))
  }, tickMs)
}

async function stopRun(live: Live | undefined, subscription: Subscription): Promise<void> {
  clearInterval(live?.ticks)
  // Together: a settlement may be waiting for its report to become durable.
  await Promise.all([live?.settler.stop(), live?.own.stop()])
  await subscription.stop()
}
