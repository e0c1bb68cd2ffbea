import type { Address, Hex } from '../action.js'
import { jsonText } from '../json.js'
import { MAX_NUMBER_DIGITS } from '../limits.js'
import type { AmountE18, FeePerUnitE18, PriceE18, QuoteE18, TokenUnits6 } from '../money.js'

/**
 * How a value travels between processes and is stored: as JSON of a fixed form, so that equal values are equal texts.
 * One declaration gives the writer and the reader, and the reader takes nothing but what the writer writes.
 */
export interface Codec<T> {
  /**
   * The value as JSON text. The value must be of its type: a writer checks nothing that the compiler has checked. Numbers are
   * checked, because arithmetic makes them: what `read` would refuse of a number or an integer throws MalformedMessage, which
   * names the field if it is given.
   */
  readonly write: (value: T, field?: string) => string
  /** The inverse of `write`, for parsed JSON. Throws MalformedMessage, which names the field, on any other value. */
  readonly read: (json: unknown, field: string) => T
  /** What `write` gives when that is only the value itself, or the value in quotes: an object then writes it without a call. */
  readonly form?: 'bare' | 'quoted'
}

/** What was to be read, or a number that was to be written, does not have the form that was declared. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

/** Refuses the value of a field; `what` names what it should be. */
export function malformed(field: string, what: string): never {
  throw new MalformedMessage(`${field} is not ${what}`)
}

/** Any text. */
export const text: Codec<string> = {
  write: jsonText,
  read: (json, field) => (typeof json === 'string' ? json : malformed(field, 'text')),
}

export const flag: Codec<boolean> = {
  form: 'bare',
  write: String,
  read: (json, field) => (typeof json === 'boolean' ? json : malformed(field, 'true or false')),
}

/** A flag that is present or absent, never false. */
export const always: Codec<true> = {
  ...flag,
  read: (json, field) => (json === true ? json : malformed(field, 'true')),
}

/** A value that cannot exist: nothing is written, and whatever is read is malformed. */
export const never: Codec<never> = {
  write: (value) => String(value),
  read: (_, field) => malformed(field, 'possible here'),
}

const WHOLE = 'a whole number, zero or more'
const POSITION = 'a number from 1 on'

/** A count, a position or a time: a number that is exact, zero or more. */
export const whole: Codec<number> = {
  write: (value, field) =>
    Number.isSafeInteger(value) && value >= 0 ? String(value) : unwritable(value, WHOLE, field),
  read: (json, field) =>
    Number.isSafeInteger(json) && (json as number) >= 0
      ? (json as number)
      : malformed(field, WHOLE),
}

/** The same from 1 on. */
export const position: Codec<number> = {
  write: (value, field) =>
    Number.isSafeInteger(value) && value > 0 ? String(value) : unwritable(value, POSITION, field),
  read: (json, field) => whole.read(json, field) || malformed(field, POSITION),
}

const unwritable = (value: number | bigint, what: string, field = 'a value'): never =>
  malformed(`${field} ${value}`, what)

const ZERO = 0x30
const CANONICAL = 'an integer in canonical decimal text'
/** So many digits are exact as a number, which costs less than parsing a bigint. */
const EXACT_DIGITS = 15

const SHARED_INTEGERS = 4_096
/** The small integers read last, by their last digits: an account's orders then share its id. */
const sharedNumbers: number[] = []
const sharedBigints: bigint[] = []

/** The bigint of an exact, non-negative number; equal ones often are one value in memory. */
export function bigintOf(number: number): bigint {
  const place = number % SHARED_INTEGERS
  const known = sharedBigints[place]
  if (known !== undefined && sharedNumbers[place] === number) return known
  const made = BigInt(number)
  sharedNumbers[place] = number
  sharedBigints[place] = made
  return made
}

/** The longest text of a uint, with its quotes. */
const MAX_UINT_TEXT = MAX_NUMBER_DIGITS + 2

/** A non-negative integer of any size up to uint256, as decimal text without leading zeros. */
export const uint: Codec<bigint> = {
  write(value, field) {
    const digits = `"${value}"`
    return value >= 0n && digits.length <= MAX_UINT_TEXT
      ? digits
      : unwritable(value, CANONICAL, field)
  },
  read(json, field) {
    if (typeof json !== 'string') return malformed(field, 'text of an integer')
    if (json === '0') return 0n
    return readDigits(json, 0) ?? malformed(field, CANONICAL)
  },
}

