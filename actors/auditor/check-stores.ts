import { setTimeout as delay } from 'node:timers/promises'
import type { PinnedBlock } from '../../chain/reads/blocks.js'
import type { AuditScratch } from '../../data/audit-scratch.js'
import {
  openLiveHistory,
  type LiveHistory,
  type ScratchHistory,
} from '../../data/history/compare-histories.js'
import type { JournalReader } from '../../data/journal/read-journal.js'
import type { MarketFold } from './fold-market.js'
import type { Verdicts } from './verdicts.js'

/** How long the audit waits for a projector that does not move. */
const MOVES_WITHIN_MS = 10_000
const POLL_MS = 100

/** The read model once it includes these messages, or as it is when it has not moved for MOVES_WITHIN_MS. */
export async function untilProjected(
  dataDir: string,
  heads: ReadonlyMap<string, number>,
): Promise<LiveHistory | undefined> {
  let [movedAt, reached] = [performance.now(), 0]
  for (;;) {
    const live = openLiveHistory(dataDir)
    const seqs = [...heads].map(([market, head]) => ({ head, seq: live?.streamSeq(market) ?? 0 }))
    const isThere = seqs.every(({ seq, head }) => seq >= head)
    const sum = seqs.reduce((total, { seq }) => total + seq, 0)
    if (sum > reached) [movedAt, reached] = [performance.now(), sum]
    if (live === undefined || isThere || performance.now() - movedAt > MOVES_WITHIN_MS) return live
    live.close()
    await delay(POLL_MS)
  }
}

/** Checks that a read model built from the same blocks has the same rows in every table. */
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

const PAGE = 500

export interface JournalChecks {
  readonly journal: JournalReader | undefined
  readonly scratch: AuditScratch
  readonly block: PinnedBlock
  readonly verdicts: Verdicts
}

/**
 * Checks that every settled match is a success in the executor's journal, that every success is a settled or pending
 * match, and that none has two nonces.
 */
export function checkJournal(checks: JournalChecks, folds: readonly MarketFold[]): void {
  const { journal, verdicts } = checks
  const [first] = folds
  if (journal === undefined || first === undefined) {
    for (const { market } of folds)
      verdicts.skip(market.market, 'journal', 'there is no executor.db here')
    return
  }
  for (const fold of folds) {
    const settled = checkTrades({ ...checks, journal }, fold)
    verdicts.done(fold.market.market, 'journal', `${settled} settlements, ${wordOpen(journal)}`)
  }
  for (const id of journal.doubled())
    verdicts.find(marketOf(id, folds), 'journal', `${id} has two nonces`)
  checkSuccesses({ ...checks, journal }, folds)
}

function wordOpen(journal: JournalReader): string {
  const { count, oldestMs } = journal.open()
  if (count === 0 || oldestMs === undefined) return 'no transaction open'
  return `${count} transactions open, the oldest since ${new Date(oldestMs).toISOString()}`
}

type WithJournal = JournalChecks & { readonly journal: JournalReader }

function checkTrades(
  { journal, scratch, verdicts }: WithJournal,
  { market, gaps }: MarketFold,
): number {
  let count = 0
  for (let after = 0; ;) {
    const trades = scratch.trades(market.ordinal, after, PAGE)
    if (trades.length === 0) return count
    for (const { settlementId } of trades) {
      const status = journal.find(settlementId)?.status
      if (status === 'success' || status === 'open' || gaps.isReported(settlementId)) continue
      const what = status === undefined ? 'has no record of it' : `calls it ${status}`
      verdicts.find(market.market, 'journal', `${settlementId} is settled, the journal ${what}`)
    }
    count += trades.length
    after = trades.at(-1)?.tradeId ?? after
  }
}

/** Up to the audited block: every match mined by then was in the feed when its end was read. */
function checkSuccesses(
  { journal, scratch, block, verdicts }: WithJournal,
  folds: readonly MarketFold[],
): void {
  const pending = new Set(
    folds.flatMap(({ ledger }) => ledger.pending().map(({ settlementId }) => settlementId)),
  )
  for (let after = 0; ;) {
    const successes = journal.successes(block.number, after, PAGE)
    if (successes.length === 0) return
    for (const { settlementId, txHash } of successes) {
      if (pending.has(settlementId) || scratch.hasTrade(settlementId)) continue
      const of = marketOf(settlementId, folds)
      if (folds.some(({ market, gaps }) => market.market === of && gaps.isLost(settlementId)))
        continue
      const what = `${settlementId} succeeded in ${txHash}, and is no match of the feed`
      verdicts.find(of, 'journal', what)
    }
    after = successes.at(-1)?.position ?? after
  }
}

/** The market of a settlement's id; the first market for an unknown prefix. */
function marketOf(settlementId: string, folds: readonly MarketFold[]): string {
  const names = folds.map(({ market }) => market.market)
  return names.find((name) => settlementId.startsWith(`${name}:`)) ?? names[0] ?? settlementId
}
