import type { MarketRequest } from '../../bus-schemas/markets.js'
import { formatDecimal } from '../../core/decimal.js'
import type { MessageResult } from '../../core/engine/apply-message.js'
import type { Change, Leader } from '../../core/model/change.js'
import type { LoggedCommand, MarketCommand } from '../../core/model/command.js'
import { warnOfUnreadable } from '../../runtime/bus/read-question.js'
import type { StoredCheckpoint } from '../../runtime/bus/checkpoint-store.js'
import type { Logger } from '../../runtime/process/log.js'

/** What a matcher logs, one line for each event. */
export type MatcherObserver = ReturnType<typeof observeMatcher>

export function observeMatcher(log: Logger) {
  return {
    ...observeTerms(log),
    ...observeLog(log),
    caughtUp: (positions: Readonly<Record<string, number>>, pendingMatches: number) =>
      log.info({ ...positions, pending_matches: pendingMatches }, 'matcher caught up with its log'),
    restored: (commandSeq: number) =>
      log.info({ command_seq: commandSeq }, 'state restored from a checkpoint'),
    leads: ({ term, id }: Leader, positions: Readonly<Record<string, number>>) =>
      log.info({ term, id, ...positions }, 'matcher leads its market'),
    versionRaised: (what: string) => log.warn(what),
    questionUnreadable: warnOfUnreadable(log),
    leaderSilent: () => log.warn('the leader is silent, taking over'),
    checkpointWritten: ({ commandSeq, trailerSeq, firstSeq }: StoredCheckpoint, ms: number) =>
      log.info(
        { command_seq: commandSeq, messages: trailerSeq - firstSeq + 1, ms },
        'checkpoint written',
      ),
    checkpointFailed: (error: unknown) => log.warn({ err: error }, 'checkpoint not written'),
    checkpointUnusable: ({ commandSeq }: StoredCheckpoint, why: string) =>
      log.error({ command_seq: commandSeq, why }, 'checkpoint not usable, trying an older one'),
    feedTrimmed: (firstSeq: number) =>
      log.info({ first_seq: firstSeq }, 'feed trimmed behind its archive'),
    commandsTrimmed: (firstSeq: number) =>
      log.info({ first_seq: firstSeq }, 'command log trimmed behind the oldest checkpoint'),
    applied: ({ logged, applied }: MessageResult) => {
      observeRefused(log, logged, applied.refused)
      for (const change of applied.changes) {
        const level = OF_ITS_CALLER.has(change.kind) ? 'debug' : 'info'
        // Nearly every change is logged at debug; its line is not made when that is off.
        if (!log.isLevelEnabled(level)) continue
        const requestId = change.kind === 'OrderPlaced' ? logged.requestId : undefined
        log[level]({ ...describe(change), request_id: requestId }, WORDS[change.kind])
      }
    },
    appendUnknown: (what: string, error: unknown) =>
      log.warn({ err: error, what }, 'append not acknowledged, asking the stream'),
    settlementAsked: (settlementId: string) =>
      log.debug({ settlement_id: settlementId }, 'settlement sent to executor'),
    settlementUnknown: (settlementId: string, why: string) =>
      // Usual while the executor starts; one that stays undecided is reported as late.
      log.info({ settlement_id: settlementId, why }, 'settlement not decided, asking again'),
    settlementLate: (settlementId: string, ageMs: number) =>
      log.warn(
        { settlement_id: settlementId, age_ms: ageMs },
        'settlement without an outcome for long',
      ),
    settled: (settlementId: string, ageMs: number) =>
      log.debug({ settlement_id: settlementId, age_ms: ageMs }, 'settlement has its outcome'),
    lateSettled: (settlementId: string, ageMs: number) =>
      log.warn({ settlement_id: settlementId, age_ms: ageMs }, 'late settlement has its outcome'),
    reversalsUnread: (why: string) =>
      log.warn({ why }, 'reversals of settlements not read, asking again'),
    reversalWaits: (settlementId: string, why: string) =>
      log.error(
        { settlement_id: settlementId, why },
        'a settlement was reversed on the chain, which cannot be applied yet',
      ),
    settlementRefused: (settlementId: string, why: string) =>
      log.error({ settlement_id: settlementId, why }, 'executor refused the payload'),
  }
}

