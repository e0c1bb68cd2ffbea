import { dateCodeOf, isSeries } from './future.js'
import { lastTradeSecOf } from './future-entry.js'
import { FIXING_SEC } from './future-prices.js'
import type { Market } from '../model/market.js'

/**
 * By which rule the series of dated futures follow each other: the last day of each month at 14:00 UTC, a list of expiries
 * in unix seconds that rises, or none. All times are unix seconds.
 */
export type FuturesCalendar = 'month-end' | 'none' | readonly number[]

/** So many series trade at a time. */
export const SERIES_AT_A_TIME = 2
/** A series that expires sooner is not opened: the chain refuses it from an hour before, and its block takes a while. */
const LEAST_LIFE_SEC = FIXING_SEC + 60
const EXPIRY_HOUR = 14
/** The contracts keep at most sixteen series open, so that no more than these can be listed ahead. */
const MONTHS_AHEAD = 18
/** Most dates of a list. */
const MAX_DATES = 200

/**
 * Expiries of the series that should trade from this moment on, the earliest first, at most `count`: those that can still be
 * opened. Fewer when a list ends, and none from the year 2100 on, whose dates no identifier spells.
 */
export const expiriesFrom = (
  calendar: FuturesCalendar,
  atSec: number,
  count = SERIES_AT_A_TIME,
): readonly number[] =>
  expiriesOf(calendar, atSec)
    .filter((expirySec) => expirySec > atSec + LEAST_LIFE_SEC)
    .slice(0, count)

/** What of the series is not as the calendar says. */
export type SeriesWork =
  /** It is to be opened on the chain, or to be registered as it is there; unix seconds. */
  | { readonly kind: 'open' | 'list'; readonly expirySec: number }
  /** The chain has it no more. */
  | { readonly kind: 'disable'; readonly market: string }

/**
 * What is to be done at this moment, where `open` are the expiries of the series that the chain has. None is opened beside one of
 * the same day, whose name it would have, and a venue that lists no series stays without.
 */
export function seriesWork(
  calendar: FuturesCalendar,
  markets: readonly Market[],
  { atSec, open }: { readonly atSec: number; readonly open: ReadonlySet<bigint> },
): readonly SeriesWork[] {
  const listed = markets.filter(isSeries)
  if (listed.length === 0) return []
  const missing = expiriesFrom(calendar, atSec).flatMap((expirySec): SeriesWork[] => {
    const day = dateCodeOf(BigInt(expirySec))
    const ofDay = listed.find(({ subId }) => dateCodeOf(subId) === day)
    if (ofDay !== undefined && ofDay.subId !== BigInt(expirySec)) return []
    if (!open.has(BigInt(expirySec))) return [{ kind: 'open', expirySec }]
    return ofDay === undefined ? [{ kind: 'list', expirySec }] : []
  })
  const over = listed
    .filter(({ subId }) => BigInt(atSec) >= subId && !open.has(subId))
    .map(({ market }) => ({ kind: 'disable', market }) as const)
  return [...missing, ...over]
}

/** The series that follows those of the market data. */
export interface NextSeries {
  /** Its identifier and its expiry; undefined when the calendar names none. */
  readonly series: { readonly market: string; readonly expirySec: number } | undefined
  /** When a series ends whose place it takes: it should trade by then. In the past when it is late. */
  readonly dueSec: number
}

/**
 * The first series of the calendar that is not listed, or, when the calendar names none, the moment from which no series
 * trades. Undefined where the venue never listed a series, or where no rule is followed. A disabled series counts as listed:
 * an operator has ended it.
 */
export function nextSeries(
  calendar: FuturesCalendar,
  markets: readonly Market[],
  atSec: number,
): NextSeries | undefined {
  const listed = markets.filter(isSeries)
  const last = listed.at(-1)
  if (last === undefined || calendar === 'none') return undefined
  // By the day, which is all that an identifier spells.
  const known = new Set(listed.map(({ subId }) => dateCodeOf(subId)))
  const expiries = expiriesOf(calendar, atSec)
  const index = expiries.findIndex(
    (it) => it > atSec + LEAST_LIFE_SEC && !known.has(dateCodeOf(BigInt(it))),
  )
  const expirySec = expiries[index]
  if (expirySec === undefined)
    return { series: undefined, dueSec: Math.max(...listed.map(lastTradeSecOf)) }
  // Before the first dates of a list nothing ends: they are due at once.
  const before = expiries[index - SERIES_AT_A_TIME]
  return {
    series: { market: seriesNameLike(last, expirySec), expirySec },
    dueSec: before === undefined ? atSec : before - FIXING_SEC,
  }
}

/** The identifier of a series: that of another one with its own date. */
function seriesNameLike(other: Pick<Market, 'market' | 'subId'>, expirySec: number): string {
  const code = dateCodeOf(BigInt(expirySec)) ?? ''
  return other.market.replace(dateCodeOf(other.subId) ?? '', code)
}

/** Expiries of the calendar around a moment: two that have passed at least, and as many as may be listed ahead. */
function expiriesOf(calendar: FuturesCalendar, atSec: number): readonly number[] {
  if (calendar === 'none') return []
  if (calendar !== 'month-end') return calendar
  const date = new Date(atSec * 1_000)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth()
  const first = 1 - SERIES_AT_A_TIME - 1
  return Array.from({ length: MONTHS_AHEAD - first }, (_, i) =>
    monthEndSec(year, month + first + i),
  ).filter((sec) => !Number.isNaN(sec) && dateCodeOf(BigInt(sec)) !== undefined)
}

/** 14:00 UTC on the last day of a month; months count from 0 and may leave their year. NaN beyond the last date. */
const monthEndSec = (year: number, month: number): number =>
  Date.UTC(year, month + 1, 0, EXPIRY_HOUR) / 1_000

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/

/**
 * Reads a calendar: `month-end`, `none`, or expiries such as `2026-12-31T14:00Z` that rise, separated by commas, at most 200 and
 * no two on the same day, because an identifier spells the day alone. Returns the problem in one line otherwise.
 */
export function readCalendar(text: string): FuturesCalendar | { readonly problem: string } {
  if (text === 'month-end' || text === 'none') return text
  const words = text.split(',').map((word) => word.trim())
  if (words.length > MAX_DATES) return { problem: `has more than ${MAX_DATES} dates` }
  const dates = words.map(secondsOf)
  const codes = dates.map((sec) => (Number.isNaN(sec) ? undefined : dateCodeOf(BigInt(sec))))
  const wrong = codes.indexOf(undefined)
  if (wrong !== -1) {
    const what = `names ${words[wrong]}, which is no time such as 2026-12-31T14:00Z`
    return { problem: `${what}; or is month-end, or none` }
  }
  const unordered = dates.findIndex(
    (sec, i) => i > 0 && (codes[i] === codes[i - 1] || sec <= (dates[i - 1] ?? 0)),
  )
  if (unordered !== -1)
    return { problem: `names ${words[unordered]} out of order, or its day twice` }
  return dates
}

/** The time of the word in unix seconds; NaN when it is not a time, or its month lacks that day. */
function secondsOf(word: string): number {
  const ms = DATE.test(word) ? Date.parse(word) : NaN
  const isExact = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(word.slice(0, -1))
  return isExact ? ms / 1_000 : NaN
}
