import type { Change } from '../../core/engine/change.js'
import { revertFields } from '../../core/revert.js'
import type { Metrics } from '../../runtime/metrics/metrics.js'
import type { Matcher } from './matcher.js'
import type { MatcherFacts } from './observe.js'

/** Measures a market's matcher by the facts that it reports. */
export function measureMatcher(
  metrics: Metrics,
  market: string,
  nowMs: () => number,
): Partial<MatcherFacts> {
  const matched = metrics.histogram('venue_order_matched_seconds')
  const settled = metrics.histogram('venue_settlement_seconds')
  const changed = metrics.counter('venue_changes_total')
  const checkpoint = metrics.gauge('venue_checkpoint_timestamp_seconds')
  const failed = metrics.counter('venue_checkpoint_failures_total')
  const sealed = (): void => checkpoint({ market }, nowMs() / 1_000)
  // Without one yet, its age counts from the start.
  sealed()
  return {
    applied: ({ logged, applied }) => {
      if (applied.changes.length === 0) return
      matched({ market }, Math.max(0, nowMs() - logged.atMs) / 1_000)
      for (const change of applied.changes)
        changed({ market, kind: change.kind, reason: reasonOf(change) })
    },
    settled: (_, ageMs) => settled({ market }, ageMs / 1_000),
    restored: sealed,
    checkpointWritten: sealed,
    checkpointFailed: () => failed({ market }),
  }
}

/** Why the order is held or ended, or its match failed; empty for a change that needs no reason. */
function reasonOf(change: Change): string {
  if ('revert' in change) return revertFields(change.revert).revert
  const ended = 'cancelReason' in change ? change.cancelReason : undefined
  return ended ?? ('hold' in change ? change.hold : undefined) ?? ''
}

/** Measures where the matcher stands, at each scrape. */
export function sampleMatcher(
  metrics: Metrics,
  market: string,
  { standing, holds }: Pick<Matcher, 'standing' | 'holds'>,
): void {
  const position = (name: string) => () => {
    const value = standing().positions[name]
    return value === undefined ? [] : [[{ market }, value] as const]
  }
  metrics.sample('venue_market_seq', position('feed_seq'))
  metrics.sample('venue_command_seq', position('command_seq'))
  metrics.sample('venue_market_held', () =>
    Array.from(holds(), ([cause, hold]) => {
      // What an operator writes is not bounded, and a label must be.
      const reason = cause === 'operator' ? '' : hold.reason
      return [{ market, cause, reason }, 1]
    }),
  )
  metrics.sample('venue_pending_settlements', position('pending_settlements'))
  metrics.sample('venue_oldest_pending_settlement_seconds', position('oldest_pending_settlement_s'))
  metrics.sample('venue_late_settlements', position('late_settlements'))
  metrics.sample('venue_matcher_ready', () => [[{ market }, standing().ready ? 1 : 0]])
}
