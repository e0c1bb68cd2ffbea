import { encodeBlock } from '../../bus-schemas/blocks.js'
import { encodeCancelsAnswer } from '../../bus-schemas/cancels.js'
import type { TakeNotices } from '../../bus-schemas/commands.js'
import { encodeMarketAnswer } from '../../bus-schemas/markets.js'
import { encodeOrderAnswer } from '../../bus-schemas/orders.js'
import { marketVersions } from '../../bus-schemas/stream-versions.js'
import {
  feedStream,
  feedSubject,
  MATCHER_SOURCE,
  OPERATOR_SOURCE,
} from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'
import type {
  CommandAnswer,
  RefusedCommand,
  RefusedOrder,
} from '../../core/model/command-answer.js'
import type { BlockOfCommands, MessageResult } from '../../core/engine/apply-message.js'
import type { Block, Leader } from '../../core/model/change.js'
import { termOf } from '../../core/model/command.js'
import {
  cancelsRefusals,
  changeRefusals,
  controlRefusals,
  reductionNotSmaller,
  reductionTooSmall,
} from '../../core/entry/order-refusals.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'
import type { DecidedBy } from '../../core/entry/repeated-order.js'
import { Fenced, takeTerm } from '../../runtime/actor/leadership.js'
import { AnotherWriter, appendFenced } from '../../runtime/bus/append-fenced.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { endSpan } from '../../runtime/process/trace-spans.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import type { FeedEnd } from './checkpoints.js'
import { matcherActor } from './actor.js'
import { standBy, type ComparedLog, type StandingBy } from './compare.js'
import type { CommandLog, LoggedMessage } from './log.js'
import type { MatcherSettings } from './settings.js'

/**
 * The phase of a matcher that has taken the market. It alone publishes to the feed and answers callers. What was logged
 * before it led, up to `liveFrom`, is published first; settling and ticking begin behind that.
 */
export interface LeadingPhase {
  readonly kind: 'leading'
  readonly settings: MatcherSettings
  readonly leader: Leader
  readonly log: CommandLog
  readonly feed: FeedWriter
  readonly liveFrom: number
  stop(): Promise<void>
}

/**
 * Takes the market: a block without changes is put right behind everything that was compared, which fences out the
 * earlier writer. Throws Fenced when another matcher leads, or the feed has gone on meanwhile.
 */
export async function lead(
  settings: MatcherSettings,
  { log, feed: end, term: before }: ComparedLog,
): Promise<LeadingPhase> {
  const { bus, facts, leaderId, elapsedMs, onFatal } = settings
  const { market } = settings.market
  const leader: Leader = { term: nextTerm(before, log), id: leaderId }
  const { commandSeq, place } = log
  const opening = { market, ...place, firstSeq: end.changeSeq + 1, changes: [], leader }
  const message = encodeBlock(opening)
  await recordVersions(bus, marketVersions(settings.market), facts.versionRaised)
  const liveFrom = Math.max(commandSeq, await log.endSeq())
  const provedAtMs = elapsedMs()
  const taken = await takeTerm(matcherActor(settings), {
    term: leader.term,
    lastSeq: end.messageSeq,
    message,
    onFenced: onFatal,
    onSent: crashUnacknowledged,
  })
  const begun = { messageSeq: taken.firstSeq, changeSeq: end.changeSeq, data: message }
  const feed = createFeedWriter(settings, begun, provedAtMs)
  taken.writes(() => feed.end.messageSeq)
  facts.leads(leader, { command_seq: commandSeq, feed_seq: end.changeSeq })
  const stop = (): Promise<void> => taken.stop()
  return { kind: 'leading', settings, leader, log, feed, liveFrom, stop }
}

/** Above every term of the feed and of the log. An operator's commands have numbers of the same terms. */
function nextTerm(before: number, { state: { lastSourceNo } }: CommandLog): number {
  const logged = [MATCHER_SOURCE, OPERATOR_SOURCE].map((source) => lastSourceNo.get(source) ?? 0)
  return Math.max(before, ...logged.map(termOf)) + 1
}

