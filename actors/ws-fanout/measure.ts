import type { Metrics } from '../../runtime/metrics/metrics.js'
import type { FanOut, FanOutOptions } from './fan-out.js'

/** Measures how long the frames of a durable block take to the sockets. */
export function measureFrames(metrics: Metrics): Pick<FanOutOptions, 'onFrames'> {
  const frames = metrics.histogram('venue_frame_seconds')
  return {
    onFrames: (market, storedAtMs) =>
      frames({ market }, Math.max(0, Date.now() - storedAtMs) / 1_000),
  }
}

/** Reads at each scrape how far the feeds are folded, and how many clients are connected. */
export function sampleFanOut(
  metrics: Metrics,
  { standing, clients }: Pick<FanOut, 'standing' | 'clients'>,
): void {
  metrics.sample('venue_sockets', () => [[{}, clients()]])
  metrics.sample('venue_follower_seq', () =>
    Object.entries(standing().positions).map(([market, seq]) => [
      { follower: 'sockets', market },
      seq,
    ]),
  )
}
