import { assert } from '../../core/assert.js'
import { withIdentity } from '../../core/model/market-terms.js'
import { crash } from '../../core/crash-point.js'
import type { BlockOfCommands } from '../../core/engine/apply-message.js'
import { captureState } from '../../core/engine/capture.js'
import { knownOrder } from '../../core/engine/state.js'
import { SETTLEMENT_UNAVAILABLE } from '../../core/revert.js'
import { claimsStoredTo } from '../../runtime/bus/ask-intake.js'
import { executeRequest } from './ask-executor.js'
import {
  createCheckpointer,
  sha256Of,
  type CapturedCheckpoint,
  type RestoredMatcher,
} from './checkpoints.js'
import { startEngineSwitch } from './engine-version.js'
import { followFaults } from './faults.js'
import { publishNext, type LeadingPhase } from './lead.js'
import { answerOperator } from './operator.js'
import { answerSettlements } from './judge-settlement.js'
import { createOwnCommands, type OwnCommands } from './own-commands.js'
import { startPulse } from './pulse.js'
import { watchReversals } from './reversals.js'
import {
  createSettler,
  createUnanswered,
  EXECUTOR_REFUSED,
  type Settler,
  type UnansweredStanding,
} from './settle.js'
import { answerTrims } from './trim-feed.js'

/** The last phase: the leader has caught up with the log, so it settles matches, gives the market its time and writes checkpoints. */
export interface Live {
  readonly kind: 'live'
  readonly log: LeadingPhase['log']
  readonly feed: LeadingPhase['feed']
  /** Applies the log, message by message, until that fails. */
  run(): Promise<never>
  /** Settlements without an outcome. */
  unanswered(): UnansweredStanding
  /** What keeps the matcher from its work; undefined when all is well. */
  trouble(): string | undefined
  stop(): Promise<void>
}

/** Resumes what the log left open: matches without a result, sweeps that had stopped, the clock. */
export function goLive(leading: LeadingPhase, restored: RestoredMatcher): Live {
  const { settings, leader, log, feed } = leading
  const { bus, market, facts, nowMs, elapsedMs, onFatal } = settings
  const { state } = log
  const { changeSeq } = feed.end
  assert(state.seq === changeSeq, `log gives seq ${state.seq}, feed holds ${changeSeq}`)
  const own = createOwnCommands({
    bus,
    market: market.market,
    contractType: state.identity.contractType,
    term: leader.term,
    nowMs,
    onUnknown: (error) => facts.appendUnknown('commands', error),
  })
  // Before anything is asked of the executor, which asks back.
  const judging = answerSettlements(leading)
  judging.catch(onFatal)
  const unanswered = createUnanswered(settings)
  const settler = openSettler(leading, own, unanswered)
  const reversals = watchReversals(leading, own)
  const faults = followFaults(leading, own)
  const pulse = startPulse(leading, own)
  const engineSwitch = startEngineSwitch({ ...settings, log, own })
  const answering = Promise.all([answerOperator(leading, own), answerTrims(leading)])
  answering.catch(onFatal)
  const { checkpoints: stored, atMs: sinceMs } = restored
  const checkpointer = createCheckpointer({
    bus,
    market: market.market,
    settings: settings.checkpoints,
    stored,
    sinceMs,
    facts,
    elapsedMs,
    turns: settings.turns,
    onPiece: settings.onStep,
    claimsStoredTo: () => claimsStoredTo(bus, market.market),
  })
  for (const match of state.matches.values()) settler.add(match)
  continueSweeps(leading, own)
  const positions = { command_seq: log.commandSeq, feed_seq: changeSeq }
  facts.caughtUp(positions, state.matches.size)
  const notices = { onClockAhead: facts.clockAhead, onForeign: facts.commandForeign }
  const onStep = (step: BlockOfCommands): void => followUp(step, { own, settler, onFatal })
  return {
    kind: 'live',
    log,
    feed,
    unanswered: () => unanswered.standing(),
    async run() {
      for (;;) {
        const { commands } = await publishNext(leading, onStep, notices)
        checkpointer.applied(commands.length, () => capture(leading))
      }
    },
    trouble: () => {
      if (!bus.isConnected()) return 'the bus is not connected'
      const fault = state.holds.get('chain')?.reason
      const held = fault && `held: ${whatRefuses(fault)}, ${fault}`
      return feed.trouble() ?? own.trouble() ?? pulse.trouble() ?? held
    },
    stop: async () => {
      pulse.stop()
      engineSwitch.stop()
      // Why one could not be opened is reported; what asks the executor must end all the same.
      for (const subscription of await answering.catch(() => [])) await subscription.stop()
      // Together: a settlement may be waiting for its report to become durable.
      await Promise.all([settler.stop(), reversals.stop(), faults.stop(), own.stop()])
      await (await judging.catch(() => undefined))?.stop()
      await checkpointer.stop()
      await leading.stop()
    },
  }
}

