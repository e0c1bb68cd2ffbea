import { createHash } from 'node:crypto'
import { decodeBlock } from '../../bus-schemas/block-message.js'
import type { Bus, BusMessage } from '../../bus-schemas/bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import type { Block } from '../../core/change.js'
import type { Market } from '../../core/market.js'
import type { Projection, StreamedBlock } from '../../data/apply-block.js'
import { openReplay, type OpenReplay } from './open-replay.js'
import { createOrderLedger, type OrderLedger } from './order-ledger.js'
import { extentOf, readStream } from './read-stream.js'
import type { Verdicts } from './verdicts.js'

/** Blocks that are projected in one transaction. */
const BATCH_BLOCKS = 256

export interface FoldOptions {
  readonly bus: Bus
  readonly market: Market
  /** Made afresh for this audit. */
  readonly projection: Projection
  readonly verdicts: Verdicts
}

/** A market's feed on its way through every fold that an audit makes of it. */
export interface MarketFold {
  readonly market: Market
  readonly ledger: OrderLedger
  /** Reads on up to this message of the feed. */
  advance(toSeq: number): Promise<void>
  /** Says what was folded. */
  conclude(): void
}

interface Fold extends FoldOptions {
  readonly ledger: OrderLedger
  /** Absent when neither the log's beginning nor a checkpoint is there. */
  readonly replay: OpenReplay | undefined
  next: number
  blocks: number
  replayed: number
  /** Something was wrong with a block: what follows it would only say so again. */
  broken: boolean
}

/** Begins at the first message of the feed. */
export async function foldMarket(options: FoldOptions): Promise<MarketFold> {
  const { bus, market, verdicts } = options
  const name = market.market
  const { firstSeq } = await extentOf(bus, feedStream(name))
  if (firstSeq > 1) verdicts.find(name, 'sequence', `the feed begins with message ${firstSeq}`)
  const replay = await openReplay(bus, market)
  if (replay === undefined)
    verdicts.skip(name, 'replay', 'the log was trimmed, and no checkpoint reaches what is left')
  const fold: Fold = {
    ...options,
    ledger: createOrderLedger(market, (check, what) => verdicts.find(name, check, what)),
    ...{ replay, next: firstSeq, blocks: 0, replayed: 0, broken: false },
  }
  return {
    market,
    ledger: fold.ledger,
    advance: (toSeq) => advance(fold, toSeq),
    conclude: () => conclude(fold),
  }
}

async function advance(fold: Fold, toSeq: number): Promise<void> {
  const { bus, market } = fold
  let batch: StreamedBlock[] = []
  const range = { from: fold.next, to: toSeq }
  for await (const message of readStream(bus, feedStream(market.market), range)) {
    const block = decodeBlock(message.data)
    fold.next = message.seq + 1
    fold.blocks += 1
    await compare(fold, message, block)
    for (const change of block.changes) fold.ledger.apply(change)
    batch.push({ streamSeq: message.seq, block })
    if (batch.length === BATCH_BLOCKS) batch = project(fold, batch)
  }
  project(fold, batch)
}

/** The log's next block must be this one, to the byte. A block by which a matcher takes over is in no log. */
async function compare(fold: Fold, { seq, data }: BusMessage, block: Block): Promise<void> {
  const { replay: opened, verdicts, market } = fold
  if (opened === undefined || fold.broken || seq < opened.afterMessage) return
  const find = (what: string) => verdicts.find(market.market, 'replay', what)
  const { replay, afterMessage, sha256 } = opened
  if (seq === afterMessage) {
    if (sha256 !== undefined && createHash('sha256').update(data).digest('hex') !== sha256)
      find(`message ${seq} of the feed is not the one that a checkpoint knows`)
    return
  }
  if (block.changes.length === 0) return
  const expected = await replay.next().catch((error: unknown) => {
    find(`the log cannot be folded: ${String(error)}`)
    return undefined
  })
  if (expected !== undefined && Buffer.compare(expected, data) === 0) {
    fold.replayed += 1
    return
  }
  fold.broken = true
  const what = expected === undefined ? 'nothing in its place' : 'another block'
  find(`message ${seq} of the feed: the log gives ${what}`)
}

/** A feed that the projection refuses is a finding, not the end of the audit. */
function project({ projection, verdicts, market }: Fold, batch: StreamedBlock[]): StreamedBlock[] {
  try {
    projection.applyBatch(batch)
  } catch (error) {
    verdicts.find(market.market, 'history', `the feed cannot be projected: ${String(error)}`)
  }
  return []
}

function conclude({ market, verdicts, ledger, replay, replayed, blocks, next }: Fold): void {
  const name = market.market
  const { seq, orders, trades, bought, sold, fees } = ledger.totals()
  if (bought !== sold) verdicts.find(name, 'fills', `bought ${bought}, sold ${sold}`)
  verdicts.done(name, 'sequence', `${blocks} blocks up to message ${next - 1}, change ${seq}`)
  verdicts.done(name, 'orders', `${orders} orders`)
  verdicts.done(name, 'fills', `${trades} trades of ${bought}, fees of ${fees}`)
  if (replay === undefined) return
  const from =
    replay.afterMessage === 0 ? '' : ` from a checkpoint at message ${replay.afterMessage}`
  verdicts.done(name, 'replay', `${replayed} blocks equal what the command log gives${from}`)
}
