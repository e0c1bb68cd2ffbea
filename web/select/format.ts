import { parseDecimal } from '../../core/decimal.js'

/** Numbers as texts, and texts as numbers: the same in every locale, but for the comma of an input. */

export type DisplayRounding = 'down' | 'up' | 'nearest'

/**
 * A number at 1e18 with so many decimals, digits in groups of three, zeros kept: `15,489.90`. `down` and `up` are toward and away
 * from zero; `nearest` rounds half away from zero. A number that is not 0 and would read as 0 is `<0.01` or `>-0.01`.
 */
export function formatE18(
  value: bigint,
  decimals: number,
  rounding: DisplayRounding = 'nearest',
): string {
  const isNegative = value < 0n
  const size = isNegative ? -value : value
  const unit = 10n ** BigInt(18 - decimals)
  const units = divide(size, unit, rounding)
  if (units === 0n && size > 0n) return `${isNegative ? '>-' : '<'}${digits(1n, decimals)}`
  return `${isNegative ? '-' : ''}${digits(units, decimals)}`
}

/** The same with the sign that a profit or a loss has next to its colour; 0 has none. */
export function formatSigned(value: bigint, decimals: number): string {
  const text = formatE18(value, decimals)
  return value > 0n && !text.startsWith('<') ? `+${text}` : text
}

/** A share in basis points as per cent with two decimals and its sign: `+0.40 %`. */
export const formatBps = (bps: bigint): string => `${formatSigned(bps * 10n ** 16n, 2)} %`

/** A price that was worked out to be drawn, above 0, rounded to the nearest: `1,549.00`. */
export const formatDrawn = (price: number, decimals: number): string =>
  digits(BigInt(Math.round(price * 10 ** decimals)), decimals)

function divide(size: bigint, unit: bigint, rounding: DisplayRounding): bigint {
  if (rounding === 'down') return size / unit
  if (rounding === 'up') return (size + unit - 1n) / unit
  return (2n * size + unit) / (2n * unit)
}

function digits(units: bigint, decimals: number): string {
  const text = units.toString().padStart(decimals + 1, '0')
  const whole = text.slice(0, text.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  return decimals === 0 ? whole : `${whole}.${text.slice(-decimals)}`
}

/** Whether the reader writes one and a half with a comma. Asked only of a text with a comma: the platform's formats take long to load. */
export type DecimalComma = () => boolean

/** Of texts that the page has written. */
export const noDecimalComma: DecimalComma = () => false

const GROUPED = /^\d{1,3}(,\d{3})+(\.\d+)?$/
const GROUPED_BY_POINT = /^\d{1,3}(\.\d{3})+(,\d+)?$/

/**
 * What a trader typed, as a number at 1e18; undefined for what is none, and for what two readers could read as two numbers. A point is
 * always taken. `1,5` is one and a half where the reader's language writes so (`isDecimalComma`), and no number elsewhere:
 * there a comma stands between groups of three digits alone.
 */
export function parseInput(text: string, isDecimalComma: DecimalComma): bigint | undefined {
  const typed = text.trim().replace(/[\u00a0\u202f ']/g, '')
  const plain = typed.includes(',') ? withoutComma(typed, isDecimalComma()) : typed
  return plain === undefined ? undefined : parseDecimal(plain, 18)
}

const withoutComma = (typed: string, isDecimalComma: boolean): string | undefined =>
  isDecimalComma ? plainOfComma(typed) : GROUPED.test(typed) ? typed.replaceAll(',', '') : undefined

function plainOfComma(typed: string): string | undefined {
  if (!typed.includes('.'))
    return typed.split(',').length === 2 ? typed.replace(',', '.') : undefined
  if (!GROUPED_BY_POINT.test(typed)) return undefined
  return typed.replaceAll('.', '').replace(',', '.')
}

/** Time until a moment: `2 d 4 h`, `4 h 05 min`, `5:09`; `0:00` from then on. */
export function formatCountdown(leftMs: number): string {
  const seconds = Math.max(0, Math.floor(leftMs / 1_000))
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor(seconds / 3_600) % 24
  const minutes = Math.floor(seconds / 60) % 60
  const rest = seconds % 60
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${two(minutes)} min`
  return `${minutes}:${two(rest)}`
}

const two = (count: number): string => `${count}`.padStart(2, '0')
