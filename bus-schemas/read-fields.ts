/**
 * Reading the parsed JSON of a message field by field: each reader gives the domain's value or throws MalformedMessage.
 * A message is read once, in one pass, because every process reads every order several times.
 */
import type { Address, Hex } from '../core/action.js'
import { MAX_UINT_DIGITS, MalformedMessage } from './wire.js'

/** The fields of an object of which nothing but their names is known. */
export type Fields<T> = { readonly [K in keyof T]?: unknown }

/** Value of a field that must be there and must be so; `what` says what it is not. */
export function malformed(field: string, what: string): never {
  throw new MalformedMessage(`${field} is not ${what}`)
}

/** The value as an object whose fields are to be read. */
export function fieldsOf<T>(value: unknown, field: string): Fields<T> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  return malformed(field, 'an object')
}

/**
 * Refuses an object with other fields than those its reader has taken: when all of them are there, that is one with more
 * than `count`.
 */
export function assertClosed(fields: object, count: number, field: string): void {
  let found = 0
  for (const name in fields) if (name !== undefined) found += 1
  if (found !== count) malformed(field, `closed: it has ${Object.keys(fields).join(', ')}`)
}

/** 1 for an optional field that is there, to count with. */
export const one = (value: unknown): 0 | 1 => (value === undefined ? 0 : 1)

export function readList(value: unknown, field: string): readonly unknown[] {
  return Array.isArray(value) ? value : malformed(field, 'a list')
}

export function readText(value: unknown, field: string): string {
  return typeof value === 'string' ? value : malformed(field, 'text')
}

export function readBoolean(value: unknown, field: string): boolean {
  return typeof value === 'boolean' ? value : malformed(field, 'true or false')
}

/** One of the texts of a closed set. */
export function readOneOf<T extends string>(known: readonly T[], value: unknown, field: string): T {
  return (known as readonly unknown[]).includes(value) ? (value as T) : malformed(field, 'known')
}

/** A count, position or time that is exact as a JSON number. */
export function readWhole(value: unknown, field: string): number {
  const integer = readInteger(value, field)
  return integer >= 0 ? integer : malformed(field, 'zero or more')
}

/** An integer that is exact as a JSON number. */
export function readInteger(value: unknown, field: string): number {
  return Number.isSafeInteger(value) ? (value as number) : malformed(field, 'a whole number')
}

const ZERO = 0x30
const CANONICAL = 'an integer in canonical decimal text'
/** So many digits are exact as a number, which costs less than parsing a bigint. */
const EXACT_DIGITS = 15

/** A non-negative integer of any scale up to uint256, from canonical decimal text. */
export function readUint(value: unknown, field: string): bigint {
  if (typeof value !== 'string') return malformed(field, 'text of an integer')
  if (value === '0') return 0n
  return readDigits(value, 0, MAX_UINT_DIGITS) ?? malformed(field, CANONICAL)
}

/** The same with a minus sign allowed, and with room for it. */
export function readInt(value: unknown, field: string): bigint {
  if (typeof value !== 'string') return malformed(field, 'text of an integer')
  if (value === '0') return 0n
  const from = value.startsWith('-') ? 1 : 0
  const number = readDigits(value, from, MAX_UINT_DIGITS + 1) ?? malformed(field, CANONICAL)
  return from === 0 ? number : -number
}

/** The digits from a place to the end, which is not beyond another: neither none, nor a zero first. */
function readDigits(text: string, from: number, to: number): bigint | undefined {
  const { length } = text
  if (length === from || length > to || text.charCodeAt(from) === ZERO) return undefined
  let number = 0
  for (let at = from; at < length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return undefined
    number = number * 10 + digit
  }
  if (length - from <= EXACT_DIGITS) return BigInt(number)
  return BigInt(from === 0 ? text : text.slice(from))
}

const ADDRESS = /^0x[0-9a-f]{40}$/
const HEX = /^0x[0-9a-fA-F]*$/

/** Lower-case address. */
export function readAddress(value: unknown, field: string): Address {
  if (typeof value === 'string' && ADDRESS.test(value)) return value as Address
  return malformed(field, 'a lower-case address')
}

/** Bytes in either case, as they came. */
export function readHex(value: unknown, field: string): Hex {
  if (typeof value === 'string' && HEX.test(value)) return value as Hex
  return malformed(field, 'bytes in hex')
}