/** A fault of the checks before the log, which an operator is to report. */
function observeRefused(log: Logger, logged: LoggedCommand, why: string | undefined): void {
  if (why === undefined) return
  const { source, sourceNo, requestId, command } = logged
  log.error(
    { source, source_no: sourceNo, request_id: requestId, kind: command.kind, why },
    'a command cannot be carried out, it is refused and changes nothing',
  )
}

/** What the command log holds that is not taken as it is. */
function observeLog(log: Logger) {
  return {
    clockAhead: ({ source, atMs }: LoggedCommand, storedAtMs: number) =>
      log.error(
        { source, ahead_ms: atMs - storedAtMs },
        'a clock is ahead of the bus, its time is not believed',
      ),
    commandForeign: ({ source, command }: LoggedCommand, subject: string) =>
      log.error(
        { source, kind: command.kind, subject },
        'a command is left out: its writer may not write it',
      ),
  }
}

/** What an operator sets: the market's rules and its engine version. */
function observeTerms(log: Logger) {
  return {
    operatorRefused: ({ by, reason, change, proof }: MarketRequest, problem: string) =>
      log.warn(
        { by, reason, change: change.kind, key: proof?.key, problem },
        'a command to the market is refused',
      ),
    operatorAsks: ({ kind, by, reason }: MarketCommand) =>
      log.info({ command: kind, by, reason }, 'operator changes the market'),
    engineSet: (version: number, isNew: boolean) =>
      log[isNew ? 'info' : 'warn'](
        { engine_version: version },
        'engine version set: releases before it cannot run this market any more',
      ),
    engineWaits: (version: number, why: string) =>
      log.warn({ engine_version: version, why }, 'engine version not set yet, asking again'),
    engineNotLowered: (asked: number, current: number) =>
      log.warn(
        { asked, engine_version: current },
        'ENGINE_VERSION is below that of the log, which never goes back: remove the setting',
      ),
  }
}

/** The gateway logs these already with their requests. */
const OF_ITS_CALLER: ReadonlySet<Change['kind']> = new Set(['OrderPlaced', 'OrderCancelled'])

const WORDS: Record<Change['kind'], string> = {
  OrderPlaced: 'order placed',
  OrderMatched: 'match proposed',
  OrderFilled: 'order filled',
  MatchReverted: 'match reverted',
  FillReversed: 'fill reversed',
  OrderHeld: 'order held',
  OrderReleased: 'order released',
  OrderResized: 'order resized',
  OrderCancelled: 'order cancelled',
  OrderExpired: 'order expired',
  OrderForgotten: 'order forgotten',
  CommandRefused: 'command refused',
}

function describe(change: Change): Record<string, unknown> {
  const base = {
    seq: change.seq,
    order_id: change.orderId,
    status: change.status,
    open: formatDecimal(change.open, 18),
  }
  switch (change.kind) {
    case 'OrderMatched': {
      const { settlementId, takerOrderId, amount, price } = change.match
      return {
        ...base,
        settlement_id: settlementId,
        taker_order_id: takerOrderId,
        amount: formatDecimal(amount, 18),
        price: formatDecimal(price, 18),
      }
    }
    case 'FillReversed':
    case 'OrderFilled': {
      const { settlementId, tradeId, liquidity, txHash } = change.fill
      return {
        ...base,
        settlement_id: settlementId,
        trade_id: tradeId,
        liquidity,
        tx_hash: txHash,
        ...(change.kind === 'FillReversed' && { revert: change.revert }),
      }
    }
    case 'MatchReverted':
      return { ...base, settlement_id: change.settlementId, revert: change.revert }
    default:
      return base
  }
}
