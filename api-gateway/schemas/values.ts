import { z } from 'zod'
import { MAX_NUMBER_DIGITS, MAX_ORDER_ID_LENGTH, MAX_SIGNATURE_BYTES } from '../../core/limits.js'

/** The venue writes numbers without leading or trailing zeros; what it echoes stands as the client wrote it. */

export const decimal = z
  .string()
  .regex(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
  .meta({
    id: 'Decimal',
    description: 'A number as decimal text.',
    examples: ['0.00065', '153000'],
  })

/** A decimal that may be negative. */
export const signedDecimal = z
  .string()
  .regex(/^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
  .meta({ id: 'SignedDecimal', description: 'A number as decimal text, `-` when negative.' })

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

export const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({
    id: 'Time',
    format: 'date-time',
    description: 'ISO 8601 in UTC with milliseconds.',
    examples: ['2026-11-21T10:00:00.000Z'],
  })

export const side = z.enum(['buy', 'sell']).meta({ id: 'Side' })

export const unixSeconds = z.int().min(0)

// What clients write.

export const sentDecimal = z
  .string()
  .max(MAX_NUMBER_DIGITS + 1)
  .regex(/^[0-9]+(\.[0-9]{1,18})?$/)
  .meta({
    id: 'SentDecimal',
    description: `Plain decimal text: no sign, exponent or blank, at most ${MAX_NUMBER_DIGITS} digits, 18 of them decimals.`,
    examples: ['0.00065', '153000.0'],
  })

export const sentInteger = z
  .string()
  .max(MAX_NUMBER_DIGITS)
  .regex(/^[0-9]+$/)
  .meta({
    id: 'SentInteger',
    description: 'Base-10 digits, as text, up to 2^256 - 1.',
    examples: ['1795255200000'],
  })

export const sentAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({
    id: 'SentAddress',
    description: 'An address in any case; a checksum is not asked for.',
    examples: [`0x${'c1'.repeat(20)}`],
  })

export const sentHex = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .meta({ id: 'SentHex', description: '0x and whole bytes in hex.' })

export const signature = z
  .string()
  .max(2 + 2 * MAX_SIGNATURE_BYTES)
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .meta({
    id: 'Signature',
    description: '65 bytes of a plain key, or whatever the contract that signs accepts.',
  })

export const orderId = z
  .string()
  .min(1)
  .max(MAX_ORDER_ID_LENGTH)
  .meta({
    id: 'OrderId',
    description: 'Chosen by the client, taken once for ever. No control characters.',
    examples: ['order-1'],
  })
