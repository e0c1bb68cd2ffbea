import type { Change } from '../../core/model/change.js'
import { revertFields } from '../../core/revert.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import type { Metrics } from '../../runtime/metrics/metrics.js'
import { answerPing } from '../../runtime/process/process.js'
import type { Matcher } from './matcher.js'
import type { MatcherObserver } from './observe.js'

/**
 * Answers pings for the market's matcher. Several may run: a standby answers under a name of its own, and from when it
 * leads also under the common name, so that a question about the market reaches the matcher that runs it.
 */
export async function answerPings(
  bus: Bus,
  { process, standby }: { readonly process: string; readonly standby: boolean },
  matcher: Matcher,
): Promise<Subscription> {
  const listen = (name: string) => answerPing(bus, name, () => matcher.standing())
  if (!standby) return listen(process)
  const own = await listen(`${process}-standby`)
  const common = matcher.whenLeading.then(() => listen(process))
  let leads: Subscription | undefined
  void common.then((subscription) => (leads = subscription))
  return {
    stop: async () => {
      await own.stop()
      await leads?.stop()
    },
  }
}

/** Measures a market's matcher by the facts that it reports. */
export function measureMatcher(
  metrics: Metrics,
  market: string,
  nowMs: () => number,
): Partial<MatcherObserver> {
  const matched = metrics.histogram('venue_order_matched_seconds')
  const settled = metrics.histogram('venue_settlement_seconds')
  const refused = { market, kind: 'CommandRefused', reason: '' }
  const changed = metrics.counter('venue_changes_total', [refused])
  const checkpoint = metrics.gauge('venue_checkpoint_timestamp_seconds')
  const failed = metrics.counter('venue_checkpoint_failures_total', [{ market }])
  const written = (): void => checkpoint({ market }, nowMs() / 1_000)
  // Without one yet, its age counts from the start.
  written()
  return {
    applied: ({ logged, applied }) => {
      if (applied.changes.length === 0) return
      matched({ market }, Math.max(0, nowMs() - logged.atMs) / 1_000)
      for (const change of applied.changes)
        changed({ market, kind: change.kind, reason: reasonOf(change) })
    },
    settled: (_, ageMs) => settled({ market }, ageMs / 1_000),
    restored: written,
    checkpointWritten: written,
    checkpointFailed: () => failed({ market }),
  }
}

/** Why the order is held or ended, or its match failed; empty for a change that needs no reason. */
function reasonOf(change: Change): string {
  if ('revert' in change) return revertFields(change.revert).revert
  const ended = 'cancelReason' in change ? change.cancelReason : undefined
  return ended ?? ('hold' in change ? change.hold : undefined) ?? ''
}

/** As many pairs are named; a label for each of thousands would be a series of its own. */
const PAIRS_NAMED = 5

/** Measures where the matcher stands, at each scrape. */
export function sampleMatcher(
  metrics: Metrics,
  market: string,
  {
    standing,
    holds,
    waitingPairs,
    trades,
  }: Pick<Matcher, 'standing' | 'holds' | 'waitingPairs' | 'trades'>,
): void {
  const position = (name: string) => () => {
    const value = standing().positions[name]
    return value === undefined ? [] : [[{ market }, value] as const]
  }
  metrics.sample('venue_market_seq', position('feed_seq'))
  metrics.sample('venue_market_trades', () => [[{ market }, trades()]])
  metrics.sample('venue_command_seq', position('command_seq'))
  metrics.sample('venue_market_held', () =>
    Array.from(holds(), ([cause, hold]) => {
      // What an operator writes is not bounded, and a label must be.
      const reason = cause === 'operator' ? '' : hold.reason
      return [{ market, cause, reason }, 1]
    }),
  )
  metrics.sample('venue_pair_wait_seconds', () =>
    waitingPairs()
      .toSorted((a, b) => b.waitMs - a.waitMs)
      .slice(0, PAIRS_NAMED)
      .map(({ signers: [signer, other], waitMs }) => [{ market, signer, other }, waitMs / 1_000]),
  )
  metrics.sample('venue_pending_settlements', position('pending_settlements'))
  metrics.sample('venue_oldest_pending_settlement_seconds', position('oldest_pending_settlement_s'))
  metrics.sample('venue_late_settlements', position('late_settlements'))
  metrics.sample('venue_matcher_ready', () => [[{ market }, standing().ready ? 1 : 0]])
}
