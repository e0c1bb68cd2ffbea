import type { Change } from '../../core/model/change.js'
import { revertFields } from '../../core/revert.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import type { Metrics } from '../../runtime/metrics/metrics.js'
import { answerPing } from '../../runtime/process/process.js'
import type { Matcher } from './matcher.js'
import type { MatcherObserver } from './observe.js'

export interface PingsOptions {
  /** Name of the matcher's process. */
  readonly process: string
  readonly standby: boolean
  /** Why one that leads does not answer under the common name. */
  readonly onError: (error: unknown) => void
}

/**
 * Answers pings for the market's matcher. Several may run: a standby answers under a name of its own, and from when it
 * leads also under the common name, so that a question about the market reaches the matcher that runs it.
 */
export async function answerPings(
  bus: Bus,
  { process, standby, onError }: PingsOptions,
  matcher: Matcher,
): Promise<Subscription> {
  const listen = (name: string) => answerPing(bus, name, () => matcher.standing())
  if (!standby) return listen(process)
  const own = await listen(`${process}-standby`)
  const common = matcher.whenLeading.then(() => listen(process))
  let leads: Subscription | undefined
  // It has no caller: thrown on, it would end the process, and with it other markets.
  common.then((subscription) => (leads = subscription)).catch(onError)
  return {
    stop: async () => {
      await own.stop()
      await leads?.stop()
    },
  }
}

/** Begins to measure a market's matcher; called with each start of it. */
export type MeasureMarket = (market: string) => Partial<MatcherObserver>

/** Measures the matchers of a process by the facts that they report. */
export function measureMatchers(metrics: Metrics, nowMs: () => number): MeasureMarket {
  const matched = metrics.histogram('venue_order_matched_seconds')
  const settled = metrics.histogram('venue_settlement_seconds')
  const changed = metrics.counter('venue_changes_total')
  const checkpoint = metrics.gauge('venue_checkpoint_timestamp_seconds')
  const failed = metrics.counter('venue_checkpoint_failures_total')
  return (market) => {
    const written = (): void => checkpoint({ market }, nowMs() / 1_000)
    // Without one yet, its age counts from the start.
    written()
    changed({ market, kind: 'CommandRefused', reason: '' }, 0)
    failed({ market }, 0)
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
}

/** Why the order is held or ended, or its match failed; empty for a change that needs no reason. */
function reasonOf(change: Change): string {
  if ('revert' in change) return revertFields(change.revert).revert
  const ended = 'cancelReason' in change ? change.cancelReason : undefined
  return ended ?? ('hold' in change ? change.hold : undefined) ?? ''
}

/** What holds a market whose matcher has ended for good, where no other leads it. */
const STAYS_DOWN = { cause: 'matcher', reason: 'cannot_start' } as const

/** As many pairs are named; a label for each of thousands would be a series of its own. */
const PAIRS_NAMED = 5

type MeasuredMatcher = Pick<Matcher, 'standing' | 'holds' | 'waitingPairs' | 'trades'>

/**
 * Measures where the matchers of a process stand, at each scrape. One that is not started is not ready, and nothing else; that it stays
 * `down` holds its market, unless another matcher leads it.
 */
export function sampleMatchers(
  metrics: Metrics,
  running: () => ReadonlyMap<string, MeasuredMatcher | undefined>,
  down: () => Iterable<string>,
): void {
  const started = () =>
    Array.from(running()).flatMap(([market, matcher]) =>
      matcher === undefined ? [] : [{ market, matcher }],
    )
  const position = (name: string) => () =>
    started().flatMap(({ market, matcher }) => {
      const value = matcher.standing().positions[name]
      return value === undefined ? [] : [[{ market }, value] as const]
    })
  metrics.sample('venue_market_seq', position('feed_seq'))
  metrics.sample('venue_market_trades', () =>
    started().map(({ market, matcher }) => [{ market }, matcher.trades()] as const),
  )
  metrics.sample('venue_command_seq', position('command_seq'))
  metrics.sample('venue_market_held', () => [
    ...Array.from(down(), (market) => [{ market, ...STAYS_DOWN }, 1] as const),
    ...started().flatMap(({ market, matcher }) =>
      Array.from(matcher.holds(), ([cause, hold]) => {
        // What an operator writes is not bounded, and a label must be.
        const reason = cause === 'operator' ? '' : hold.reason
        return [{ market, cause, reason }, 1] as const
      }),
    ),
  ])
  metrics.sample('venue_pair_wait_seconds', () =>
    started().flatMap(({ market, matcher }) =>
      matcher
        .waitingPairs()
        .toSorted((a, b) => b.waitMs - a.waitMs)
        .slice(0, PAIRS_NAMED)
        .map(({ signers, waitMs }) => {
          const [signer, other] = signers
          return [{ market, signer, other }, waitMs / 1_000] as const
        }),
    ),
  )
  metrics.sample('venue_pending_settlements', position('pending_settlements'))
  metrics.sample('venue_oldest_pending_settlement_seconds', position('oldest_pending_settlement_s'))
  metrics.sample('venue_late_settlements', position('late_settlements'))
  metrics.sample('venue_matcher_ready', () =>
    Array.from(running(), ([market, matcher]) => {
      const isReady = matcher?.standing().ready === true
      return [{ market }, isReady ? 1 : 0] as const
    }),
  )
}
