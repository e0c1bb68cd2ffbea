import { setTimeout as delay } from 'node:timers/promises'
import { BusUnavailable, MessagesGone } from '../../bus-schemas/bus.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import { isReversalApplicable, isReversalDone } from '../../core/apply-reversal.js'
import type { ReportedReversal } from './ask-reversals.js'
import { openFeedTrail, type FeedTrail } from './feed-trail.js'
import type { OwnCommands } from './own-commands.js'
import type { Run } from './run.js'

/** How often the executor is asked for reversals; they are final before they are told, so nothing is gained by haste. */
export const REVERSALS_EVERY_MS = 5_000
const APPLIED_LOOK_MS = 20

export interface ReversalWatch {
  stop(): Promise<void>
}

interface Watch {
  readonly run: Run
  readonly own: OwnCommands
  readonly signal: AbortSignal
  /** Numbers that were told to wait, so that each is told once; bounded by what one page brings. */
  waiting: Set<number>
}

/**
 * Asks the executor again and again, at once for the first time, which settlements have another outcome than was told,
 * and puts into the market's log what the feed says otherwise.
 */
export function watchReversals(run: Run, own: OwnCommands): ReversalWatch {
  const stopping = new AbortController()
  const watch: Watch = { run, own, signal: stopping.signal, waiting: new Set() }
  const watching = keepReading(watch).catch((error: unknown) => {
    if (!stopping.signal.aborted) run.options.onFatal(error)
  })
  return {
    stop: async () => {
      stopping.abort()
      await watching
    },
  }
}

async function keepReading(watch: Watch): Promise<void> {
  const { options } = watch.run
  const { everyMs } = options.reversals
  while (!watch.signal.aborted) {
    try {
      await readReversals(watch)
    } catch (error) {
      const mayClearUp = error instanceof BusUnavailable || error instanceof MessagesGone
      if (!mayClearUp) throw error
      options.facts.reversalsUnread(error.message)
    }
    await delay(everyMs, undefined, { signal: watch.signal })
  }
}

async function readReversals(watch: Watch): Promise<void> {
  const { run, own, signal } = watch
  const { reversals, facts } = run.options
  const { upTo } = run.state.reversals
  const reported = await reversals.ask(upTo, signal)
  if (signal.aborted) return
  if (typeof reported === 'string') {
    facts.reversalsUnread(reported)
    return
  }
  const left = await dealWith(
    watch,
    reported.filter((one) => isOurs(run, one)),
  )
  const firstLeft = reported.findIndex(({ no }) => left.has(no))
  const done = reported[firstLeft < 0 ? reported.length - 1 : firstLeft - 1]
  if (done !== undefined) await own.submit({ kind: 'ReversalsRead', upTo: done.no })
}

const isOurs = ({ options }: Run, { settlementId }: ReportedReversal): boolean =>
  proposedBy(options.market.market, settlementId) !== undefined

/** The change that proposed the match: its number is in the settlement's id. */
function proposedBy(market: string, settlementId: string): number | undefined {
  const [name, seq = ''] = [settlementId.slice(0, market.length), settlementId.slice(market.length)]
  return name === market && /^:[1-9][0-9]{0,14}$/.test(seq)
    ? Number.parseInt(seq.slice(1), 10)
    : undefined
}

/** Answers the numbers of those that are left for later. */
async function dealWith(watch: Watch, all: readonly ReportedReversal[]): Promise<Set<number>> {
  const { run } = watch
  const { bus, market } = run.options
  const rows = all.filter(({ no }) => !isReversalDone(run.state, no))
  const left = new Set<number>()
  if (rows.length === 0) return left
  const settlementIds = rows.map(({ settlementId }) => settlementId)
  const seqs = settlementIds.map((id) => proposedBy(market.market, id) ?? 0)
  const fromSeq = Math.min(...seqs)
  const trail = await openFeedTrail(bus, market.market, { settlementIds, fromSeq })
  for (const row of rows) {
    if (watch.signal.aborted || !(await dealWithOne(watch, trail, row))) left.add(row.no)
  }
  watch.waiting = new Set([...watch.waiting].filter((no) => left.has(no)))
  return left
}

/** Whether nothing is left to do about it. One after the other: each changes what the feed says. */
async function dealWithOne(
  watch: Watch,
  trail: FeedTrail,
  { no, settlementId, now }: ReportedReversal,
): Promise<boolean> {
  const { run, own } = watch
  const { state } = run
  await trail.readUpTo(run.feed.messageSeq)
  const reversal = trail.reversalOf(settlementId, no, now)
  if (reversal === undefined) return true
  // The match is pending: its outcome is asked for, and will be the true one.
  if (reversal === 'untold') return false
  if (isReversalApplicable(state, reversal)) {
    await own.submit({ kind: 'SettlementReversed', reversal })
    await untilApplied(watch)
  }
  if (isReversalDone(state, no)) return true
  if (!watch.waiting.has(no)) {
    watch.waiting.add(no)
    run.options.facts.reversalWaits(settlementId, `${now.kind} as of reversal ${no}`)
  }
  return false
}

/** Resolves when this matcher has applied all that its log holds now. */
async function untilApplied({ run, signal }: Watch): Promise<void> {
  const { bus, market } = run.options
  const { lastSeq } = await bus.streamState(commandsStream(market.market))
  while (run.commandSeq < lastSeq) await delay(APPLIED_LOOK_MS, undefined, { signal })
}
