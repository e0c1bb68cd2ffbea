import { CheckpointUnusable } from '../../../bus-schemas/checkpoint.js'
import { checkpointState } from '../../../bus-schemas/checkpoint-state.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import { orUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import { instrumentText, readTradeLogs, type BlockRange } from '../../../chain/reads/read-trades.js'
import type { Address, Hex } from '../../../core/action.js'
import type { ChainFill } from '../../../core/chain-fill.js'
import type { Market } from '../../../core/model/market.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import { emptyMatcherState } from '../../../core/engine/empty-state.js'
import { knownOrder, type MatcherState } from '../../../core/engine/state.js'
import { signedAmount } from '../../../core/entry/order-terms.js'
import type { Match } from '../../../core/model/match.js'
import {
  journalFiles,
  journalSenders,
  marketIntents,
} from '../../../data/journal/restored-journal.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { listCheckpoints, loadCheckpoint } from '../../../runtime/bus/checkpoint-store.js'
import { readOpening } from '../../../runtime/bus/market-log.js'
import { BadBackup } from './manifest.js'
import { databasePath } from '../../../data/places.js'

/** Nonces of one sender: in its restored journal, and on the chain. */
export interface SenderEvidence {
  /** File of the journal, in DATA_DIR. */
  readonly journal: string
  readonly sender: Address
  readonly journaled: number
  readonly mined: number
  /** Counts transactions of the node's pool too. */
  readonly pooled: number
}

/** A market as its restored log leaves it, and what the chain shows beyond. */
export interface MarketEvidence {
  readonly market: Market
  readonly state: MatcherState
  /** Fills on the chain of matches that the log holds without an outcome. */
  readonly settled: readonly { readonly match: Match; readonly fill: ChainFill }[]
  /** Fills on the chain that the log knows nothing of. */
  readonly unknown: readonly ChainFill[]
  /** Intents of the journal for matches that the log does not hold. */
  readonly intents: readonly string[]
}

export interface Evidence {
  readonly senders: readonly SenderEvidence[]
  readonly markets: readonly MarketEvidence[]
  readonly range: BlockRange
}

export interface EvidenceOptions {
  readonly bus: Pick<Bus, 'streamState' | 'read' | 'lastMessage'> & Bus
  readonly client: ChainClient
  readonly dataDir: string
  readonly markets: readonly Market[]
  /** The newest block before the backup. */
  readonly fromBlock: number
}

/** Compares what was restored with the chain. Writes nothing. Throws BadBackup, and errors of bus and chain. */
export async function readEvidence(options: EvidenceOptions): Promise<Evidence> {
  const { client, dataDir, markets, fromBlock } = options
  const to = await orUnreachable('newest block', client.getBlockNumber())
  const range = { from: BigInt(fromBlock), to }
  const found: MarketEvidence[] = []
  const fills = new Map<Address, readonly ChainFill[]>()
  for (const market of markets) {
    const module = market.tradeModuleAddress
    const onChain = fills.get(module) ?? (await readFills(client, module, range))
    fills.set(module, onChain)
    found.push(await compareMarket(options, market, onChain))
  }
  return { senders: await readSenders(client, dataDir), markets: found, range }
}

/** Why the streams do not prove complete, in lines; empty when nothing speaks against it. */
export const whyIncomplete = ({ senders, markets }: Evidence): string[] => [
  ...senders
    .filter(({ journaled, mined, pooled }) => Math.max(mined, pooled) > journaled)
    .map(
      ({ sender, journal, journaled, mined, pooled }) =>
        `${sender} has sent ${Math.max(mined, pooled)} transactions, ${journal} knows ${journaled}`,
    ),
  ...markets.flatMap(({ market: { market }, unknown, intents }) => [
    ...(unknown.length === 0
      ? []
      : [`${unknown.length} fills on the chain that the log of ${market} does not hold`]),
    ...(intents.length === 0
      ? []
      : [`${intents.length} settlements in the journal that the log of ${market} does not hold`]),
  ]),
]

async function readFills(
  client: ChainClient,
  module: Address,
  range: BlockRange,
): Promise<ChainFill[]> {
  const fills: ChainFill[] = []
  for await (const { matches } of readTradeLogs(client, module, range)) fills.push(...matches)
  return fills
}

