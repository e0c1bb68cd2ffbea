import type { MarketEntry, StatusState } from '../../client/index.js'
import { marketReasons, type Reason } from '../../interface/reasons.js'

/** Whether what is shown is the venue's of now. */
export type FeedLight = 'live' | 'late' | 'lost' | 'halted'

export interface FeedFacts {
  readonly isOpen: boolean
  /** The snapshot of this connection has come, and its checksum fits. */
  readonly isCurrent: boolean
  /** Milliseconds since anything came. */
  readonly quietMs: number
  /** How the market trades; why, when it does not. */
  readonly halt: string | undefined
}

/** Nothing for so long is late: a venue that lives answers pings. */
export const LATE_MS = 3_000

/** A feed that is lost is so whatever the market does. */
export function feedLight({ isOpen, isCurrent, quietMs, halt }: FeedFacts): FeedLight {
  if (!isOpen || !isCurrent) return 'lost'
  if (halt !== undefined) return 'halted'
  return quietMs >= LATE_MS ? 'late' : 'live'
}

/** Why a market does not trade now, in words; undefined while it does. `nowSec` in Unix seconds. */
export function haltOf(
  entry: MarketEntry,
  status: StatusState | undefined,
  nowSec: number,
): string | undefined {
  const { trading_status: state, trading_status_reason: reason } = status ?? entry
  if (hasEnded(entry, nowSec)) return 'Trading has ended: the series settles at its expiry.'
  if (status?.enabled === false) return 'The market is not listed: it takes no orders.'
  if (state === 'paused') return `Paused: no new orders are taken. ${marketWords(reason)}`.trim()
  if (state === 'held') return `Held: orders rest, nothing matches. ${marketWords(reason)}`.trim()
  if (entry.perp?.price_status === 'stale')
    return 'The prices of the market are stale on the chain.'
  if (entry.future?.band_status === 'index_stale')
    return 'The index of the series is stale on the chain: it fills nothing.'
  return undefined
}

/** Whether the last trade of a series is over. `nowSec` in Unix seconds. */
export const hasEnded = ({ future }: MarketEntry, nowSec: number): boolean =>
  future !== undefined && nowSec >= future.last_trade_time

function marketWords(reason = ''): string {
  const known: Reason | undefined = (marketReasons as Readonly<Record<string, Reason>>)[reason]
  return known === undefined ? reason : `${known.means} ${known.ends}`
}
