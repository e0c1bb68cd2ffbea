import type { Change, Leader } from '../../core/change.js'
import { formatDecimal } from '../../core/decimal.js'
import type { StoredCheckpoint } from '../../bus-schemas/checkpoint-store.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { LoggedCommand } from '../../core/command.js'
import type { MessageResult } from '../../core/apply-message.js'

/** What a matcher tells its operator, one line for each thing worth knowing. */
export type MatcherFacts = ReturnType<typeof observeMatcher>

export function observeMatcher(log: Logger) {
  return {
    caughtUp: (positions: Readonly<Record<string, number>>, pendingMatches: number) =>
      log.info({ ...positions, pending_matches: pendingMatches }, 'matcher caught up with its log'),
    restored: (commandSeq: number) =>
      log.info({ command_seq: commandSeq }, 'state restored from a checkpoint'),
    leads: ({ term, id }: Leader, positions: Readonly<Record<string, number>>) =>
      log.info({ term, id, ...positions }, 'matcher leads its market'),
    leaderSilent: () => log.warn('the leader is silent, taking over'),
    clockAhead: ({ source, atMs }: LoggedCommand, storedAtMs: number) =>
      log.error(
        { source, ahead_ms: atMs - storedAtMs },
        'a clock is ahead of the bus, its time is not believed',
      ),
    checkpointWritten: ({ commandSeq, sealSeq, firstSeq }: StoredCheckpoint, ms: number) =>
      log.info(
        { command_seq: commandSeq, messages: sealSeq - firstSeq + 1, ms },
        'checkpoint written',
      ),
    checkpointFailed: (error: unknown) => log.warn({ err: error }, 'checkpoint not written'),
    checkpointUnusable: ({ commandSeq }: StoredCheckpoint, why: string) =>
      log.error({ command_seq: commandSeq, why }, 'checkpoint not usable, trying an older one'),
    commandsTrimmed: (firstSeq: number) =>
      log.info({ first_seq: firstSeq }, 'command log trimmed behind the oldest checkpoint'),
    applied: ({ logged, applied }: MessageResult) => {
      for (const change of applied.changes) {
        const level = OF_ITS_CALLER.has(change.kind) ? 'debug' : 'info'
        // Nearly every change is told at debug, and its words would be made for nobody.
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
      log.warn({ settlement_id: settlementId, why }, 'settlement not decided, asking again'),
    settlementLate: (settlementId: string, ageMs: number) =>
      log.warn(
        { settlement_id: settlementId, age_ms: ageMs },
        'settlement without an outcome for long',
      ),
    lateSettled: (settlementId: string, ageMs: number) =>
      log.warn({ settlement_id: settlementId, age_ms: ageMs }, 'late settlement has its outcome'),
    reversalsUnread: (why: string) =>
      log.warn({ why }, 'reversals of settlements not read, asking again'),
    reversalWaits: (settlementId: string, why: string) =>
      log.error(
        { settlement_id: settlementId, why },
        'the chain says otherwise of a settlement, and that cannot be applied yet',
      ),
    settlementRefused: (settlementId: string, why: string) =>
      log.error({ settlement_id: settlementId, why }, 'executor refused the payload'),
  }
}

/** The gateway's line of the request says these already. */
const OF_ITS_CALLER: ReadonlySet<Change['kind']> = new Set(['OrderPlaced', 'OrderCancelled'])

const WORDS: Record<Change['kind'], string> = {
  OrderPlaced: 'order placed',
  OrderMatched: 'match proposed',
  OrderFilled: 'order filled',
  MatchReverted: 'match reverted',
  FillReversed: 'fill reversed',
  OrderHeld: 'order held',
  OrderReleased: 'order released',
  OrderCancelled: 'order cancelled',
  OrderExpired: 'order expired',
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
