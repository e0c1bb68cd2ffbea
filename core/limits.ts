/** Longest number text that is read at all; a uint256 has at most 78 digits. */
export const MAX_NUMBER_DIGITS = 78
/** Longest `order_id`, in UTF-16 units. */
export const MAX_ORDER_ID_LENGTH = 128
/** Longest `reason` of a cancel, in UTF-16 units. */
export const MAX_CANCEL_REASON_LENGTH = 128
/** Longest signature in bytes: room for a large multi-signature wallet, small enough to sit in every book. */
export const MAX_SIGNATURE_BYTES = 4096
/** How much of a client's text an error message repeats. */
export const MAX_ECHO_LENGTH = 80
/** Largest page of trades, of the order history and of fills, and the page that is served unasked. */
export const MAX_PAGE_LIMIT = 100
export const DEFAULT_PAGE_LIMIT = 50
/** Most candles of one answer, and how many are served unasked. */
export const MAX_CANDLES_LIMIT = 1000
export const DEFAULT_CANDLES_LIMIT = 200
/** How far ahead the expiry of a deposit or withdrawal may lie. */
export const MAX_TRANSFER_AHEAD_SEC = 3_600
/** Smallest deposit: 10 USDC in the token's units. */
export const MIN_DEPOSIT_UNITS_6 = 10_000_000n

export const UINT256_MAX = 2n ** 256n - 1n
export const INT256_MAX = 2n ** 255n - 1n
/** The chain keeps a position's sub id in 96 bits. */
export const SUB_ID_MAX = 2n ** 96n - 1n
