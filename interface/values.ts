import { z } from 'zod'

/**
 * Values that the shapes of the public interface are made of. A shape is a zod schema and a type of the same
 * name; objects are open in the generated documents, because fields may be added at any time.
 */

/** The type of a shape: what a presenter returns and what a client reads. */
export type Shape<S extends z.ZodType> = DeepReadonly<z.output<S>>

/**
 * Of an object in the documents: at least one of these lists of its fields is required. In an `allOf`, because generators of clients
 * make a union of an object and alternatives beside its fields, whose type is anything, and an intersection of it with an `allOf`.
 */
export const withOneOf = (alternatives: readonly { readonly required: readonly string[] }[]) => ({
  allOf: [{ anyOf: alternatives }],
})

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T

// Bounds of what clients send. core/limits.ts repeats them and is held to them by type.

/** Longest number text that is read at all; a uint256 has at most 78 digits. */
export const MAX_NUMBER_DIGITS = 78
/** Longest `order_id`, in characters (Unicode code points, as a JSON schema counts). */
export const MAX_ORDER_ID_LENGTH = 128
/** An `order_id` that some release took; with flag `u`. */
export const ORDER_ID_PATTERN = `^[^\\p{Cc}\\p{Cs}]{1,${MAX_ORDER_ID_LENGTH}}$` as const
/** That of a new order: what paths, logs and eyes cannot tell apart names no order. With flag `u`. */
export const NEW_ORDER_ID_PATTERN =
  `^(?!\\.{1,2}$)(?!\\s*$)[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{DI}]{1,${MAX_ORDER_ID_LENGTH}}$` as const
/** Longest `nonce` of a frame that authenticates, in characters. */
const MAX_FRAME_NONCE_LENGTH = 128
/** A `nonce` of such a frame: a line break in it would write lines of the signed text. With flag `u`. */
export const FRAME_NONCE_PATTERN =
  `^[^\\p{Cc}\\p{Zl}\\p{Zp}]{1,${MAX_FRAME_NONCE_LENGTH}}$` as const
/** Longest `reason` of a cancel, in characters. */
export const MAX_CANCEL_REASON_LENGTH = 128
/** A `reason` of a cancel; with flag `u`. */
export const CANCEL_REASON_PATTERN = `^[^\\p{Cc}\\p{Cs}]{0,${MAX_CANCEL_REASON_LENGTH}}$` as const
/** Longest signature in bytes: room for a large multi-signature wallet, small enough to keep with every order. */
export const MAX_SIGNATURE_BYTES = 4096
/** Largest page of trades, of the order history and of fills. */
export const MAX_PAGE_LIMIT = 100
export const DEFAULT_PAGE_LIMIT = 50

// Values that the venue writes: numbers without leading or trailing zeros, hex in lower case.

