import type { Metrics } from '../../runtime/metrics/metrics.js'
import type { Admission } from './admission.js'

/** Reads at each scrape whether the markets take orders. `markets` is read anew each time. */
export function sampleAdmission(
  metrics: Metrics,
  markets: readonly string[],
  { trouble }: Pick<Admission, 'trouble'>,
): void {
  metrics.sample('venue_orders_refused', () =>
    markets.map((market) => [{ market }, trouble(market) === undefined ? 0 : 1]),
  )
}
