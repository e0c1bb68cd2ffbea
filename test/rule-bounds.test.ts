import { expect } from 'chai'
import { UNABLE_AFTER_MS } from '../actors/matcher/faults.js'
import * as unchecked from '../actors/order-intake/check-queues.js'
import { MAX_IN_FLIGHT } from '../actors/order-intake/intake.js'
import { NEWCOMERS_MAX } from '../actors/order-intake/known-leases.js'
import * as deposits from '../actors/transfer-submitter/deposit-rules.js'
import { WITHDRAWALS_PER_MINUTE } from '../actors/transfer-submitter/withdrawal-rules.js'
import { MAX_CLIENT_FRAME_BYTES, SESSION_LIMITS } from '../actors/ws-fanout/limits.js'
import { BODY_LIMITS } from '../api-gateway/context.js'
import { LARGE_READ_LIMITS } from '../api-gateway/reads-in-flight.js'
import { MAX_READ_WAIT_MS, WAIT_LIMITS } from '../api-gateway/reads.js'
import { TRANSACTION_GAS_CAP } from '../chain/contracts/simulate.js'
import { SENDER_POLICY } from '../chain/sender/follow-transaction.js'
import { FACTS_AGE_MAX_MS } from '../core/contracts/perpetual.js'
import { BAND_AGE_MAX_MS } from '../core/contracts/future.js'
import * as engine from '../core/model/limits.js'
import * as frames from '../core/entry/auth-frame.js'
import { MAX_FEE_BPS, MAX_OPEN_ORDER_LIMIT } from '../core/entry/read-rules.js'
import * as limits from '../core/limits.js'
import { FUNDS_STALE_MS } from '../core/records/balances-record.js'
import { LAST_DATE_SEC } from '../core/time.js'
import { RETENTION_MS } from '../data/history/project.js'
import { GAS_OF_A_MATCH } from '../executor/cause.js'
import { LOST_GAS_PER_HOUR } from '../executor/lost-gas.js'
import { SHARE_WITHIN_MS } from '../executor/settlement-queue.js'
import { MAX_WAITING, MAX_WAITING_OF_OWNER } from '../executor/waiting-room.js'
import { DEFAULT_LEVEL_DEPTH, LEVEL_DEPTHS } from '../interface/market-data.js'
import { DEFAULT_PAGE_LIMIT } from '../interface/values.js'
import { ANSWER_TIMEOUT_MS } from '../runtime/bus/ask-intake.js'
import { SERVER_LIMITS } from '../runtime/http/server.js'
import { rules } from './support/rules.js'

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
const MINUTE_SEC = 60
const HOUR_SEC = 3_600
const KIB = 1_024

