import { setTimeout as delay } from 'node:timers/promises'
import { feedStream } from '../../bus-schemas/subjects.js'
import { holdsBlock, readNewestBlock } from '../../chain/reads/blocks.js'
import type { ChainClient } from '../../chain/reads/client.js'
import type { Market } from '../../core/model/market.js'
import { openAuditScratch } from '../../data/audit-scratch.js'
import { openScratchHistory } from '../../data/history/compare-histories.js'
import { openJournalReader } from '../../data/journal/read-journal.js'
import { stateOrEmpty, type Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { ProcessStanding } from '../../runtime/process/process.js'
import { checkChain } from './check-chain.js'
import { checkHistory, checkJournal, untilProjected } from './check-stores.js'
import { foldMarket, type MarketFold } from './fold-market.js'
import { createVerdicts, type AuditVerdict } from './verdicts.js'

export interface AuditOptions {
  readonly bus: Bus
  readonly client: ChainClient
  readonly markets: readonly Market[]
  /** Directory of history.db and executor.db; checks of an absent file are skipped. */
  readonly dataDir: string
  /** The first block to search for fills. */
  readonly fromBlock: bigint
  readonly feesKept: boolean
}

/** The chain lost the audited block during the audit: discard the findings and audit again. */
export class ChainMoved extends Error {
  override readonly name = 'ChainMoved'
}

/**
 * Folds the markets' logs from the start and compares the result with the feeds, the databases and the chain. Read-only;
 * works on a running venue. Memory holds live orders and pending matches; the rest goes to a temporary file. Rejects when
 * something cannot be read.
 */
export async function audit(options: AuditOptions): Promise<AuditVerdict[]> {
  const { bus, client, markets, dataDir } = options
  const verdicts = createVerdicts()
  // Read the block before the ends of the feeds: every fill in it was matched before and so is in the feed.
  const block = await readNewestBlock(client)
  const heads = new Map<string, number>()
  for (const { market } of markets)
    heads.set(market, (await stateOrEmpty(bus, feedStream(market))).lastSeq)

  const scratch = openScratchHistory(markets)
  const journal = openJournalReader(dataDir)
  try {
    const { projection } = scratch
    const folds: MarketFold[] = []
    for (const market of markets)
      folds.push(await foldMarket({ bus, market, projection, verdicts }))
    for (const fold of folds) await fold.advance(heads.get(fold.market.market) ?? 0)
    await compareHistory(folds, heads)
    for (const fold of folds) fold.conclude()
    const shared = { block, verdicts, journal, scratch: openAuditScratch(scratch.db) }
    checkJournal(shared, folds)
    await checkChain({ ...options, ...shared, newest: await readNewestBlock(client) }, folds)
  } finally {
    journal?.close()
    scratch.remove()
  }
  if (!(await holdsBlock(client, block)))
    throw new ChainMoved(`the chain lost block ${block.number} while it was read`)
  return verdicts.all()

  /** The read model may be ahead of `seen` by now, so the folds advance to its position. */
  async function compareHistory(
    folds: readonly MarketFold[],
    seen: ReadonlyMap<string, number>,
  ): Promise<void> {
    const live = await untilProjected(dataDir, seen)
    try {
      for (const fold of folds) await fold.advance(live?.streamSeq(fold.market.market) ?? 0)
      checkHistory(live, scratch, { folds, verdicts })
    } finally {
      live?.close()
    }
  }
}

export interface KeepAuditingOptions {
  readonly audit: () => Promise<AuditVerdict[]>
  readonly everyMs: number
  readonly log: Logger
}

export interface AuditLoop {
  /** Ready while the last complete audit found nothing. */
  standing(): ProcessStanding
  /** Starts no further audit; does not wait for one in progress. */
  stop(): void
}

/** Repeats the audit with a pause in between; logs each verdict. */
export function keepAuditing({ audit, everyMs, log }: KeepAuditingOptions): AuditLoop {
  const stopping = new AbortController()
  let standing: ProcessStanding = { ready: false, detail: 'makes its first audit', positions: {} }
  let audits = 0

  const once = async (): Promise<void> => {
    try {
      const verdicts = await audit()
      if (stopping.signal.aborted) return
      audits += 1
      logVerdicts(log, verdicts)
      standing = standingOf(verdicts, audits)
    } catch (error) {
      // The next audit reads again; the last verdict stands.
      if (!stopping.signal.aborted) log.error({ err: error }, 'audit not made')
    }
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await once()
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  void run()
  return { standing: () => standing, stop: () => stopping.abort() }
}

function logVerdicts(log: Logger, verdicts: readonly AuditVerdict[]): void {
  for (const { market, check, result, detail, found, findings } of verdicts) {
    const facts = { market, check, result, detail }
    if (result === 'failed') log.error({ ...facts, found, findings }, 'audit finds a difference')
    else log.info(facts, 'audit finds nothing')
  }
}

function standingOf(verdicts: readonly AuditVerdict[], audits: number): ProcessStanding {
  const failed = verdicts.filter(({ result }) => result === 'failed')
  const positions = { audits, differences: failed.reduce((sum, { found }) => sum + found, 0) }
  if (failed.length === 0) return { ready: true, detail: 'finds no difference', positions }
  const names = failed.map(({ market, check }) => `${market} ${check}`)
  return { ready: false, detail: `differences: ${names.join(', ')}`, positions }
}
