import { setTimeout as delay } from 'node:timers/promises'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { isReversalApplicable, isReversalDone } from '../../core/engine/apply-reversal.js'
import { createSettlementTrail, type SettlementTrail } from '../../core/engine/settlement-trail.js'
import type { MatcherState } from '../../core/engine/state.js'
import type { SettlementReversal } from '../../core/model/command.js'
import type { AmountE18 } from '../../core/money.js'
import { ReversalsPage, type ReversalRecord } from '../../interface/execute.js'
import { mayBeReadLater, MessagesGone, type Bus } from '../../runtime/bus/bus.js'
import type { ExecutorAddress } from './ask-executor.js'
import { fetchFromExecutor, NoExecutor, orNoExecutor } from './executors.js'
import type { OwnCommands } from './own-commands.js'
import type { LeadingPhase } from './lead.js'
import type { AskReversals, ReportedReversal } from './settings.js'

/** Matcher and executor start at the same time: that the first questions fail means nothing. Later, one may fail. */
const AT_START_TOLERATED = 6
const APPLIED_LOOK_MS = 20

export interface ReversalWatch {
  stop(): Promise<void>
}

interface WatchState {
  readonly leading: LeadingPhase
  readonly own: OwnCommands
  readonly signal: AbortSignal
  /** Numbers that were reported as waiting, so that each is reported once; bounded by the length of a page. */
  waiting: Set<number>
  /** What orders of those that wait have asked for at most, as far as it was read; emptied when none waits. */
  readonly greatest: Map<string, AmountE18>
}

/**
 * Asks the executor at once and then regularly which settlements have another final outcome than it reported, and puts
 * each into the market's log that the feed does not show.
 */
export function watchReversals(leading: LeadingPhase, own: OwnCommands): ReversalWatch {
  const stopping = new AbortController()
  const watch: WatchState = {
    leading,
    own,
    signal: stopping.signal,
    waiting: new Set(),
    greatest: new Map(),
  }
  const watching = keepReading(watch).catch((error: unknown) => {
    if (!stopping.signal.aborted) leading.settings.onFatal(error)
  })
  return {
    stop: async () => {
      stopping.abort()
      await watching
    },
  }
}

async function keepReading(watch: WatchState): Promise<void> {
  const { facts, reversals } = watch.leading.settings
  let tolerated = AT_START_TOLERATED
  for (let unread = 0; !watch.signal.aborted;) {
    const why = await readReversals(watch).catch((error: unknown) => {
      if (mayBeReadLater(error) || error instanceof MessagesGone) return error.message
      throw error
    })
    unread = why === undefined ? 0 : unread + 1
    if (why === undefined) tolerated = 1
    else if (unread > tolerated) facts.reversalsUnread(why)
    await delay(reversals.everyMs, undefined, { signal: watch.signal })
  }
}

/** Resolves with the reason when they cannot be read. */
async function readReversals(watch: WatchState): Promise<string | undefined> {
  const { leading, own, signal } = watch
  const { market, reversals } = leading.settings
  const { upTo } = leading.log.state.reversals
  const reported = await reversals.ask(upTo, signal)
  if (signal.aborted) return undefined
  if (typeof reported === 'string') return reported
  const ofMarket = reported.filter(
    ({ settlementId }) => proposedBy(market.market, settlementId) !== undefined,
  )
  const left = await applyReversals(watch, ofMarket)
  const firstLeft = reported.findIndex(({ no }) => left.has(no))
  const done = reported[firstLeft < 0 ? reported.length - 1 : firstLeft - 1]
  if (done !== undefined) await own.submit({ kind: 'ReversalsRead', upTo: done.no })
  return undefined
}

/** The change that proposed the match: its number is in the settlement's id. */
export function proposedBy(market: string, settlementId: string): number | undefined {
  const [name, seq = ''] = [settlementId.slice(0, market.length), settlementId.slice(market.length)]
  return name === market && /^:[1-9][0-9]{0,14}$/.test(seq)
    ? Number.parseInt(seq.slice(1), 10)
    : undefined
}

/** Resolves with the numbers of those that have to be applied later. */
async function applyReversals(
  watch: WatchState,
  all: readonly ReportedReversal[],
): Promise<Set<number>> {
  const { settings, log } = watch.leading
  const { bus, market } = settings
  const rows = all.filter(({ no }) => !isReversalDone(log.state, no))
  const left = new Set<number>()
  if (rows.length === 0) return left
  const settlementIds = rows.map(({ settlementId }) => settlementId)
  const seqs = settlementIds.map((id) => proposedBy(market.market, id) ?? 0)
  const fromSeq = Math.min(...seqs)
  if (watch.waiting.size === 0) watch.greatest.clear()
  const { greatest } = watch
  const trail = await openFeedTrail(bus, market.market, { settlementIds, fromSeq, greatest })
  for (const row of rows) {
    if (watch.signal.aborted || !(await applyReversal(watch, trail, row))) left.add(row.no)
  }
  watch.waiting = new Set([...watch.waiting].filter((no) => left.has(no)))
  return left
}

