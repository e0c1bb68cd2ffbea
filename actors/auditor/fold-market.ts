import { createHash } from 'node:crypto'
import { decodeBlock, holdsBlock } from '../../bus-schemas/blocks.js'
import { CheckpointUnusable } from '../../bus-schemas/checkpoint.js'
import { checkpointState } from '../../bus-schemas/checkpoint-state.js'
import type { Checkpoint } from '../../bus-schemas/checkpoint-form.js'
import { commandMessages } from '../../bus-schemas/commands.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { wordAmount, wordQuote } from '../../core/contracts/amount-words.js'
import type { Market } from '../../core/model/market.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import { emptyMatcherState } from '../../core/engine/empty-state.js'
import { forgetAlike, type Block } from '../../core/model/change.js'
import type { MatcherState } from '../../core/engine/state.js'
import type { Projection, StreamedBlock } from '../../data/history/project.js'
import { stateOrEmpty, StreamMissing, type Bus, type BusMessage } from '../../runtime/bus/bus.js'
import { listCheckpoints, loadCheckpoint } from '../../runtime/bus/checkpoint-store.js'
import { readOpening } from '../../runtime/bus/market-log.js'
import { createOrderLedger, type OrderLedger } from './order-ledger.js'
import { createRestoredGaps, type RestoredGaps } from './restored-gaps.js'
import type { Verdicts } from './verdicts.js'

/** Blocks projected in one transaction. */
const BATCH_BLOCKS = 256

export interface MarketFoldOptions {
  readonly bus: Bus
  readonly market: Market
  /** A new projection for this audit. */
  readonly projection: Projection
  readonly verdicts: Verdicts
}

/** The folds of one market's feed in an audit. */
export interface MarketFold {
  readonly market: Market
  readonly ledger: OrderLedger
  readonly gaps: RestoredGaps
  /** Folds the feed up to this message. */
  advance(toSeq: number): Promise<void>
  /** Reports what was folded. */
  conclude(): void
}

interface FoldContext extends MarketFoldOptions {
  readonly ledger: OrderLedger
  /** Absent without the start of the log and without a checkpoint that reaches its rest. */
  readonly replay: OpenReplay | undefined
  next: number
  blocks: number
  replayed: number
  /** A block differed; the blocks after it are not compared, because they would differ too. */
  broken: boolean
}

/** Starts at the first message of the feed. */
export async function foldMarket(options: MarketFoldOptions): Promise<MarketFold> {
  const { bus, market, verdicts } = options
  const name = market.market
  const { firstSeq } = await stateOrEmpty(bus, feedStream(name))
  if (firstSeq > 1) verdicts.find(name, 'sequence', `the feed begins with message ${firstSeq}`)
  const gaps = createRestoredGaps()
  const replay = await openReplay(bus, market, gaps.take)
  if (replay === undefined)
    verdicts.skip(name, 'replay', 'the log was trimmed, and no checkpoint reaches what is left')
  const fold: FoldContext = {
    ...options,
    ledger: createOrderLedger(market, (check, what) => verdicts.find(name, check, what)),
    replay,
    next: firstSeq,
    blocks: 0,
    replayed: 0,
    broken: false,
  }
  return {
    market,
    gaps,
    ledger: fold.ledger,
    advance: (toSeq) => advance(fold, toSeq),
    conclude: () => conclude(fold),
  }
}

async function advance(fold: FoldContext, toSeq: number): Promise<void> {
  const { bus, market } = fold
  let batch: StreamedBlock[] = []
  const range = { from: fold.next, to: toSeq }
  for await (const message of readStream(bus, feedStream(market.market), range)) {
    const block = decodeBlock(message.data)
    fold.next = message.seq + 1
    fold.blocks += 1
    await compare(fold, message, block)
    fold.ledger.apply(block)
    batch.push({ streamSeq: message.seq, block })
    if (batch.length === BATCH_BLOCKS) batch = project(fold, batch)
  }
  project(fold, batch)
}

/** Compares a message's block with the log's next one. Blocks that name a new leader are not in the log. */
async function compare(fold: FoldContext, { seq, data }: BusMessage, block: Block): Promise<void> {
  const { replay: opened, verdicts, market } = fold
  if (opened === undefined || fold.broken || seq < opened.afterMessage) return
  const find = (what: string) => verdicts.find(market.market, 'replay', what)
  const { replay, afterMessage, sha256 } = opened
  if (seq === afterMessage) {
    const isWhole = !block.changes.some(({ kind }) => kind === 'OrderForgotten')
    if (
      isWhole &&
      sha256 !== undefined &&
      createHash('sha256').update(data).digest('hex') !== sha256
    )
      find(`message ${seq} of the feed is not the one that a checkpoint knows`)
    return
  }
  if (block.leader !== undefined) return
  const expected = await replay.next().catch((error: unknown) => {
    find(`the log cannot be folded: ${String(error)}`)
    return undefined
  })
  if (expected !== undefined && holdsBlock(data, forgetAlike(expected, block))) {
    fold.replayed += 1
    return
  }
  fold.broken = true
  const what = expected === undefined ? 'nothing in its place' : 'another block'
  find(`message ${seq} of the feed: the log gives ${what}`)
}

/** A feed that the projection refuses is a finding; the audit goes on. */
function project(
  { projection, verdicts, market }: FoldContext,
  batch: StreamedBlock[],
): StreamedBlock[] {
  try {
    projection.applyBatch(batch)
  } catch (error) {
    verdicts.find(market.market, 'history', `the feed cannot be projected: ${String(error)}`)
  }
  return []
}