/** The same with a minus sign allowed. */
export const int: Codec<bigint> = {
  write: (value, field) =>
    value >= 0n ? uint.write(value, field) : `"-${uint.write(-value, field).slice(1)}`,
  read(json, field) {
    if (typeof json !== 'string' || !json.startsWith('-')) return uint.read(json, field)
    return -(readDigits(json, 1) ?? malformed(field, CANONICAL))
  },
}

/** The digits from a place to the end: at least one, at most those of a uint256, the first not a zero. */
function readDigits(digits: string, from: number): bigint | undefined {
  const { length } = digits
  const count = length - from
  if (count < 1 || count > MAX_NUMBER_DIGITS || digits.charCodeAt(from) === ZERO) return undefined
  let number = 0
  for (let at = from; at < length; at += 1) {
    const digit = digits.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return undefined
    number = number * 10 + digit
  }
  if (count <= EXACT_DIGITS) return bigintOf(number)
  return BigInt(from === 0 ? digits : digits.slice(from))
}

/** An integer codec for a type that carries its scale in its name, for example `scaled<AmountE18>(uint)`. */
const scaled = <T extends bigint>(codec: Codec<bigint>): Codec<T> => ({
  ...codec,
  read: codec.read as Codec<T>['read'],
})

const ADDRESS = /^0x[0-9a-f]{40}$/
const SHARED_ADDRESSES = 4_096
/**
 * The addresses read last, by a few of their digits. An owner's orders then share one text, which saves their memory and
 * most checks.
 */
const shared: Address[] = []

/** A lower-case address. */
export const address: Codec<Address> = {
  form: 'quoted',
  write: (value) => `"${value}"`,
  read(json, field) {
    if (typeof json !== 'string') return malformed(field, 'a lower-case address')
    const place = placeOf(json)
    const known = shared[place]
    if (known === json) return known
    if (!ADDRESS.test(json)) return malformed(field, 'a lower-case address')
    shared[place] = json as Address
    return json as Address
  },
}

const placeOf = (json: string): number =>
  ((json.charCodeAt(38) * 31 + json.charCodeAt(39)) * 31 +
    json.charCodeAt(40) * 17 +
    json.charCodeAt(41)) %
  SHARED_ADDRESSES

const HEX = /^0x[0-9a-fA-F]*$/

/** Bytes in hex of either case, as they came. */
export const hex: Codec<Hex> = {
  form: 'quoted',
  write: (value) => `"${value}"`,
  read: (json, field) =>
    typeof json === 'string' && HEX.test(json) ? (json as Hex) : malformed(field, 'bytes in hex'),
}

const HASH = /^0x[0-9a-f]{64}$/

/** 32 bytes in lower case: the identity of an action, or of a transaction. */
export const hash: Codec<Hex> = {
  form: 'quoted',
  write: hex.write,
  read: (json, field) =>
    typeof json === 'string' && HASH.test(json) ? (json as Hex) : malformed(field, 'a hash'),
}

/** One text of a closed set of plain words; one of the type that is missing here does not compile. */
export function oneOf<T extends string>(texts: Readonly<Record<T, true>>): Codec<T> {
  const known = Object.keys(texts) as T[]
  return {
    form: 'quoted',
    write: (value) => `"${value}"`,
    read(json, field) {
      // The set's own text is given, so that the one that was read is not kept.
      for (const each of known) if (each === json) return each
      return malformed(field, `one of ${known.join(', ')}`)
    },
  }
}

/** Any JSON object, passed on as it is. */
export const jsonObject: Codec<Readonly<Record<string, unknown>>> = {
  write: (value) => JSON.stringify(value),
  read: (json, field) =>
    typeof json === 'object' && json !== null && !Array.isArray(json)
      ? (json as Readonly<Record<string, unknown>>)
      : malformed(field, 'an object'),
}

/** Money as declarations name it: integers at the scale of the type. */
export const priceE18 = scaled<PriceE18>(uint)
export const amountE18 = scaled<AmountE18>(uint)
export const quoteE18 = scaled<QuoteE18>(uint)
export const feePerUnitE18 = scaled<FeePerUnitE18>(uint)
export const tokenUnits6 = scaled<TokenUnits6>(uint)
/** Balances, which may be negative. */
export const signedAmountE18 = scaled<AmountE18>(int)
export const signedQuoteE18 = scaled<QuoteE18>(int)
