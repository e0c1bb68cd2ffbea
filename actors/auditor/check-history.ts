import { setTimeout as delay } from 'node:timers/promises'
import { openLiveHistory, type LiveHistory } from '../../data/read-live-history.js'
import type { ScratchHistory } from '../../data/open-scratch.js'
import type { MarketFold } from './fold-market.js'
import type { Verdicts } from './verdicts.js'

/** How long the projector may take to come to where the audit is. */
const CATCHES_UP_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 100

/** The read model as it stands once it includes these messages, or as far as it came in time. */
export async function untilProjected(
  dataDir: string,
  heads: ReadonlyMap<string, number>,
): Promise<LiveHistory | undefined> {
  const giveUpAt = performance.now() + CATCHES_UP_WITHIN_MS
  for (;;) {
    const live = openLiveHistory(dataDir)
    const isThere = [...heads].every(([market, seq]) => (live?.streamSeq(market) ?? 0) >= seq)
    if (live === undefined || isThere || performance.now() > giveUpAt) return live
    live.close()
    await delay(LOOK_EVERY_MS)
  }
}

/** A read model made afresh of the same blocks has the same rows in every table. */
export function checkHistory(
  live: LiveHistory | undefined,
  scratch: ScratchHistory,
  { folds, verdicts }: { readonly folds: readonly MarketFold[]; readonly verdicts: Verdicts },
): void {
  for (const { market: at } of folds) {
    const { market } = at
    const { streamSeq } = scratch.projection.position(market)
    if (live === undefined) {
      verdicts.skip(market, 'history', 'there is no history.db here')
      continue
    }
    const behind = streamSeq - live.streamSeq(market)
    if (behind > 0) {
      const late = `history.db ends at message ${live.streamSeq(market)}, the feed at ${streamSeq}`
      verdicts.find(market, 'history', `the projector is ${behind} messages behind: ${late}`)
    }
  }
  if (live === undefined) return
  const differences = live.compareWith(scratch.db)
  for (const { market: at } of folds) {
    for (const { table, rows, parts } of differences) {
      if (parts === undefined) continue
      const what = `after ${rows} equal rows the feed gives ${parts.ours}, history.db has ${parts.theirs}`
      verdicts.find(at.market, 'history', `${table}: ${what}`)
    }
    const rows = differences.map(({ table, rows: count }) => `${table} ${count}`).join(', ')
    verdicts.done(at.market, 'history', `rows equal to a read model made afresh: ${rows}`)
  }
}
