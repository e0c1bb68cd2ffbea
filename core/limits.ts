import type * as balances from '../interface/balances.js'
import type * as cancels from '../interface/cancels.js'
import type * as charts from '../interface/charts.js'
import type * as feedSeqs from '../interface/feed-seqs.js'
import type * as listing from '../interface/listing.js'
import type * as changes from '../interface/order-changes.js'
import type * as trade from '../interface/trade.js'
import type * as values from '../interface/values.js'

// Bounds that the interface publishes. Core imports no values from interface/, so they are repeated here; a bound that
// differs from the published one does not compile.

export const MAX_NUMBER_DIGITS: typeof values.MAX_NUMBER_DIGITS = 78
export const MAX_ORDER_ID_LENGTH: typeof values.MAX_ORDER_ID_LENGTH = 128
export const ORDER_ID_PATTERN: typeof values.ORDER_ID_PATTERN = '^[^\\p{Cc}\\p{Cs}]{1,128}$'
export const NEW_ORDER_ID_PATTERN: typeof values.NEW_ORDER_ID_PATTERN =
  '^(?!\\.{1,2}$)(?!\\s*$)[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{DI}]{1,128}$'
export const FRAME_NONCE_PATTERN: typeof values.FRAME_NONCE_PATTERN =
  '^[^\\p{Cc}\\p{Zl}\\p{Zp}]{1,128}$'
export const LEASE_ID_PATTERN: typeof values.LEASE_ID_PATTERN = '^[0-9a-f]{32}([0-9a-f]{8})?$'
export const MAX_CANCEL_REASON_LENGTH: typeof values.MAX_CANCEL_REASON_LENGTH = 128
export const CANCEL_REASON_PATTERN: typeof values.CANCEL_REASON_PATTERN =
  '^[^\\p{Cc}\\p{Cs}]{0,128}$'
export const MAX_BATCH_ORDERS: typeof changes.MAX_BATCH_ORDERS = 20
export const MAX_SIGNATURE_BYTES: typeof values.MAX_SIGNATURE_BYTES = 4096
export const MAX_LISTED_LEVELS: typeof listing.MAX_LISTED_LEVELS = 1_000
export const MAX_LISTED_TRADES: typeof listing.MAX_LISTED_TRADES = 500
export const MAX_CHART_BARS: typeof charts.MAX_CHART_BARS = 5_000
export const MAX_CHART_SYMBOLS: typeof charts.MAX_CHART_SYMBOLS = 100
export const MAX_PAGE_LIMIT: typeof values.MAX_PAGE_LIMIT = 100
export const MAX_BALANCE_ACCOUNTS: typeof balances.MAX_BALANCE_ACCOUNTS = 20
export const MAX_CANDLES_LIMIT: typeof trade.MAX_CANDLES_LIMIT = 1000
export const MAX_FEED_SEQS: typeof feedSeqs.MAX_FEED_SEQS = 256
export const MAX_FEED_SEQS_LENGTH: typeof feedSeqs.MAX_FEED_SEQS_LENGTH = 8_192

export const MAX_CANCELLED_IDS: typeof cancels.MAX_CANCELLED_IDS = 200
export const LEASE_MIN_SEC: typeof cancels.LEASE_MIN_SEC = 10
export const LEASE_MAX_SEC: typeof cancels.LEASE_MAX_SEC = 86_400
export const MAX_CANCEL_PROOF_SEC: typeof cancels.MAX_CANCEL_PROOF_SEC = 60

// Bounds of our own.

/** Longest part of a client's text that an error message repeats. */
export const MAX_ECHO_LENGTH = 80
/** How far ahead the expiry of a deposit or withdrawal may lie. */
export const MAX_TRANSFER_AHEAD_SEC = 3_600
/** Smallest deposit: 10 USDC in the token's units. */
export const MIN_DEPOSIT_UNITS_6 = 10_000_000n

export const UINT256_MAX = 2n ** 256n - 1n
export const INT256_MAX = 2n ** 255n - 1n
/** Ordinals of markets are from 0 to this: the low part of a trade id has room for so many. */
export const MAX_ORDINAL = 65_535
/** The chain keeps a position's sub id in 96 bits. */
export const SUB_ID_MAX = 2n ** 96n - 1n

/** Changes of a market that its feed keeps in any case: what a replay of a client may reach back to at least (STR-034). */
export const KEEP_FEED_CHANGES = 1_000_000
