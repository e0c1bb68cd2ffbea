const MS_PER_SEC = 1_000

/** The last second that a date can hold, in the year 275760. Its milliseconds are exact as a number. */
export const LAST_DATE_SEC = 8_640_000_000_000

/**
 * A time in unix seconds as unix milliseconds, for deadlines: a later second than the last of a date counts as that. Exact
 * for every whole number of seconds.
 */
export const deadlineMs = (sec: number): number => Math.min(sec, LAST_DATE_SEC) * MS_PER_SEC
/** The last formatted second and its text up to the point. */
let written = NaN
let text = ''

/** A time that the chain states, of a block or in a contract, in unix seconds, up to the last of a date: it may state any uint64. */
export const blockTimeSec = (timestamp: bigint): number =>
  timestamp > LAST_DATE_SEC ? LAST_DATE_SEC : Number(timestamp)

/** ISO 8601 in UTC with milliseconds, of a time in unix milliseconds that is not before 1970. */
export function isoTime(ms: number): string {
  const rest = ms % MS_PER_SEC
  // Frames written together share a second, and formatting a date costs more than the rest of a frame.
  if (ms - rest !== written) {
    text = new Date(ms - rest).toISOString().slice(0, -'000Z'.length)
    written = ms - rest
  }
  return `${text}${String(rest).padStart(3, '0')}Z`
}

/** An instant, exactly: RFC 3339 allows any number of decimals. */
export interface Timestamp {
  readonly sec: number
  /** Decimals of the second without trailing zeros; text order is time order. */
  readonly fraction: string
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,30}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/**
 * Reads an RFC 3339 date-time; undefined for anything else, also for days that the calendar does not have and for leap
 * seconds, which unix time does not have.
 */
export function readTimestamp(text: unknown): Timestamp | undefined {
  const parts = typeof text === 'string' ? RFC_3339.exec(text) : null
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second, decimals = '', sign, offHour, offMinute] = parts
  const number = (digits: string | undefined): number => Number.parseInt(digits ?? '0', 10)
  if (!isDate(number(year), number(month), number(day))) return undefined
  const date = new Date(0)
  // Unlike the constructor, this takes years below 100 at their word.
  date.setUTCFullYear(number(year), number(month) - 1, number(day))
  date.setUTCHours(number(hour), number(minute), number(second))
  const offsetSec = (number(offHour) * 60 + number(offMinute)) * 60
  return {
    sec: date.getTime() / 1000 - (sign === '-' ? -offsetSec : offsetSec),
    fraction: decimals.replace(/0+$/, ''),
  }
}

/** Whether `a` is later than `b`. */
export function isLater(a: Timestamp, b: Timestamp): boolean {
  return a.sec === b.sec ? a.fraction > b.fraction : a.sec > b.sec
}

/** The first whole millisecond at or after an instant, unix milliseconds. */
export function ceilMs({ sec, fraction }: Timestamp): number {
  const millis = Number.parseInt(fraction.slice(0, 3).padEnd(3, '0'), 10)
  return sec * 1000 + millis + (fraction.length > 3 ? 1 : 0)
}

/** The first whole second at or after an instant. */
export function ceilSec({ sec, fraction }: Timestamp): number {
  return fraction === '' ? sec : sec + 1
}

function isDate(year: number, month: number, day: number): boolean {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day >= 1 && day <= (days[month - 1] ?? 0)
}
