import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { exactNumber } from '../core/decimal.js'

/**
 * Calldata as hex text, put together from its words. Batches are long and written many times a second, which a general
 * encoder takes many times as long for.
 */

const WORD_DIGITS = 64

/** What stands behind the words of its tuple, which hold only where it begins. */
export interface Dynamic {
  readonly tail: string
}

/** An unsigned value as a word; anything that does not fit is our own mistake. */
export function word(value: bigint | number): string {
  const digits = value.toString(16).padStart(WORD_DIGITS, '0')
  assert(value >= 0 && digits.length === WORD_DIGITS, 'value does not fit its word')
  return digits
}

/** An address as a word. */
export function addressWord(address: Address): string {
  assert(address.length === 42, 'not an address')
  return `000000000000000000000000${address.slice(2).toLowerCase()}`
}

/** Bytes with their length, filled up to whole words. */
export function bytesWords(data: Hex): string {
  const digits = data.length - 2
  assert(digits % 2 === 0, 'not whole bytes')
  return `${word(digits / 2)}${data.slice(2)}${'0'.repeat(-digits & (WORD_DIGITS - 1))}`
}

/** Words as they are, and dynamic fields by their place behind all words. */
export function tuple(fields: readonly (string | Dynamic)[]): string {
  let tailAt = 0
  for (const field of fields) tailAt += typeof field === 'string' ? field.length : WORD_DIGITS
  let head = ''
  let tails = ''
  for (const field of fields) {
    if (typeof field === 'string') head += field
    else {
      head += word((tailAt + tails.length) / 2)
      tails += field.tail
    }
  }
  return head + tails
}

/** A list of dynamic items. */
export const listWords = (items: readonly string[]): string =>
  word(items.length) + tuple(items.map((tail) => ({ tail })))

/** The word that begins at a byte; throws where the data is over. */
export function wordAt(data: Hex, at: number): bigint {
  const digits = data.slice(2 + 2 * at, 2 + 2 * at + WORD_DIGITS)
  if (digits.length !== WORD_DIGITS) throw new Error('the data ends within a word')
  return BigInt(`0x${digits}`)
}

/** A word that holds a length or a place; throws where the data is over, and for more than any data could be long. */
export function lengthAt(data: Hex, at: number): number {
  const value = wordAt(data, at)
  if (value > BigInt(data.length)) throw new Error('the data names a place beyond its end')
  return exactNumber(value)
}

/** So many bytes from a place on; throws where the data is over. */
export function bytesAt(data: Hex, at: number, length: number): Hex {
  const digits = data.slice(2 + 2 * at, 2 + 2 * (at + length))
  if (digits.length !== 2 * length) throw new Error('the data ends within its bytes')
  return `0x${digits}`
}
