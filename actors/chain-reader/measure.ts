import type { Metrics } from '../../runtime/metrics/metrics.js'
import type { ChainReader } from './start.js'

/** Reads at each scrape where the chain reader stands. */
export function sampleChain(
  metrics: Metrics,
  { standing, silentMs, clockAheadMs }: Pick<ChainReader, 'standing' | 'silentMs' | 'clockAheadMs'>,
): void {
  metrics.sample('venue_chain_block_timestamp_seconds', () => {
    const { block_time_sec: sec } = standing().positions
    return sec === undefined ? [] : [[{}, sec]]
  })
  metrics.sample('venue_chain_silent_seconds', () => [[{}, silentMs() / 1_000]])
  metrics.sample('venue_clock_ahead_seconds', () => {
    const aheadMs = clockAheadMs()
    return aheadMs === undefined ? [] : [[{}, aheadMs / 1_000]]
  })
  metrics.sample('venue_accounts_followed', () => [[{}, standing().positions.accounts ?? 0]])
}
