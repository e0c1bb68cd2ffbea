/**
 * The alphabet of every message between processes: JSON whose keys stand in a fixed order, so that equal values are
 * equal bytes, with integers beyond 2^53 as canonical decimal text.
 */
import { z } from 'zod'
import type { Address, Hex } from '../core/action.js'
import { InvariantBroken } from '../core/assert.js'

/** The one version of every schema in this room; a change that an old reader would misread raises it. */
export const WIRE_VERSION = 2

/** A server's limit is 1 MiB for headers and data together; this much is left for data. */
export const MAX_MESSAGE_BYTES = 1_048_576 - 4_096

/** The bytes are not a message of the expected schema. Carries as `cause` what was found to be wrong with them. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

/** Digits of the greatest uint256. */
export const MAX_UINT_DIGITS = 78

/** A non-negative integer of any scale up to uint256, in canonical decimal text. */
export const uintText = z
  .string()
  .max(MAX_UINT_DIGITS)
  .regex(/^(0|[1-9][0-9]*)$/)
/** Lower-case address. */
export const addressText = z.string().regex(/^0x[0-9a-f]{40}$/)
/** A count, position or time that is exact as a JSON number. */
export const wholeNumber = z.int().nonnegative()

/** Text that a schema has accepted, typed as what it is. */
export const asAddress = (text: string): Address => text as Address
export const asHex = (text: string): Hex => text as Hex

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** JSON text as UTF-8 bytes. */
export const bytesOf = (json: string): Uint8Array => encoder.encode(json)

/** The value as a message of the current version; `v` comes first so that any reader finds it. */
export function encodeMessage(message: Readonly<Record<string, unknown>>): Uint8Array {
  return bytesOf(JSON.stringify({ v: WIRE_VERSION, ...message }))
}

/**
 * Reads a message. Throws InvariantBroken on a version this build does not know, because guessing could only make a
 * wrong state, and MalformedMessage on anything else that does not fit the schema.
 */
export function decodeMessage<T>(name: string, schema: z.ZodType<T>, data: Uint8Array): T {
  const message = parseJson(name, data)
  assertKnownVersion(name, message)
  const result = schema.safeParse(message)
  if (result.success) return result.data
  throw new MalformedMessage(`${name}: ${z.prettifyError(result.error)}`, { cause: result.error })
}

function parseJson(name: string, data: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(data))
  } catch (cause) {
    throw new MalformedMessage(`${name}: not JSON in UTF-8`, { cause })
  }
}

/** Refuses what has no version, and stops at another than this build's. */
export function assertKnownVersion(name: string, message: unknown): asserts message is object {
  if (typeof message !== 'object' || message === null || !('v' in message)) {
    throw new MalformedMessage(`${name}: no version`)
  }
  if (message.v !== WIRE_VERSION) {
    throw new InvariantBroken(
      `${name} of version ${JSON.stringify(message.v)}, this build reads version ${WIRE_VERSION}: run one release of the venue`,
    )
  }
}
