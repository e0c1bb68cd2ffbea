import type { PinnedBlock } from '../../chain/read-trade-state.js'
import type { AuditScratch } from '../../data/audit-scratch.js'
import type { JournalReader } from '../../data/read-journal.js'
import type { MarketFold } from './fold-market.js'
import type { Verdicts } from './verdicts.js'

const PAGE = 500

export interface JournalChecks {
  readonly journal: JournalReader | undefined
  readonly scratch: AuditScratch
  readonly block: PinnedBlock
  readonly verdicts: Verdicts
}

/**
 * Every settled match is a success in the executor's journal, every success is a match that is settled or about to be,
 * and none has two nonces.
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

function checkTrades({ journal, scratch, verdicts }: WithJournal, { market }: MarketFold): number {
  let count = 0
  for (let after = 0; ;) {
    const trades = scratch.trades(market.ordinal, after, PAGE)
    if (trades.length === 0) return count
    for (const { settlementId } of trades) {
      const status = journal.find(settlementId)?.status
      if (status === 'success' || status === 'open') continue
      const what = status === undefined ? 'has no record of it' : `calls it ${status}`
      verdicts.find(market.market, 'journal', `${settlementId} is settled, the journal ${what}`)
    }
    count += trades.length
    after = trades.at(-1)?.tradeId ?? after
  }
}

/** Up to the block: whatever was mined by then had been matched when the feed's end was looked for. */
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
      const what = `${settlementId} succeeded in ${txHash}, and is no match of the feed`
      verdicts.find(marketOf(settlementId, folds), 'journal', what)
    }
    after = successes.at(-1)?.position ?? after
  }
}

/** The market that a settlement's id names, the first one for an id that names none. */
function marketOf(settlementId: string, folds: readonly MarketFold[]): string {
  const names = folds.map(({ market }) => market.market)
  return names.find((name) => settlementId.startsWith(`${name}:`)) ?? names[0] ?? settlementId
}