function whatRefuses(fault: string): string {
  if (fault === SETTLEMENT_UNAVAILABLE) return 'the executor takes no match'
  return fault === EXECUTOR_REFUSED
    ? 'the executor has another row of the market and refuses every match'
    : 'the chain refuses every match'
}

function openSettler(
  { settings, log: { state } }: LeadingPhase,
  own: OwnCommands,
  unanswered: ReturnType<typeof createUnanswered>,
): Settler {
  const { market, ask, facts, onFatal } = settings
  // The log governs.
  const logged = withIdentity(market, state)
  const order = (orderId: string) => knownOrder(state, orderId).order
  return createSettler({
    ask,
    facts,
    unanswered,
    onFatal,
    payloadOf: (match) =>
      state.matches.has(match.settlementId)
        ? executeRequest(logged, match, order(match.makerOrderId), order(match.takerOrderId))
        : undefined,
    report: (settlementId, outcome) =>
      own.submit({ kind: 'SettlementReported', settlementId, outcome }),
    noteCode: async (signer) => {
      if (!state.codeSigners.has(signer)) await own.submit({ kind: 'SignerCodeObserved', signer })
    },
  })
}

/** Sweeps that an earlier leader began and did not finish. */
function continueSweeps({ settings, log }: LeadingPhase, own: OwnCommands): void {
  for (const { order, hold } of log.state.orders.values()) {
    if (hold?.reason !== 'continuing' || hold.untilMs !== undefined) continue
    own.submit({ kind: 'ContinueOrder', orderId: order.orderId }).catch(settings.onFatal)
  }
}

interface FollowUp {
  readonly own: OwnCommands
  readonly settler: Settler
  readonly onFatal: (error: unknown) => void
}

/** Starts what a durable step asks for: settlements, and the commands by which long work continues. */
function followUp({ results }: BlockOfCommands, { own, settler, onFatal }: FollowUp): void {
  for (const { applied } of results) {
    for (const change of applied.changes) {
      if (change.kind !== 'OrderMatched') continue
      crash('matcher.after_answer_before_settle')
      settler.add(change.match)
    }
    for (const orderId of applied.continueOrderIds) {
      own.submit({ kind: 'ContinueOrder', orderId }).catch(onFatal)
    }
    if (applied.moreIsDue) own.submit({ kind: 'Tick' }).catch(onFatal)
  }
}

/** The checkpoint of this place of the log, to be written while the log is applied further. */
function capture({ settings, leader, log, feed: { end } }: LeadingPhase): CapturedCheckpoint {
  const { snapshot, release } = captureState(log.state)
  const checkpoint = {
    market: settings.market.market,
    commandSeq: log.commandSeq,
    feed: { messageSeq: end.messageSeq, sha256: sha256Of(end.data) },
    term: leader.term,
    state: snapshot,
  }
  return { checkpoint, release }
}