export const decimal = z
  .string()
  .regex(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
  .meta({
    id: 'Decimal',
    description: 'A number as decimal text.',
    examples: ['0.00065', '153000'],
  })

// Of the engine, what the number counts is the contract type's.

export const enginePrice = decimal.describe(
  'Engine price: USDC per cNGN on spot and perpetuals, cNGN per USDC on futures.',
)

/** An amount, or a sum of amounts. */
export const engineAmount = decimal.describe(
  'Engine amount: cNGN on spot and perpetuals, USDC on futures.',
)

/** A sum over trades. */
export const engineQuote = decimal.describe(
  'Price × size, each trade rounded down: USDC on spot and perpetuals, cNGN on futures.',
)

/** A decimal that may be negative. */
export const signedDecimal = z
  .string()
  .regex(/^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
  .meta({ id: 'SignedDecimal', description: 'A number as decimal text, `-` when negative.' })

/** The same, and empty text while it cannot be told. */
export const signedOrEmpty = z.union([signedDecimal, z.literal('')])

/** A decimal whose sign is always written, unless it is zero. */
export const delta = z
  .string()
  .regex(/^(0|[+-](0|[1-9][0-9]*)(\.[0-9]*[1-9])?)$/)
  .meta({
    id: 'Delta',
    description: 'A change as decimal text: `+` gained, `-` given, `0` neither.',
    examples: ['+99.45', '-153000'],
  })

export const integer = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/)
  .meta({ id: 'Integer', description: 'A whole number as base-10 text.', examples: ['7'] })

export const sixDecimals = z
  .string()
  .regex(/^(0|[1-9][0-9]*)\.[0-9]{6}$/)
  .meta({
    id: 'SixDecimals',
    description: 'A number as decimal text with all of its six decimals.',
    examples: ['25.000000'],
  })

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .meta({
    id: 'Address',
    description: 'An address of the chain, in lower case.',
    examples: [`0x${'c1'.repeat(20)}`],
  })

export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({
    id: 'Hash',
    description: 'Of a transaction or a signed action.',
    examples: [`0x${'77'.repeat(32)}`],
  })

/** Names of reverts that no contract declares, besides `Error`, `Panic` and the errors of the contracts. */
export const revertName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .meta({
    id: 'RevertName',
    description:
      'Name of the error with which the chain refused the call. Without a declared error: `Error` (its text is ' +
      '`detail.message`), `Panic` (`detail.code`), `EmptyRevert` (no data), `OutOfGas`, `UnknownRevert` (an error that ' +
      'is not known, with `detail.selector`, or none that a node states), `NotTried` (its batch had too little gas ' +
      'left), `NotCarriedOut` (no transaction carried it out), `CodeGasLost` (a signer that is code has lost its gas ' +
      'of the hour; the venue sends nothing of it).',
    examples: ['WERC_CannotBeNegative'],
  })

/** What the name of a revert leaves out. */
export const revertDetail = z
  .record(z.string(), z.string())
  .describe('What `revert` leaves out: `message`, `code` or `selector`.')

export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({
    id: 'Time',
    format: 'date-time',
    description: 'ISO 8601 in UTC with milliseconds.',
    examples: ['2026-11-21T10:00:00.000Z'],
  })

export const Side = z.enum(['buy', 'sell']).meta({ id: 'Side' })
export type Side = Shape<typeof Side>
export const unixSeconds = z.int().min(0)

// Values that clients write; where the venue echoes one, it stands as the client wrote it.

export const sentDecimal = z
  .string()
  .max(MAX_NUMBER_DIGITS + 1)
  .regex(/^(?![0-9]{79})[0-9]+(\.[0-9]{1,18})?$/)
  .meta({
    id: 'SentDecimal',
    description: `Plain decimal text: no sign, exponent or blank, at most ${MAX_NUMBER_DIGITS} digits, 18 of them decimals.`,
    examples: ['0.00065', '153000.0'],
  })

export const sentInteger = z
  .string()
  .max(MAX_NUMBER_DIGITS)
  .regex(/^[0-9]+$/, 'must be a base-10 integer')
  .meta({
    id: 'SentInteger',
    description: 'Base-10 digits, as text, up to 2^256 - 1.',
    examples: ['1795255200000'],
  })

export const sentAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .meta({
    id: 'SentAddress',
    description: 'An address in any case; a checksum is not asked for.',
    examples: [`0x${'c1'.repeat(20)}`],
  })

export const sentHex = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and pairs of hex digits')
  .meta({ id: 'SentHex', description: '0x and whole bytes in hex.' })

export const signature = z
  .string()
  .max(2 + 2 * MAX_SIGNATURE_BYTES)
  .regex(/^0x([0-9a-fA-F]{2})+$/)
  .meta({
    id: 'Signature',
    description: '65 bytes of a plain key, or whatever the contract that signs accepts.',
  })

export const orderId = z
  .string()
  .regex(new RegExp(ORDER_ID_PATTERN, 'u'))
  .meta({
    id: 'OrderId',
    minLength: 1,
    maxLength: MAX_ORDER_ID_LENGTH,
    description: 'Chosen by the client, taken once for ever. No control characters.',
    examples: ['order-1'],
  })

/** That of a new order. Ids of earlier releases may be blank, dots, or have format characters. */
export const newOrderId = z
  .string()
  .regex(new RegExp(NEW_ORDER_ID_PATTERN, 'u'))
  .meta({
    id: 'NewOrderId',
    minLength: 1,
    maxLength: MAX_ORDER_ID_LENGTH,
    description:
      'Chosen by the client, taken once for ever. No control, format, invisible or bidirectional characters, no line separators, not blanks alone, not `.` or `..`.',
    examples: ['order-1'],
  })

/** `reason` of a cancel. */
export const cancelReason = z
  .string()
  .regex(new RegExp(CANCEL_REASON_PATTERN, 'u'))
  .optional()
  .meta({
    maxLength: MAX_CANCEL_REASON_LENGTH,
    description: 'Kept as `cancel_reason`; default `unspecified`. No control characters.',
  })

/** The lease of an owner's sockets, or the part of one socket. */
export const LEASE_ID_PATTERN = '^[0-9a-f]{32}([0-9a-f]{8})?$'

/** Of a socket: what its orders end with. */
export const leaseId = z
  .string()
  .regex(new RegExp(LEASE_ID_PATTERN))
  .meta({ id: 'LeaseId', description: 'Made by the venue for one socket.' })

// Query parameters arrive as text.

/** A whole number in a query, of at most so many digits; `schema` checks it once it is read. */
export const wholeInQuery = <S extends z.ZodType>(schema: S, maxDigits = 16) =>
  z.preprocess((sent) => {
    const isWhole = typeof sent === 'string' && /^[0-9]+$/.test(sent) && sent.length <= maxDigits
    return isWhole ? Number(sent) : sent
  }, schema)

/** `limit` of a page of trades, orders or fills. */
export const pageLimit = wholeInQuery(
  z.int().min(1).max(MAX_PAGE_LIMIT).default(DEFAULT_PAGE_LIMIT),
)

/** `start` and `end` of a page: of what carries a time, as `created_at`. */
export const rangeInQuery = {
  start: z.string().optional().describe('RFC 3339: only from here on.'),
  end: z.string().optional().describe('RFC 3339: only before this.'),
}

/** Text of at most so many characters (Unicode code points, as a JSON schema counts). */
export const textUpTo = (maxLength: number) =>
  z
    .string()
    .refine((text) => text.length <= maxLength || Array.from(text).length <= maxLength)
    .meta({ maxLength })

/** Longest `req_id` of a frame, in characters. */
const MAX_REQ_ID_LENGTH = 128

/** `nonce` of a frame that authenticates. */
export const frameNonce = z
  .string()
  .regex(new RegExp(FRAME_NONCE_PATTERN, 'u'))
  .meta({ minLength: 1, maxLength: MAX_FRAME_NONCE_LENGTH })

/** `signature` of a frame that authenticates: of a plain key. */
export const frameSignature = z.string().regex(/^0x[0-9a-fA-F]{130}$/)

/** Of an order or a cancel on the WebSocket. */
export const reqIdOfOrder = textUpTo(MAX_REQ_ID_LENGTH).describe(
  'Chosen by the client; the result repeats it. Results come in any order.',
)

/** Of another frame of a client on the WebSocket. */
export const reqId = textUpTo(MAX_REQ_ID_LENGTH)
  .optional()
  .describe('Chosen by the client; every reply to the frame repeats it.')

/**
 * The `seq` after which a client goes on: any integer from 0 on, as large as a number may be. One above the head of the market is
 * answered `resume_too_old`.
 */
export const resumePoint = z
  .number()
  .refine((value) => Number.isInteger(value))
  .min(0)
  .meta({ type: 'integer' })