function conclude({ market, verdicts, ledger, replay, replayed, blocks, next }: FoldContext): void {
  const name = market.market
  const { seq, orders, trades, bought, sold, fees } = ledger.totals()
  const amount = (e18: bigint) => wordAmount(market, e18)
  if (bought !== sold)
    verdicts.find(name, 'fills', `bought ${amount(bought)}, sold ${amount(sold)}`)
  verdicts.done(name, 'sequence', `${blocks} blocks up to message ${next - 1}, change ${seq}`)
  verdicts.done(name, 'orders', `${orders} orders`)
  verdicts.done(
    name,
    'fills',
    `${trades} trades of ${amount(bought)}, fees of ${wordQuote(market, fees)}`,
  )
  if (replay === undefined) return
  const from =
    replay.afterMessage === 0 ? '' : ` from a checkpoint at message ${replay.afterMessage}`
  verdicts.done(name, 'replay', `${replayed} blocks equal what the command log gives${from}`)
}

/** A replay and the position in the feed at which it starts. */
export interface OpenReplay {
  readonly replay: Replay
  /** The last message of the feed before the replay's first block; 0 when it gives all blocks. */
  readonly afterMessage: number
  /** SHA-256 of that message in hex, from the checkpoint. */
  readonly sha256?: string
}

/**
 * Starts at the first message of the market's log or, if that was trimmed, from the oldest checkpoint that reaches the
 * rest; undefined when there is none.
 */
export async function openReplay(
  bus: Bus,
  market: Market,
  onCommand: RestoredGaps['take'],
): Promise<OpenReplay | undefined> {
  const name = market.market
  const { firstSeq } = await stateOrEmpty(bus, commandsStream(name))
  if (firstSeq === 1) {
    const opening = await readOpening(bus, market)
    if (opening === undefined) return undefined
    const start = { state: emptyMatcherState(opening), fromSeq: 1, onCommand }
    return { replay: replayLog(bus, name, start), afterMessage: 0 }
  }
  const checkpoint = await oldestCheckpoint(bus, market, firstSeq - 1)
  if (checkpoint === undefined) return undefined
  const { state, commandSeq, feed } = checkpoint
  const start = { state, fromSeq: commandSeq + 1, onCommand }
  const { messageSeq: afterMessage, sha256 } = feed
  return { replay: replayLog(bus, name, start), afterMessage, sha256 }
}

interface OldestCheckpoint extends Pick<Checkpoint, 'commandSeq' | 'feed'> {
  readonly state: MatcherState
}

async function oldestCheckpoint(
  bus: Bus,
  market: Market,
  leastCommandSeq: number,
): Promise<OldestCheckpoint | undefined> {
  for (const stored of (await storedCheckpoints(bus, market.market)).reverse()) {
    if (stored.commandSeq < leastCommandSeq) continue
    try {
      const checkpoint = await loadCheckpoint(bus, market, stored)
      const { commandSeq, feed } = checkpoint
      return { state: checkpointState(checkpoint), commandSeq, feed }
    } catch (error) {
      // Try the next checkpoint, as the matcher does.
      if (!(error instanceof CheckpointUnusable)) throw error
    }
  }
  return undefined
}

async function storedCheckpoints(bus: Bus, market: string) {
  try {
    return await listCheckpoints(bus, market)
  } catch (error) {
    if (error instanceof StreamMissing) return []
    throw error
  }
}

/** Messages of the log folded at once. */
const COMMANDS_PAGE = 64

/** Replays a market's command log, one block at a time. */
export interface Replay {
  /** The next block; undefined at the end of the log. */
  next(): Promise<Block | undefined>
}

/** A state, the message after it, and what is told each command before its message is applied. */
export interface ReplayStart {
  readonly state: MatcherState
  readonly fromSeq: number
  readonly onCommand: RestoredGaps['take']
}

/**
 * Replays the log with the matcher's own step, from the first message that the state does not include. The result is what
 * the matcher must have published.
 */
export function replayLog(
  bus: Pick<Bus, 'read'>,
  market: string,
  { state, fromSeq, onCommand }: ReplayStart,
): Replay {
  let nextSeq = fromSeq
  const blocks: Block[] = []
  return {
    async next() {
      while (blocks.length === 0) {
        const messages = await bus.read(commandsStream(market), nextSeq, COMMANDS_PAGE)
        if (messages.length === 0) return undefined
        for (const message of messages) {
          const commands = commandMessages(state.identity).take(message)
          for (const logged of commands) onCommand(logged, state.seq)
          for (const { block } of applyMessage(state, message.seq, commands))
            if (block !== undefined) blocks.push(block)
        }
        nextSeq += messages.length
      }
      return blocks.shift()
    },
  }
}

const STREAM_PAGE = 256

/** The messages of a stream from one sequence to another, inclusive, read in pages. Throws MessagesGone. */
export async function* readStream(
  bus: Pick<Bus, 'read'>,
  stream: string,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<BusMessage> {
  for (let next = from; next <= to;) {
    const messages = await bus.read(stream, next, Math.min(STREAM_PAGE, to - next + 1))
    if (messages.length === 0) throw new Error(`${stream} ends before message ${next}`)
    yield* messages
    next += messages.length
  }
}
