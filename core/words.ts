import type { Address, Hex } from './action.js'

const WORD_DIGITS = 64
const TWO_256 = 2n ** 256n

/** Whether text is `0x` and nothing but hex digits. */
export const isHexText = (text: string): boolean => /^0x[0-9a-fA-F]*$/.test(text)

/** Whether text is exactly `count` words of 32 bytes in hex. */
export const isWords = (data: string, count: number): boolean =>
  // Length before pattern: a body may carry tens of kilobytes here.
  data.length === 2 + count * WORD_DIGITS && isHexText(data)

/** Data of exactly `count` words of 32 bytes as unsigned integers; undefined for anything else. */
export function readWords(data: string, count: number): readonly bigint[] | undefined {
  if (!isWords(data, count)) return undefined
  return Array.from({ length: count }, (_, index) => wordAt(data, index))
}

const ZERO = 0x30
/** So many hex digits are exact as a number, which costs less than parsing a bigint. */
const EXACT_DIGITS = 13

/** One of the words of text for which isWords holds. */
export function wordAt(data: string, index: number): bigint {
  let from = 2 + index * WORD_DIGITS
  const to = from + WORD_DIGITS
  while (from < to && data.charCodeAt(from) === ZERO) from += 1
  if (from === to) return 0n
  const digits = data.slice(from, to)
  return digits.length <= EXACT_DIGITS ? BigInt(Number.parseInt(digits, 16)) : BigInt(`0x${digits}`)
}

const ADDRESS_DIGITS = 40
const ADDRESS_PADDING = '0'.repeat(WORD_DIGITS - ADDRESS_DIGITS)

/** The address in one of the words of text for which isWords holds; undefined when its high bytes are dirty. */
export function addressAt(data: string, index: number): Address | undefined {
  const from = 2 + index * WORD_DIGITS
  if (!data.startsWith(ADDRESS_PADDING, from)) return undefined
  return `0x${data.slice(from + ADDRESS_PADDING.length, from + WORD_DIGITS).toLowerCase()}`
}

/** Writes each value as one word, negative ones in two's complement; every value must fit its word. */
export function writeWords(values: readonly bigint[]): Hex {
  return `0x${values.map((value) => ((value + TWO_256) % TWO_256).toString(16).padStart(WORD_DIGITS, '0')).join('')}`
}

/** The address in a word; undefined when its high bytes are dirty, which the chain's decoder would refuse. */
export function addressOfWord(word: bigint): Address | undefined {
  return word < 2n ** 160n ? `0x${word.toString(16).padStart(40, '0')}` : undefined
}