/** Whether nothing is left to do about it. Called one after the other, because each adds to the feed. */
async function applyReversal(
  watch: WatchState,
  trail: FeedTrail,
  { no, settlementId, now }: ReportedReversal,
): Promise<boolean> {
  const { leading, own } = watch
  const { state } = leading.log
  await trail.readUpTo(leading.feed.end.messageSeq)
  let reversal = trail.reversalOf(settlementId, no, now)
  if (reversal === undefined) return true
  if (isShort(state, reversal) && !watch.waiting.has(no)) {
    await trail.readBack()
    reversal = trail.reversalOf(settlementId, no, now)
    assert(reversal !== undefined, 'earlier changes leave an outcome as it is')
  }
  // The match is pending: its outcome is asked for, and will be the true one.
  if (reversal === 'unpublished') return false
  if (isReversalApplicable(state, reversal)) {
    await own.submit({ kind: 'SettlementReversed', reversal })
    await untilApplied(watch)
  }
  if (isReversalDone(state, no)) return true
  if (!watch.waiting.has(no)) {
    watch.waiting.add(no)
    leading.settings.facts.reversalWaits(settlementId, `${now.kind} as of reversal ${no}`)
  }
  return false
}

/** Whether an order of a late fill has no room for it: it may have been reduced before the match. */
const isShort = (state: MatcherState, reversal: SettlementReversal | 'unpublished'): boolean =>
  reversal !== 'unpublished' &&
  reversal.now.kind === 'success' &&
  !isReversalApplicable(state, reversal)

/** Resolves when this matcher has applied all that its log holds now. */
async function untilApplied({ leading: { log }, signal }: WatchState): Promise<void> {
  const endSeq = await log.endSeq()
  while (log.commandSeq < endSeq) await delay(APPLIED_LOOK_MS, undefined, { signal })
}

/** Asks the executor in use over HTTP. Rejects with a defect of this program alone. */
export function askReversalsAt({ executors, ...rest }: ExecutorAddress): AskReversals {
  return async (after, signal) => {
    const [url] = executors.inOrder()
    assert(url !== undefined, 'there is no executor to ask')
    const path = `/reversals?after=${after}`
    const answer = await orNoExecutor(fetchFromExecutor({ ...rest, url }, path, signal))
    if (answer instanceof NoExecutor) return `no answer: ${answer.message}`
    const page = ReversalsPage.safeParse(answer)
    return page.success ? page.data.reversals.map(readReversal) : `no answer: ${page.error.message}`
  }
}

function readReversal(row: ReversalRecord): ReportedReversal {
  const { no, settlement_id: settlementId, now: truth } = row
  if (truth.status === 'reverted') {
    return {
      no,
      settlementId,
      now: { kind: 'reverted', revert: truth.revert },
    }
  }
  const { tx_hash: txHash, block_number: block } = truth
  return {
    no,
    settlementId,
    now: { kind: 'success', txHash: txHash as Hex, blockNumber: BigInt(block) },
  }
}

const PAGE = 64
/** So many messages before a match are read for what its orders asked for; an order reduced before them waits, and is logged. */
const READ_BACK_MAX = 16_384

/** The settlements asked for, as far as a market's feed was read. */
export interface FeedTrail extends Pick<SettlementTrail, 'reversalOf'> {
  /** Reads on up to this message of the feed. */
  readUpTo(messageSeq: number): Promise<void>
  /** Reads READ_BACK_MAX messages before the first one, once, as far as the feed has them, for what orders asked for earlier. */
  readBack(): Promise<void>
}

export interface FeedTrailOptions {
  readonly settlementIds: readonly string[]
  readonly fromSeq: number
  /** What orders are known to have asked for at most; added to. */
  readonly greatest?: Map<string, AmountE18>
}

/**
 * Opens the trail of settlements, of which the earliest was proposed by the change `fromSeq`, with everything that
 * follows it. Throws MessagesGone when the feed was trimmed beyond that, and BusUnavailable.
 */
export async function openFeedTrail(
  bus: Pick<Bus, 'read' | 'streamState'>,
  market: string,
  { settlementIds, fromSeq, greatest }: FeedTrailOptions,
): Promise<FeedTrail> {
  const stream = feedStream(market)
  const trail = createSettlementTrail(settlementIds, greatest)
  const begin = await findMessage(bus, stream, fromSeq)
  /** Folds the messages from one up to another, and resolves with the number of the next. */
  const readPages = async (from: number, to: number, fold: SettlementTrail['fold']) => {
    let next = from
    while (next <= to) {
      const messages = await bus.read(stream, next, Math.min(PAGE, to - next + 1))
      if (messages.length === 0) break
      for (const { data } of messages) decodeBlock(data).changes.forEach(fold)
      next += messages.length
    }
    return next
  }
  let next = begin
  let hasReadBack = false
  return {
    reversalOf: trail.reversalOf,
    async readUpTo(messageSeq) {
      next = await readPages(next, messageSeq, trail.fold)
    },
    async readBack() {
      if (hasReadBack) return
      hasReadBack = true
      const { firstSeq } = await bus.streamState(stream)
      await readPages(Math.max(firstSeq, begin - READ_BACK_MAX), begin - 1, trail.recall)
    },
  }
}

/** The last message whose changes begin at this one or before, found by halving. */
async function findMessage(
  bus: Pick<Bus, 'read' | 'streamState'>,
  stream: string,
  changeSeq: number,
): Promise<number> {
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  let low = firstSeq
  let high = lastSeq
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [message] = await bus.read(stream, middle, 1)
    const begins = message === undefined ? Infinity : decodeBlock(message.data).firstSeq
    if (begins <= changeSeq) low = middle
    else high = middle - 1
  }
  return low
}