/** Stands by until the leader is gone and leads then; while another matcher is faster, it keeps standing by. */
export async function takeOver(
  settings: MatcherSettings,
  standingBy: StandingBy,
): Promise<LeadingPhase> {
  for (;;) {
    const compared = await standBy(standingBy)
    settings.facts.leaderSilent()
    try {
      return await lead(settings, compared)
    } catch (error) {
      if (!(error instanceof Fenced)) throw error
      standingBy.silence.await()
    }
  }
}

/** Publishes what was logged before this matcher led. */
export async function catchUp(leading: LeadingPhase): Promise<void> {
  while (leading.log.commandSeq < leading.liveFrom) {
    await publishNext(leading, () => undefined)
  }
}

/**
 * Publishes the blocks of the log's next message, or what is left of the one that is under way, and answers its callers.
 * `onStep` is called when all of a step is durable. Throws Fenced when another matcher has taken the market.
 */
export async function publishNext(
  leading: LeadingPhase,
  onStep: (step: BlockOfCommands) => void,
  notices?: TakeNotices,
): Promise<LoggedMessage> {
  const { log, settings } = leading
  const message = await log.next(notices)
  for (; message.step !== undefined; message.advance()) {
    await publishStep(leading, message.step)
    onStep(message.step)
    const pause = settings.turns.pause()
    if (pause !== undefined) await pause
  }
  log.finish()
  return message
}

async function publishStep({ settings, feed }: LeadingPhase, step: BlockOfCommands): Promise<void> {
  const { bus, market, facts } = settings
  const { block, results } = step
  endSpan('matched', commandsOf(results))
  if (block === undefined) {
    const isAsked = results.some(
      ({ logged, applied }) => logged.replyTo !== undefined && applied.answer !== undefined,
    )
    if (isAsked) await feed.assertUnfenced()
  } else {
    crash('matcher.after_apply_before_publish')
    await feed.append(block, 'block')
    crash('matcher.after_ack_before_answer')
  }
  endSpan('durable', commandsOf(results))
  for (const result of results) {
    const { logged, applied } = result
    facts.applied(result)
    if (logged.replyTo === undefined || applied.answer === undefined) continue
    const decided = { market: market.market, seq: feed.end.changeSeq }
    bus.reply(logged.replyTo, encodeAnswer(result, applied.answer, decided))
  }
}

function* commandsOf(results: BlockOfCommands['results']) {
  for (const { logged } of results) yield logged
}

const REFUSAL_OF: Record<RefusedOrder, Refusal> = {
  active_order_not_found: refusals.activeOrderNotFound,
  duplicate_order_id: refusals.duplicateOrderId,
  duplicate_nonce: refusals.duplicateNonce,
  post_only_would_cross: controlRefusals.postOnlyWouldCross,
  open_order_limit: controlRefusals.openOrderLimit,
  signer_order_limit: controlRefusals.signerOrderLimit,
  replacement_differs: changeRefusals.replacementDiffers,
  replacement_too_small: changeRefusals.replacementTooSmall,
  replacement_ends: changeRefusals.replacementEnds,
  command_refused: changeRefusals.commandRefused,
  lease_ended: cancelsRefusals.leaseEnded,
  too_many_leases: cancelsRefusals.tooManyLeases,
}

const REFUSED_REDUCTION = {
  reduction_too_small: reductionTooSmall,
  reduction_not_smaller: reductionNotSmaller,
} as const

/** The words of a refusal. */
function refusalOf(answer: RefusedCommand, decided: DecidedBy): Refusal {
  if ('amount' in answer) return REFUSED_REDUCTION[answer.code](answer.amount)
  const refusal = REFUSAL_OF[answer.code]
  const { repeated } = answer
  return repeated === undefined ? refusal : { ...refusal, existingOrderId: repeated, decided }
}

/** A refusal, in the form in which the command's caller reads its answer. */
function encodeRefused(
  { logged, applied }: MessageResult,
  answer: RefusedCommand,
  decided: DecidedBy,
): Uint8Array {
  const refusal = refusalOf(answer, decided)
  switch (logged.command.kind) {
    case 'MarketRulesSet':
    case 'MarketPaused':
    case 'MarketResumed':
    case 'MarketDisabled':
    case 'MarketEnabled':
    case 'MarketRestored':
    case 'GapAccepted':
      return encodeMarketAnswer({ kind: 'refused', message: applied.refused ?? refusal.message })
    case 'CancelAll':
    case 'CancelOrders':
    case 'SetLease':
    case 'EndLease':
      return encodeCancelsAnswer({ kind: 'refused', refusal })
    default:
      return encodeOrderAnswer({ kind: 'refused', refusal })
  }
}