/** The numbers that a rule states, as the code has them. */
const BOUNDS: readonly (readonly [id: string, ...numbers: (number | bigint)[]])[] = [
  ['ORD-004', ANSWER_TIMEOUT_MS / SECOND_MS],
  ['ORD-015', limits.MAX_ORDER_ID_LENGTH],
  ['ORD-033', limits.MAX_ECHO_LENGTH],
  ['ORD-073', limits.MAX_BATCH_ORDERS],
  ['AUT-008', limits.MAX_SIGNATURE_BYTES],
  ['AUT-013', unchecked.MAX_UNCHECKED_PER_MARKET],
  ['AUT-014', unchecked.MAX_UNCHECKED_PER_SIGNER],
  ['AUT-021', engine.EXPIRY_MARGIN_MS / SECOND_MS],
  ['AUT-028', frames.FRAME_CLOCK_SKEW_SEC],
  ['AUT-029', frames.HISTORY_FRAME_MAX_SEC / HOUR_SEC],
  ['AUT-030', frames.SOCKET_FRAME_MAX_SEC / MINUTE_SEC],
  ['MAT-011', engine.SWEEP_MAX_MATCHES],
  ['MAT-012', engine.LIVE_ORDERS_MAX],
  ['MAT-013', engine.PENDING_MATCHES_MAX],
  ['MAT-034', engine.EXPIRY_MARGIN_MS / SECOND_MS],
  ['MAT-038', LAST_DATE_SEC],
  ['MAT-039', engine.DEADLINES_MAX_PER_STEP],
  ['SET-018', engine.REFUSAL_HOLD_MS / SECOND_MS],
  ['SET-019', engine.REFUSALS_SPAN_MS / SECOND_MS],
  ['SET-026', engine.PAIR_WAIT_MS / SECOND_MS],
  ['SET-028', engine.FAILED_PAIRS_MAX],
  ['SET-031', engine.PASSED_OVER_MAX],
  ['SET-034', engine.FAULT_HOLD_MS / SECOND_MS, engine.FAULT_HOLD_MAX_MS / SECOND_MS],
  ['SET-041', UNABLE_AFTER_MS / SECOND_MS],
  ['SET-065', TRANSACTION_GAS_CAP],
  ['SET-069', MAX_WAITING, MAX_WAITING_OF_OWNER],
  ['SET-070', GAS_OF_A_MATCH],
  ['SET-071', SHARE_WITHIN_MS / SECOND_MS],
  ['COD-002', engine.WINDOW_SIZE_MAX],
  ['COD-004', engine.TRIALS_MAX],
  [
    'COD-005',
    engine.TRIAL_POINTS_PER_HOUR,
    engine.TRIAL_POINTS_ON_CHAIN,
    engine.TRIAL_POINTS_IN_SIMULATION,
  ],
  ['COD-006', engine.UNGROWN_ORDERS_MAX],
  ['COD-009', engine.WINDOW_CLOSED_MS / SECOND_MS],
  ['COD-015', engine.REVIEWED_MAX_PER_STEP],
  ['COD-016', engine.CODE_WINDOWS_MAX],
  ['COD-017', LOST_GAS_PER_HOUR],
  ['CAN-006', limits.MAX_CANCEL_REASON_LENGTH],
  ['CAN-016', limits.MAX_CANCELLED_IDS],
  ['CAN-018', limits.MAX_CANCEL_PROOF_SEC],
  ['CAN-026', limits.LEASE_MIN_SEC, limits.LEASE_MAX_SEC / HOUR_SEC],
  ['CAN-032', engine.LEASES_MAX],
  ['CAN-033', NEWCOMERS_MAX],
  ['CAN-044', engine.REFUSED_ORDERS_MAX],
  ['STR-034', limits.KEEP_FEED_CHANGES],
  ['STR-042', limits.MAX_BALANCE_ACCOUNTS],
  ['STR-043', FUNDS_STALE_MS / SECOND_MS],
  ['STR-044', ...LEVEL_DEPTHS, DEFAULT_LEVEL_DEPTH],
  ['STR-050', SESSION_LIMITS.maxOrdersInFlight],
  ['STR-051', SESSION_LIMITS.pingEveryMs / SECOND_MS, SESSION_LIMITS.pongWithinMs / SECOND_MS],
  ['STR-053', MAX_CLIENT_FRAME_BYTES / KIB],
  ['STR-054', SESSION_LIMITS.maxSubscriptions],
  ['STR-055', SESSION_LIMITS.maxMessages, SESSION_LIMITS.messageWindowMs / SECOND_MS],
  ['STR-056', SESSION_LIMITS.maxSocketsPerAddress, SESSION_LIMITS.maxSockets],
  ['STR-057', SESSION_LIMITS.authsAtOnce, SESSION_LIMITS.authEveryMs],
  ['MON-002', limits.MAX_NUMBER_DIGITS],
  ['MON-014', BODY_LIMITS.maxBytes / KIB, BODY_LIMITS.maxDepth],
  ['MON-015', MAX_FEE_BPS, MAX_OPEN_ORDER_LIMIT],
  ['REA-018', limits.MAX_CANDLES_LIMIT],
  ['REA-026', limits.MAX_PAGE_LIMIT, DEFAULT_PAGE_LIMIT],
  ['REA-013', limits.MAX_PAGE_LIMIT],
  ['REA-030', RETENTION_MS / DAY_MS],
  ['REA-034', LARGE_READ_LIMITS.maxPerAddress],
  ['REA-049', MAX_READ_WAIT_MS / SECOND_MS],
  ['REA-050', WAIT_LIMITS.maxPerAddress],
  ['PER-041', FACTS_AGE_MAX_MS / SECOND_MS],
  ['FUT-021', BAND_AGE_MAX_MS / SECOND_MS],
  ['TRA-032', deposits.DEPOSITS_PER_MINUTE],
  ['TRA-033', deposits.DEPOSITS_PER_HOUR],
  ['TRA-041', WITHDRAWALS_PER_MINUTE],
  ['TRA-025', limits.MIN_DEPOSIT_UNITS_6 / 1_000_000n],
  ['OPE-007', engine.CANCELLED_MAX_PER_STEP],
  ['OPE-014', engine.CLOCK_OFF_MAX_MS / SECOND_MS],
  ['OPE-026', MAX_IN_FLIGHT],
  ['OPE-028', engine.ACCOUNTS_IDLE_MAX],
  ['OPE-029', SERVER_LIMITS.maxConnections, SERVER_LIMITS.maxConnectionsPerAddress],
  ['OPE-054', engine.FACTS_REPEATED_MS / SECOND_MS, engine.FACTS_SPARE_MS / SECOND_MS],
  ['OPE-034', SENDER_POLICY.stuckMs / SECOND_MS],
]

describe('the numbers of the rules', () => {
  const textOf = new Map(rules.map(({ id, text }) => [id, text]))
  for (const [id, ...numbers] of BOUNDS) {
    it(`${id} states ${numbers.join(' and ')}`, () => {
      const stated = (textOf.get(id) ?? '').match(/\b\d[\d,]*\b/g) ?? []
      for (const number of numbers) expect(stated).to.include(number.toLocaleString('en-US'))
    })
  }
})
