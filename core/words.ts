import type { Address, Hex } from './action.js'

const WORD_DIGITS = 64
const TWO_256 = 2n ** 256n

/** Whether text is `0x` and nothing but hex digits. */
export const isHexText = (text: string): boolean => /^0x[0-9a-fA-F]*$/.test(text)

/** Data of exactly `count` words of 32 bytes as unsigned integers; undefined for anything else. */
export function readWords(data: string, count: number): readonly bigint[] | undefined {
  // Length before pattern: a body may carry tens of kilobytes here.
  if (data.length !== 2 + count * WORD_DIGITS || !isHexText(data)) return undefined
  return Array.from({ length: count }, (_, index) =>
    BigInt(`0x${data.slice(2 + index * WORD_DIGITS, 2 + (index + 1) * WORD_DIGITS)}`),
  )
}

/** Writes each value as one word, negative ones in two's complement; every value must fit its word. */
export function writeWords(values: readonly bigint[]): Hex {
  return `0x${values.map((value) => ((value + TWO_256) % TWO_256).toString(16).padStart(WORD_DIGITS, '0')).join('')}`
}

/** The address in a word; undefined when its high bytes are dirty, which the chain's decoder would refuse. */
export function addressOfWord(word: bigint): Address | undefined {
  return word < 2n ** 160n ? `0x${word.toString(16).padStart(40, '0')}` : undefined
}
