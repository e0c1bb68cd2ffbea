import { commandsStream } from '../../../bus-schemas/subjects.js'
import { decodeBatch, decodeMatch, isBatch } from '../../../chain/contracts/calldata.js'
import { readNewestBlock } from '../../../chain/reads/blocks.js'
import { orUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import { readFilled } from '../../../chain/reads/read-trades.js'
import type { Hex } from '../../../core/action.js'
import { sizeOfSigned } from '../../../core/entry/order-terms.js'
import {
  createNumbering,
  RESTORE_SOURCE,
  termOf,
  type Command,
  type ObservedGap,
} from '../../../core/model/command.js'
import { RESTORED_SEQ_JUMP } from '../../../core/model/limits.js'
import { marketIntents, type RestoredJournals } from '../../../data/journal/restored-journal.js'
import { createLogWriter } from '../../../runtime/actor/command-writer.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import type { Evidence, MarketEvidence, SenderEvidence } from './evidence.js'
import { BadBackup } from './manifest.js'

export interface GapOptions {
  readonly bus: Pick<Bus, 'append' | 'streamState'>
  readonly client: ChainClient
  readonly journals: Pick<RestoredJournals, 'recordForeign'>
  readonly dataDir: string
  /** Who restores, for the log. */
  readonly by: string
  /** The moment up to which nothing is lacking. */
  readonly coversUntil: string
  readonly nowMs: () => number
}

/** Entries of one part of a gap: a message of the log carries one. */
const GAP_PART = 500
const READ_CHUNK = 500

/**
 * Puts what the chain shows of the lost time into the journals and the logs; resolves with a line for each market. Every
 * market is held when this resolves. Throws BadBackup before anything is written while transactions wait in the node's pool.
 */
export async function recordGap(options: GapOptions, evidence: Evidence): Promise<string[]> {
  for (const { sender, mined, pooled } of evidence.senders)
    if (pooled > mined)
      throw new BadBackup(
        `${pooled - mined} transactions of ${sender} wait in the node's pool: empty directory and bus, and restore when they are mined`,
      )
  for (const sender of evidence.senders) await claimNonces(options, sender, evidence.range.from)
  const lines: string[] = []
  for (const market of evidence.markets) lines.push(await recordMarket(options, market))
  return lines
}

/**
 * The chain has used nonces of the key that its journal lacks. The last of them is recorded as a transaction that is not
 * the journal's, so that the process goes on after it.
 */
async function claimNonces(
  { client, journals }: GapOptions,
  { journal, sender, journaled, mined }: SenderEvidence,
  fromBlock: bigint,
): Promise<void> {
  if (mined <= journaled) return
  let number = await orUnreachable('newest block', client.getBlockNumber())
  for (; number >= fromBlock; number -= 1n) {
    const asked = client.getBlock({ blockNumber: number, includeTransactions: true })
    const { transactions, hash } = await orUnreachable('a block', asked)
    const found = transactions.find(
      ({ from, nonce }) => from.toLowerCase() === sender && nonce === mined - 1,
    )
    if (found === undefined) continue
    const by = { hash: found.hash, blockNumber: number, blockHash: hash }
    await journals.recordForeign(journal, { sender, evmNonce: mined - 1, by })
    return
  }
  throw new BadBackup(`transaction ${mined - 1} of ${sender} is in no block since the backup`)
}

async function recordMarket(options: GapOptions, evidence: MarketEvidence): Promise<string> {
  const { by, coversUntil } = options
  const { market, state, settled, unknown } = evidence
  const known = new Map(settled.map(({ match, fill }) => [match.settlementId, fill]))
  const journaled = journaledIntents(options.dataDir, market.market)
  const reports = [...state.matches.keys()].flatMap((settlementId): Command[] => {
    const fill = known.get(settlementId)
    if (fill !== undefined) {
      const { txHash, blockNumber } = fill
      const outcome = { kind: 'success', txHash, blockNumber } as const
      return [{ kind: 'SettlementReported', settlementId, outcome }]
    }
    // The executor knows what became of it, and is asked.
    if (journaled.has(settlementId)) return []
    const outcome = { kind: 'reverted', revert: NOT_CARRIED_OUT, guilty: 'unclear' } as const
    return [{ kind: 'SettlementReported', settlementId, outcome }]
  })
  const parts = inParts(await readGap(options, evidence))
  const commands: Command[] = [
    { kind: 'MarketRestored', by, reason: `backup of ${coversUntil}` },
    ...reports,
    ...parts.map((gap, i): Command => ({ kind: 'GapObserved', gap, more: i < parts.length - 1 })),
  ]
  await append(options, evidence, commands)
  const orders = `${state.orders.size} open orders are cancelled`
  const fills = `${unknown.length} fills on the chain are in no log`
  return `${market.market}: held as restored; seq goes on above ${state.seq + RESTORED_SEQ_JUMP}; ${orders}; ${fills}`
}

/** Why a match failed of which neither the chain nor the journal knows. */
const NOT_CARRIED_OUT = 'not_carried_out'

/** The matches that the journal has tried; a later attempt has the match's id and a suffix. */
const journaledIntents = (dataDir: string, market: string): ReadonlySet<string> =>
  new Set(marketIntents(dataDir, market).map((id) => id.split(' ')[0] ?? id))

async function readGap(
  { client }: GapOptions,
  { market, state, unknown }: MarketEvidence,
): Promise<ObservedGap> {
  const block = await readNewestBlock(client)
  const module = market.tradeModuleAddress
  const orders = [...state.orders.values()]
  const filled: { orderId: string; filled: ReturnType<typeof sizeOfSigned> }[] = []
  for (let from = 0; from < orders.length; from += READ_CHUNK) {
    const some = orders.slice(from, from + READ_CHUNK)
    const amounts = await readFilled(client, { module, block }, some)
    for (const [i, { orderId, filled: counted }] of some.entries()) {
      const amount = sizeOfSigned(market, amounts[i] ?? 0n)
      if (amount > counted) filled.push({ orderId, filled: amount })
    }
  }
  const used = new Map<string, ObservedGap['used'][number]>()
  for (const hash of new Set(unknown.map(({ txHash }) => txHash)))
    for (const { owner, nonce, module: of } of await actionsOf(client, hash))
      if (of === module) used.set(`${owner} ${nonce}`, { owner, nonce })
  const fills = unknown.map(({ txHash, logIndex }) => ({ txHash, logIndex }))
  return { filled, used: [...used.values()], fills }
}

/** The signed actions of a settling transaction; none of one that was sent otherwise. */
async function actionsOf(client: ChainClient, hash: Hex) {
  const { input } = await orUnreachable('a transaction', client.getTransaction({ hash }))
  try {
    const calls = isBatch(input) ? decodeBatch(input).map(({ call }) => call) : [input]
    return calls.flatMap((call) => decodeMatch(call).actions)
  } catch {
    return []
  }
}

/** At least one part; no part is larger than a message. */
function inParts({ filled, used, fills }: ObservedGap): ObservedGap[] {
  const count = Math.max(
    1,
    Math.ceil(Math.max(filled.length, used.length, fills.length) / GAP_PART),
  )
  return Array.from({ length: count }, (_, i) => {
    const from = i * GAP_PART
    const to = (i + 1) * GAP_PART
    return {
      filled: filled.slice(from, to),
      used: used.slice(from, to),
      fills: fills.slice(from, to),
    }
  })
}

async function append(
  { bus, nowMs }: GapOptions,
  { market, state }: MarketEvidence,
  commands: readonly Command[],
): Promise<void> {
  const term = termOf(state.lastSourceNo.get(RESTORE_SOURCE) ?? 0) + 1
  const { lastSeq: endSeq } = await bus.streamState(commandsStream(market.market))
  const writer = createLogWriter({
    bus,
    market: market.market,
    contractType: market.contractType,
    source: RESTORE_SOURCE,
    numbers: createNumbering(term),
    nowMs,
    endSeq,
    onUnknown: nothing,
    // Nothing else writes: what is not known is found out by a restore that begins anew.
    signal: AbortSignal.abort(),
  })
  await writer.append(commands.map((command) => ({ command })))
}

const nothing = (): void => undefined
