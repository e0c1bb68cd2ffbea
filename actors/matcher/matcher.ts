import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'
import { repeatedPairs } from '../../core/engine/signer-pairs.js'
import type { FailedPair, HoldCause } from '../../core/engine/state.js'
import { INTAKE_SOURCE } from '../../core/model/command.js'
import type { MarketHold } from '../../core/model/hold.js'
import { assertUnled, Fenced } from '../../runtime/actor/leadership.js'
import { declareCheckpoints } from '../../runtime/bus/checkpoint-store.js'
import { openMarketLog } from '../../runtime/bus/market-log.js'
import type { ProcessStanding } from '../../runtime/process/process.js'
import { matcherActor } from './actor.js'
import { restore } from './checkpoints.js'
import {
  compare,
  startComparing,
  startStandingBy,
  type ComparisonPhase,
  type StandingBy,
} from './compare.js'
import { objectToNewer } from './engine-version.js'
import { catchUp, lead, takeOver, type LeadingPhase } from './lead.js'
import { goLive, type Live } from './live.js'
import { openCommandLog } from './log.js'
import { withDefaults, type MatcherOptions, type MatcherSettings } from './settings.js'
import type { UnansweredStanding } from './settle.js'

export interface Matcher {
  /** Resolves when it has taken the market. */
  readonly whenLeading: Promise<void>
  /** True once it leads, the log has been replayed and every block of it is in the feed. */
  isLive(): boolean
  positions(): { command_seq: number; feed_seq: number }
  /** Whether it does its work now, and if not, why. */
  standing(): ProcessStanding
  /** What holds the market, by cause. */
  holds(): ReadonlyMap<HoldCause, MarketHold>
  /** Pairs of signers that wait because matches of theirs have failed twice or more, and the chain did not show why. */
  waitingPairs(): readonly FailedPair[]
  /** Number of the market's newest trade, 0 before the first. */
  trades(): number
  stop(): Promise<void>
}

type Phase = ComparisonPhase | StandingBy | LeadingPhase | Live

/**
 * Runs one market, in phases of which each hands on to the next. Restored: the newest checkpoint. Comparing, or for a
 * standby standing by: what the command log gives is compared with the feed. Leading: what the feed does not hold is
 * published. Live: settlements, ticks, checkpoints. Of all matchers of a market one leads. Throws Fenced when the market
 * is led, and StreamsDisagree.
 */
export async function startMatcher(given: MatcherOptions): Promise<Matcher> {
  let over = false
  const onFatal = (error: unknown): void => {
    if (error instanceof Fenced) crash('matcher.fence_detected')
    // Work that a stop interrupts fails too; those errors are not reported.
    if (!over) given.onFatal(error)
    over = true
  }
  const settings = withDefaults({ ...given, onFatal })
  const { bus, market, standby } = settings
  await declareStreams(settings)
  if (!standby) await assertUnled(matcherActor(settings))
  const restored = await restore(settings)
  const { state, commandSeq } = restored
  const log = await openCommandLog({
    bus,
    market: market.market,
    state,
    commandSeq,
    onError: onFatal,
    onStep: settings.onStep,
  })
  const objecting = await objectToNewer(settings)
  const begin = standby ? startStandingBy : startComparing
  const following = await begin(settings, restored, log)

  let phase: Phase = following
  let onLeading = (): void => undefined
  const whenLeading = new Promise<void>((resolve) => (onLeading = resolve))
  const run = async (becoming: Promise<LeadingPhase>): Promise<void> => {
    const leading = await becoming
    await following.stop()
    if (over) return leading.stop()
    phase = leading
    onLeading()
    await catchUp(leading)
    if (over) return
    const live = goLive(leading, restored)
    phase = live
    await live.run()
  }
  const becoming = becomeLeader(settings, following)
  // With nothing to compare, a start that cannot lead fails.
  if (!standby && commandSeq >= restored.logEnd) await becoming
  run(becoming).catch(onFatal)

  return {
    whenLeading,
    isLive: () => phase.kind === 'live',
    positions: () => positionsOf(phase),
    standing: () => standingOf(phase),
    holds: () => phase.log.state.holds,
    waitingPairs: () => repeatedPairs(phase.log.state),
    trades: () => phase.log.state.tradeNo,
    stop: async () => {
      over = true
      await objecting.stop()
      await phase.stop()
      await log.stop()
      // It may just be taking the market; a matcher that starts next must not find it leading.
      if (phase === following) {
        // `run` reports why it did not take it.
        const leading = await becoming.catch(() => undefined)
        await leading?.stop()
      }
    },
  }
}

const becomeLeader = async (
  settings: MatcherSettings,
  following: ComparisonPhase | StandingBy,
): Promise<LeadingPhase> =>
  following.kind === 'comparing'
    ? lead(settings, await compare(following))
    : takeOver(settings, following)

async function declareStreams({ bus, market: row, nowMs, facts }: MatcherSettings): Promise<void> {
  const { market } = row
  await openMarketLog(bus, row, { writer: 'matcher', nowMs, onRaised: facts.versionRaised })
  await bus.declareStream({
    stream: feedStream(market),
    subject: feedSubject(market),
    description: `Blocks of changes of ${market}, written by its matcher alone`,
  })
  await declareCheckpoints(bus, market)
}

const positionsOf = ({ log, feed }: Phase) => ({
  command_seq: log.commandSeq,
  feed_seq: feed.end.changeSeq,
})

/** The last command of the intake that the market has taken: the intake learns of a newer one from it. */
const intakeNoOf = ({ log }: Phase): number => log.state.lastSourceNo.get(INTAKE_SOURCE) ?? 0

const NONE_UNANSWERED: UnansweredStanding = { pending: 0, oldestMs: 0, late: 0 }

function standingOf(phase: Phase): ProcessStanding {
  const trouble = troubleOf(phase)
  const isLive = phase.kind === 'live'
  const { pending, oldestMs, late } = isLive ? phase.unanswered() : NONE_UNANSWERED
  return {
    ready: trouble === undefined,
    detail: trouble ?? 'live',
    positions: {
      ...positionsOf(phase),
      intake_no: intakeNoOf(phase),
      pending_settlements: pending,
      /** Whole seconds, rounded down. */
      oldest_pending_settlement_s: Math.floor(oldestMs / 1_000),
      late_settlements: late,
      waiting_pairs: repeatedPairs(phase.log.state).length,
    },
  }
}

/** What keeps a matcher in this phase from its work; undefined when all is well. */
function troubleOf(phase: Phase): string | undefined {
  switch (phase.kind) {
    case 'standing by':
      return 'standing by'
    case 'comparing':
    case 'leading':
      return 'replaying its log'
    case 'live':
      return phase.trouble()
  }
}
