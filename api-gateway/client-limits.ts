import { HISTORY_FRAME_MAX_SEC, SOCKET_FRAME_MAX_SEC } from '../core/entry/auth-frame.js'
import {
  LEASE_MAX_SEC,
  LEASE_MIN_SEC,
  MAX_BALANCE_ACCOUNTS,
  MAX_BATCH_ORDERS,
  MAX_CANCEL_PROOF_SEC,
  MAX_CANCEL_REASON_LENGTH,
  MAX_CANCELLED_IDS,
  MAX_CANDLES_LIMIT,
  MAX_NUMBER_DIGITS,
  MAX_ORDER_ID_LENGTH,
  MAX_PAGE_LIMIT,
  MAX_SIGNATURE_BYTES,
  MAX_TRANSFER_AHEAD_SEC,
  MIN_DEPOSIT_UNITS_6,
} from '../core/limits.js'
import { SOCKET_BOUNDS } from '../interface/socket-bounds.js'
import { BODY_LIMITS, type GatewayDeps } from './context.js'

/** A bound that a client meets, by its name in `limits` of `GET /v1/venue`. */
interface ClientLimit {
  readonly name: string
  readonly value: number
  readonly what: string
}

const limit = (name: string, value: number, what: string): ClientLimit => ({ name, value, what })

/** Every bound that is the same at each venue of this release. */
const FIXED: readonly ClientLimit[] = [
  limit('body_bytes', BODY_LIMITS.maxBytes, 'a request’s body; an order has about 1 KiB'),
  limit('order_id_length', MAX_ORDER_ID_LENGTH, 'characters of an `order_id`'),
  limit('cancel_reason_length', MAX_CANCEL_REASON_LENGTH, 'characters of a cancel’s `reason`'),
  limit('signature_bytes', MAX_SIGNATURE_BYTES, 'bytes of a signature'),
  limit('number_digits', MAX_NUMBER_DIGITS, 'digits of a number'),
  limit('batch_orders', MAX_BATCH_ORDERS, 'orders and replacements of a batch'),
  limit('cancel_list_orders', MAX_CANCELLED_IDS, 'orders of a cancel by list'),
  limit('page_rows', MAX_PAGE_LIMIT, 'rows of a page of a history'),
  limit('candle_rows', MAX_CANDLES_LIMIT, 'candles of one answer'),
  limit('balance_accounts', MAX_BALANCE_ACCOUNTS, 'accounts of one question for balances'),
  limit('lease_min_seconds', LEASE_MIN_SEC, 'shortest lease or dead man’s switch'),
  limit('lease_max_seconds', LEASE_MAX_SEC, 'longest lease or dead man’s switch'),
  limit('cancel_proof_seconds', MAX_CANCEL_PROOF_SEC, 'validity of a signed cancel of many orders'),
  limit('history_frame_seconds', HISTORY_FRAME_MAX_SEC, 'validity of a frame for the histories'),
  limit('socket_frame_seconds', SOCKET_FRAME_MAX_SEC, 'validity of an `auth` frame'),
  limit('socket_frame_bytes', SOCKET_BOUNDS.frameBytes, 'a frame of a client; more closes 1009'),
  limit(
    'socket_subscriptions',
    SOCKET_BOUNDS.subscriptions,
    'subscriptions of a connection; one more closes 1008',
  ),
  limit(
    'socket_unanswered_orders',
    SOCKET_BOUNDS.unansweredOrders,
    'requests of orders without an answer; one more is `overloaded`',
  ),
  limit(
    'socket_messages',
    SOCKET_BOUNDS.messages,
    'messages of a connection in `socket_messages_seconds`; one more closes 1008',
  ),
  limit('socket_messages_seconds', SOCKET_BOUNDS.messageWindowSec, 'the window of that'),
  limit(
    'transfer_ahead_seconds',
    MAX_TRANSFER_AHEAD_SEC,
    'expiry of a deposit or withdrawal ahead',
  ),
  limit('min_deposit_units_6', Number(MIN_DEPOSIT_UNITS_6), 'smallest deposit, of 6 decimals'),
]

/** Names and meanings of those that the operator sets. */
const SET = {
  orders_per_second_per_owner: 'orders of an owner; absent: any number',
  large_reads_per_address: 'whole books and pages of history in flight',
} as const

type LimitDeps = Partial<Pick<GatewayDeps, 'orderRate' | 'largeReads'>>

/** `limits` of `GET /v1/venue`. */
export function clientLimits({ orderRate, largeReads }: LimitDeps): Record<string, number> {
  const set = {
    orders_per_second_per_owner: orderRate?.perSec,
    large_reads_per_address: largeReads?.maxPerAddress,
  } satisfies Record<keyof typeof SET, number | undefined>
  const fixed = FIXED.map(({ name, value }) => [name, value] as const)
  const known = Object.entries(set).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries([...fixed, ...known])
}

/** The limits as a table of Markdown. */
export const limitsTable = (): string =>
  [
    ...['| `limits` | value | of |', '| - | - | - |'],
    ...FIXED.map(({ name, value, what }) => row(name, value.toLocaleString('en'), what)),
    ...Object.entries(SET).map(([name, what]) => row(name, 'as set', what)),
  ].join('\n')

const row = (name: string, value: string, what: string): string =>
  `| \`${name}\` | ${value} | ${what} |`
