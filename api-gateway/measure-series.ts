import { nextSeries, type FuturesCalendar } from '../core/contracts/future-calendar.js'
import type { Market } from '../core/model/market.js'
import type { Metrics } from '../runtime/metrics/metrics.js'

/** What the next series follows from. */
export interface SeriesWatch {
  readonly calendar: FuturesCalendar
  /** All registered markets, disabled ones included; always the same array. */
  readonly markets: readonly Market[]
  readonly nowMs: () => number
}

/** Shows, at each scrape, when the next series of dated futures should trade, while it is not listed. */
export function measureSeries(metrics: Metrics, { calendar, markets, nowMs }: SeriesWatch): void {
  metrics.sample('venue_series_due_timestamp_seconds', () => {
    const next = nextSeries(calendar, markets, Math.floor(nowMs() / 1_000))
    return next === undefined ? [] : [[{ market: next.series?.market ?? '' }, next.dueSec]]
  })
}