async function readSenders(client: ChainClient, dataDir: string): Promise<SenderEvidence[]> {
  const found: SenderEvidence[] = []
  for (const journal of journalFiles(dataDir)) {
    for (const { sender, next } of journalSenders(databasePath(dataDir, journal))) {
      const count = (blockTag: 'latest' | 'pending') =>
        orUnreachable('nonces', client.getTransactionCount({ address: sender, blockTag }))
      const mined = await count('latest')
      const pooled = await count('pending')
      found.push({ journal, sender, journaled: next, mined, pooled })
    }
  }
  return found
}

async function compareMarket(
  options: EvidenceOptions,
  market: Market,
  onChain: readonly ChainFill[],
): Promise<MarketEvidence> {
  const { state, reported } = await foldLog(options, market)
  const instrument = instrumentText(market.assetAddress, market.subId)
  const open = new Map<string, Match[]>()
  for (const match of state.matches.values()) {
    const terms = termsOf(market, state, match)
    open.set(terms, [...(open.get(terms) ?? []), match])
  }
  const settled: { match: Match; fill: ChainFill }[] = []
  const unknown: ChainFill[] = []
  for (const fill of onChain) {
    if (fill.instrument !== instrument) continue
    const match = open.get(textOf(fill))?.shift()
    if (match !== undefined) settled.push({ match, fill })
    // A transaction is sent when all its matches are in the log: one that is reported has no other.
    else if (!reported.has(fill.txHash)) unknown.push(fill)
  }
  const intents = intentsBeyond(options.dataDir, market.market, state)
  return { market, state, settled, unknown, intents }
}

type Terms = Pick<ChainFill, 'taker' | 'maker' | 'takerIsBid' | 'amount'>
const textOf = ({ taker, maker, takerIsBid, amount }: Terms): string =>
  [taker, maker, takerIsBid, amount].join(' ')

function termsOf(market: Market, state: MatcherState, match: Match): string {
  const [maker, taker] = [match.makerOrderId, match.takerOrderId].map((id) => knownOrder(state, id))
  return textOf({
    taker: taker?.order.subaccountId ?? 0n,
    maker: maker?.order.subaccountId ?? 0n,
    takerIsBid: taker?.side === 'buy',
    amount: signedAmount(market, match.amount),
  })
}

const READ_CHUNK = 256

/** The state at the end of the log, and the transactions of the settlements that it reports. */
async function foldLog(
  { bus, fromBlock }: EvidenceOptions,
  market: Market,
): Promise<{ state: MatcherState; reported: Set<Hex> }> {
  const stream = commandsStream(market.market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  const { state, commandSeq } = await startingState(bus, market)
  const reported = new Set<Hex>()
  const { take } = commandMessages(market)
  for (let next = firstSeq; next <= lastSeq;) {
    const messages = await bus.read(stream, next, READ_CHUNK)
    for (const message of messages) {
      const commands = take(message)
      for (const { command } of commands)
        if (command.kind === 'SettlementReported' && command.outcome.kind === 'success')
          if (command.outcome.blockNumber >= BigInt(fromBlock)) reported.add(command.outcome.txHash)
      if (message.seq <= commandSeq) continue
      // The blocks are in the feed already.
      for (const step of applyMessage(state, message.seq, commands)) void step
    }
    next = (messages.at(-1)?.seq ?? lastSeq) + 1
  }
  return { state, reported }
}

async function startingState(bus: Bus, market: Market) {
  for (const stored of await listCheckpoints(bus, market.market)) {
    try {
      const checkpoint = await loadCheckpoint(bus, market, stored)
      return { state: checkpointState(checkpoint), commandSeq: checkpoint.commandSeq }
    } catch (error) {
      // The next one or the log still holds the state.
      if (!(error instanceof CheckpointUnusable)) throw error
    }
  }
  const opening = await readOpening(bus, market)
  if (opening === undefined)
    throw new BadBackup(`the log of ${market.market} is trimmed, and no checkpoint reaches it`)
  return { state: emptyMatcherState(opening), commandSeq: 0 }
}

/** A settlement's id ends with the number of the change that proposed it. */
const intentsBeyond = (dataDir: string, market: string, { seq }: MatcherState): string[] =>
  marketIntents(dataDir, market).filter(
    (id) => Number.parseInt(id.slice(market.length + 1), 10) > seq,
  )
