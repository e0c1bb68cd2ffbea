import { assert } from './assert.js'
import { INT256_MAX, MAX_NUMBER_DIGITS, UINT256_MAX } from './limits.js'

const ZERO = 0x30

/** Writes a scaled integer as decimal text without trailing zeros; `-` in front of negative values. */
export function formatDecimal(value: bigint, decimals: number): string {
  if (value < 0n) return `-${formatDecimal(-value, decimals)}`
  const text = value.toString()
  const digits = text.length > decimals ? text : text.padStart(decimals + 1, '0')
  const point = digits.length - decimals
  // A regular expression for the zeros would cost more than the rest; every frame and record has several numbers.
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end -= 1
  const whole = digits.slice(0, point)
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`
}

/** Writes a scaled integer that is not negative as decimal text with every one of its decimals. */
export function formatFixed(value: bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

// Room for the point and a minus sign.
const MAX_TEXT_LENGTH = MAX_NUMBER_DIGITS + 2

/**
 * Reads plain decimal text (`12`, `0.5`) as an integer scaled by 10^decimals; undefined for anything else: signs,
 * exponents, blanks, a bare point, more than 78 digits, or more decimals than the scale holds. Never rounds.
 */
export function parseDecimal(text: unknown, decimals: number): bigint | undefined {
  // The length comes first, so that neither the loops nor BigInt ever see a huge text.
  if (typeof text !== 'string' || text.length > MAX_TEXT_LENGTH) return undefined
  const point = text.indexOf('.')
  if (point === -1) {
    const integer = readDigits(text)
    return integer === undefined ? undefined : integer * powerOfTen(decimals)
  }
  const whole = text.slice(0, point)
  const fraction = text.slice(point + 1)
  if (whole === '' || fraction === '' || fraction.length > decimals) return undefined
  const digits = readDigits(whole + fraction)
  return digits === undefined ? undefined : digits * powerOfTen(decimals - fraction.length)
}

/** parseDecimal for what is stored or signed by itself: undefined also beyond the chain's signed words. */
export function parseStored(text: unknown, decimals: number): bigint | undefined {
  const value = parseDecimal(text, decimals)
  return value !== undefined && value <= INT256_MAX ? value : undefined
}

const POWERS_OF_TEN = Array.from({ length: 19 }, (_, exponent) => 10n ** BigInt(exponent))

const powerOfTen = (exponent: number): bigint => POWERS_OF_TEN[exponent] ?? 10n ** BigInt(exponent)

/** So many digits are exact as a number, which costs less than parsing a bigint. */
const EXACT_DIGITS = 15

/** The value of 1 to 78 digits and nothing else; undefined for any other text. */
function readDigits(text: string): bigint | undefined {
  const { length } = text
  if (length === 0 || length > MAX_NUMBER_DIGITS) return undefined
  let number = 0
  for (let at = 0; at < length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return undefined
    number = number * 10 + digit
  }
  return length <= EXACT_DIGITS ? BigInt(number) : BigInt(text)
}

/** Whether the text is a well-formed decimal after a minus sign: a negative number rather than no number. */
export function isNegativeDecimal(text: unknown): boolean {
  if (typeof text !== 'string' || !text.startsWith('-')) return false
  return text.length <= MAX_TEXT_LENGTH && /^-[0-9]+(\.[0-9]+)?$/.test(text)
}

/** Reads a string of base-10 digits from 0 to `max` (default: uint256); undefined for anything else. */
export function parseInteger(text: unknown, max: bigint = UINT256_MAX): bigint | undefined {
  const value = typeof text === 'string' ? readDigits(text) : undefined
  return value === undefined || value > max ? undefined : value
}

/** A bigint as a number, for counts and seconds; a value that a number cannot hold exactly is a broken invariant. */
export function exactNumber(value: bigint): number {
  const number = Number.parseInt(value.toString(), 10)
  assert(Number.isSafeInteger(number), 'integer out of the exact range')
  return number
}

/** numerator / denominator rounded half up, for operands that are not negative. */
export function divHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator)
}
