import type { Bus } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import type { ChainClient } from '../../chain/client.js'
import { holdsBlock, readNewestBlock } from '../../chain/read-trade-state.js'
import type { Market } from '../../core/market.js'
import { openAuditScratch } from '../../data/audit-scratch.js'
import { openScratchHistory } from '../../data/open-scratch.js'
import { openJournalReader } from '../../data/read-journal.js'
import { checkChain } from './check-chain.js'
import { checkHistory, untilProjected } from './check-history.js'
import { checkJournal } from './check-journal.js'
import { foldMarket, type MarketFold } from './fold-market.js'
import { extentOf } from './read-stream.js'
import { createVerdicts, type Verdict } from './verdicts.js'

export interface AuditOptions {
  readonly bus: Bus
  readonly client: ChainClient
  readonly markets: readonly Market[]
  /** Directory of history.db and executor.db; what is not there is skipped. */
  readonly dataDir: string
  /** The first block that is searched for fills. */
  readonly fromBlock: bigint
  readonly feesKept: boolean
}

/** The chain lost the block that was asked about: what was found is worth nothing, asking again is. */
export class ChainMoved extends Error {
  override readonly name = 'ChainMoved'
}

/**
 * Folds everything the markets' logs hold afresh and compares it with what the venue has made of it. Reads only; works
 * on a venue that runs. Memory holds live orders and pending matches, the rest of what is folded is in a temporary file.
 * Rejects when something cannot be read.
 */
export async function audit(options: AuditOptions): Promise<Verdict[]> {
  const { bus, client, markets, dataDir } = options
  const verdicts = createVerdicts()
  // The block first: whatever it holds of ours was matched before, and so is in the feed by the time its end is read.
  const block = await readNewestBlock(client)
  const heads = new Map<string, number>()
  for (const { market } of markets)
    heads.set(market, (await extentOf(bus, feedStream(market))).lastSeq)

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

  /** The read model is somewhat further by now: the folds go there too. */
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