/** The step's answer to a caller; the seq of `decided` is the last that the caller may wait for. */
function encodeAnswer(
  result: MessageResult,
  answer: CommandAnswer,
  decided: DecidedBy,
): Uint8Array {
  const { market, seq: feedSeq } = decided
  if (answer.kind === 'refused') return encodeRefused(result, answer, decided)
  if (answer.kind === 'market') {
    return encodeMarketAnswer({ kind: 'terms', feed_seq: feedSeq, terms: answer.terms })
  }
  if (answer.kind === 'cancels') return encodeCancelsAnswer({ ...answer, feed_seq: feedSeq })
  if (answer.kind === 'lease') {
    return encodeCancelsAnswer({ kind: 'lease', ends_at_ms: answer.endsAtMs })
  }
  return encodeOrderAnswer({ ...answer, feed_seq: feedSeq, market })
}

/** Writes the feed, each block fenced by the one before. Only a leader has one. */
export interface FeedWriter {
  /** The last block that is durable. */
  readonly end: FeedEnd
  /** Resolves when the block is durable. `what` names it in the log. Throws Fenced. */
  append(block: Block, what: string): Promise<void>
  /**
   * Throws Fenced unless this matcher still leads. A proof that is younger than half of the silence after which a standby
   * takes over is enough. Only what leaves no block behind has to ask: a block is fenced itself.
   */
  assertUnfenced(): Promise<void>
  /** Why the last append failed, while it is being tried again. */
  trouble(): string | undefined
}

/** `provenAtMs`: when this matcher was last known to be the only writer, in monotonic milliseconds. */
function createFeedWriter(
  { bus, market: { market }, facts, elapsedMs, silenceMs }: MatcherSettings,
  start: FeedEnd,
  provenAtMs: number,
): FeedWriter {
  let end = start
  let trouble: string | undefined
  let provedAtMs = provenAtMs
  return {
    get end() {
      return end
    },
    async append(block, what) {
      const startedAtMs = elapsedMs()
      const data = encodeBlock(block)
      const onUnknown = (error: unknown): void => {
        trouble = error instanceof Error ? error.message : String(error)
        facts.appendUnknown(what, error)
      }
      const messageSeq = await publishBlock({ bus, market, onUnknown }, data, end.messageSeq)
      end = { messageSeq, changeSeq: block.firstSeq + block.changes.length - 1, data }
      provedAtMs = startedAtMs
      trouble = undefined
    },
    async assertUnfenced() {
      const nowMs = elapsedMs()
      if (2 * (nowMs - provedAtMs) < silenceMs) return
      const last = await bus.lastMessage(feedStream(market))
      if ((last?.seq ?? 0) !== end.messageSeq) throw anotherWriter(market, last?.seq)
      provedAtMs = nowMs
    },
    trouble: () => trouble,
  }
}

export interface PublishOptions {
  readonly bus: Bus
  readonly market: string
  /** Called each time the outcome of an append has to be looked up. */
  readonly onUnknown: (error: unknown) => void
}

/** Appends a block right after the feed message `lastSeq`, as `appendFenced` does. Throws Fenced. */
export async function publishBlock(
  { bus, market, onUnknown }: PublishOptions,
  data: Uint8Array,
  lastSeq: number,
): Promise<number> {
  const stream = feedStream(market)
  const subject = feedSubject(market)
  try {
    return await appendFenced(
      { bus, stream, subject, onUnknown, onSent: crashUnacknowledged },
      data,
      lastSeq,
    )
  } catch (error) {
    if (!(error instanceof AnotherWriter)) throw error
    throw anotherWriter(market, error.endSeq)
  }
}

const crashUnacknowledged = (): void => crash('matcher.after_publish_before_ack')

const anotherWriter = (market: string, seq: number | undefined): Fenced =>
  new Fenced(`feed of ${market} ends with message ${seq}, which is not ours`)
