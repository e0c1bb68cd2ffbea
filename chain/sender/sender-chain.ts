import { BlockNotFoundError } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import { rpcErrorOf } from '../abi/errors.js'
import { hasMetRateLimit } from '../reads/rate-limit.js'
import { exactQuantityOf, isEvent, isHex, OddAnswer, quantityOf } from '../reads/answer-form.js'
import { createChainClient, orUnreachable, unreachable, type ChainClient } from '../reads/client.js'
import type { HangUp } from '../reads/hang-up.js'
import { readLogs } from '../reads/logs.js'
import { throwDefect } from '../reads/read-failure.js'
import { createGasReader, type GasReader } from './gas.js'
import { findConsumer, explainRevert, type Consumer } from './investigate.js'
import type { Inclusion, OpenTransaction } from '../../core/transaction-journal.js'

export interface HeadBlock {
  readonly number: bigint
  readonly hash: Hex
}

/** The calls of a sender for its key. Each rejects with ChainUnreachable, except where its comment differs. */
export interface SenderChain {
  readonly head: () => Promise<HeadBlock>
  /** How many nonces the key has used at the end of this block. */
  readonly countAt: (blockHash: Hex) => Promise<number>
  /** Undefined when the chain has no block of this height. */
  readonly blockHash: (height: bigint) => Promise<Hex | undefined>
  /** Height of the newest block that the node calls final. */
  readonly finalized: () => Promise<bigint>
  readonly receipt: (transaction: OpenTransaction) => Promise<MinedReceipt | undefined>
  /**
   * Receipts by nonce of mined transactions, as far as they are in the blocks of the span. May lack any of them; read
   * those with `receipt`. Rejects with a defect alone.
   */
  readonly receiptsIn: (
    span: ReceiptSpan,
    mined: readonly OpenTransaction[],
  ) => Promise<EventReceipts>
  /** Name of the revert of a mined transaction; rejects with ChainUnreachable only once it is hung up. */
  readonly revertOf: (receipt: MinedReceipt) => Promise<string>
  /** Whether the node holds the transaction, mined or not. */
  readonly isHeld: (hash: Hex) => Promise<boolean>
  /** The transaction that used the nonce, from the blocks up to the height. */
  readonly consumerOf: (evmNonce: number, head: bigint) => Promise<Consumer | undefined>
  readonly gas: GasReader
  /** Broadcasts the newest signed bytes; rejects with a defect alone. */
  readonly send: (transaction: OpenTransaction) => Promise<Broadcast>
}

interface Connection {
  readonly eventPerIntent?: EventPerIntent | undefined
  readonly hangUp?: HangUp | undefined
}

/** Connects a sender's key to a node, with the sender's options of these names. */
export function connectSender(
  rpcUrl: string,
  address: Address,
  { eventPerIntent, hangUp }: Connection = {},
): SenderChain {
  const read = createChainClient(rpcUrl, 'read', hangUp)
  const submit = createChainClient(rpcUrl, 'submit', hangUp)
  // The receipt of a batch has hundreds of kilobytes; a client does not accept many of them in one response. Whole blocks
  // are long too, and a trace runs the code of outsiders, which may be slow.
  const long = createChainClient(rpcUrl, 'long', hangUp)
  return {
    head: () => orUnreachable('newest block', fetchBlock(read, 'latest')),
    countAt: (blockHash) => orUnreachable('nonce', fetchCount(read, address, blockHash)),
    blockHash: (height) => fetchBlockHash(read, height),
    finalized: async () =>
      (await orUnreachable('final block', fetchBlock(read, 'finalized'))).number,
    receipt: (transaction) => readReceipt(long, transaction),
    receiptsIn: async (span, mined) =>
      eventPerIntent === undefined
        ? new Map()
        : readEventReceipts(long, { span, mined, event: eventPerIntent }),
    revertOf: ({ hash, blockNumber }) =>
      orUnreachable('revert of a transaction', explainRevert(long, hash, blockNumber)),
    isHeld: (hash) => orUnreachable('transaction', fetchIsHeld(read, hash)),
    consumerOf: (evmNonce, head) => findConsumer(long, { from: address, evmNonce, head }),
    gas: createGasReader(read, address),
    send: (transaction) => sendTransaction(submit, transaction),
  }
}

async function fetchBlock(client: ChainClient, blockTag: 'latest' | 'finalized') {
  const { number, hash } = await client.getBlock({ blockTag })
  return { number, hash }
}

async function fetchBlockHash(client: ChainClient, height: bigint): Promise<Hex | undefined> {
  try {
    return (await client.getBlock({ blockNumber: height })).hash
  } catch (error) {
    if (error instanceof BlockNotFoundError) return undefined
    throw unreachable('hash of a block', error)
  }
}

/** By hash: a node without the block then fails instead of counting at another block. */
async function fetchCount(client: ChainClient, address: Address, blockHash: Hex): Promise<number> {
  const count = await client.request({
    method: 'eth_getTransactionCount',
    params: [address, { blockHash }],
  })
  return exactQuantityOf(count, 'nonce')
}

async function fetchIsHeld(client: ChainClient, hash: Hex): Promise<boolean> {
  return (await client.request({ method: 'eth_getTransactionByHash', params: [hash] })) !== null
}

/**
 * The result of a broadcast. `taken`: the node has the transaction. `unclear`: everything else, refusals included,
 * because the bytes may have arrived before or be mined already. Only a receipt decides.
 */
export type Broadcast =
  { readonly kind: 'taken' } | { readonly kind: 'unclear'; readonly cause: Error }

const ALREADY_THERE = /already known|already imported|known transaction|already in (the )?pool/i

/** Broadcasts the newest signed bytes of a journaled transaction through a `submit` client; rejects with a defect alone. */
export async function sendTransaction(
  client: ChainClient,
  transaction: OpenTransaction,
): Promise<Broadcast> {
  const newest = transaction.attempts.at(-1)
  if (newest === undefined) return { kind: 'unclear', cause: new Error('nothing was signed') }
  try {
    const sending = client.request({ method: 'eth_sendRawTransaction', params: [newest.raw] })
    crash('sender.during_broadcast')
    await sending
    return { kind: 'taken' }
  } catch (error) {
    throwDefect(error)
    const refusal = rpcErrorOf(error)?.details
    if (refusal !== undefined && ALREADY_THERE.test(refusal)) return { kind: 'taken' }
    // viem's message would put the raw bytes into the log.
    const silence = hasMetRateLimit(error)
      ? 'the node limits how much it is asked'
      : 'no answer from the node'
    return { kind: 'unclear', cause: new Error(refusal ?? silence) }
  }
}

/** An event of a mined transaction. */
export interface ReceiptLog {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
}

export interface MinedReceipt extends Inclusion {
  readonly status: 'success' | 'reverted'
  /** The called contract; null for a creation. */
  readonly to: Address | null
  readonly logs: readonly ReceiptLog[]
}

/**
 * The receipt of whichever signed form of the transaction was mined; undefined while there is none. It is read by our
 * own hashes, never by nonce, where a foreign transaction could be found. Rejects with ChainUnreachable.
 */
export async function readReceipt(
  client: ChainClient,
  { attempts }: OpenTransaction,
): Promise<MinedReceipt | undefined> {
  const receipts = await orUnreachable(
    'receipt',
    Promise.all(attempts.map(({ hash }) => fetchReceipt(client, hash))),
  )
  return receipts.find((receipt) => receipt !== undefined)
}

async function fetchReceipt(client: ChainClient, hash: Hex): Promise<MinedReceipt | undefined> {
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (receipt === null) return undefined
  const { to, blockHash, logs } = receipt
  const isWhole = isHex(blockHash) && (to === null || isHex(to)) && Array.isArray(logs)
  if (!isWhole || !logs.every(isEvent)) throw new OddAnswer(`no receipt of ${hash}`)
  return {
    status: statusOf(receipt.status),
    blockNumber: quantityOf(receipt.blockNumber, 'the block of a receipt'),
    hash,
    blockHash,
    to,
    logs: logs.map(({ address, topics, data }) => ({ address, topics, data })),
  }
}

/** Throws for anything else: what counts as reverted may be sent again. */
function statusOf(status: unknown): MinedReceipt['status'] {
  if (status === '0x1') return 'success'
  if (status === '0x0') return 'reverted'
  throw new OddAnswer(`a receipt has the status ${String(status)}`)
}

/** An event that a successful transaction emits once for each of its intents. */
export interface EventPerIntent {
  /** The called contract, in lower case. */
  readonly address: Address
  readonly topic: Hex
}

/** A range of block heights, both included. */
export interface ReceiptSpan {
  readonly from: bigint
  readonly to: bigint
}

/** By nonce. */
export type EventReceipts = ReadonlyMap<number, MinedReceipt>

export interface EventQuestion {
  readonly span: ReceiptSpan
  /** Mined transactions, not necessarily in this span. */
  readonly mined: readonly OpenTransaction[]
  readonly event: EventPerIntent
}

interface EventLog extends ReceiptLog {
  readonly transactionHash: Hex | null
  readonly blockNumber: Hex | null
  readonly blockHash: Hex | null
  readonly removed?: boolean
}

/**
 * Receipts built from these events alone, by one call: full receipts have the events of all contracts, many times as
 * much data. A transaction is included only with all of its events, so never a reverted one; none is when the node does
 * not answer, or not with events. The caller compares block hashes, which finds events of lost blocks.
 */
export async function readEventReceipts(
  client: ChainClient,
  question: EventQuestion,
): Promise<EventReceipts> {
  const { span, event } = question
  const filter = { address: event.address, topics: [event.topic] }
  try {
    const logs = await readLogs(client, filter, { first: span.from, last: span.to })
    return receiptsOf(logs, question)
  } catch (error) {
    // The caller reads the receipts instead; those reads fail when the node does not answer.
    throwDefect(error)
    return new Map()
  }
}

function receiptsOf(logs: readonly EventLog[], { mined, event }: EventQuestion): EventReceipts {
  const byHash = byTransaction(logs.filter((log) => isOf(event, log)))
  const receipts = new Map<number, MinedReceipt>()
  for (const transaction of mined) {
    for (const { hash } of transaction.attempts) {
      const receipt = receiptOf(hash, byHash.get(hash) ?? [], event.address)
      if (receipt?.logs.length !== transaction.intentIds.length) continue
      receipts.set(transaction.evmNonce, receipt)
    }
  }
  return receipts
}

const isOf = ({ address, topic }: EventPerIntent, log: EventLog): boolean =>
  log.address.toLowerCase() === address && log.topics[0] === topic

function byTransaction(logs: readonly EventLog[]): Map<Hex | null, EventLog[]> {
  const byHash = new Map<Hex | null, EventLog[]>()
  for (const log of logs) {
    const known = byHash.get(log.transactionHash)
    if (known === undefined) byHash.set(log.transactionHash, [log])
    else known.push(log)
  }
  return byHash
}

function receiptOf(hash: Hex, logs: readonly EventLog[], to: Address): MinedReceipt | undefined {
  const [first] = logs
  if (!first?.blockHash || !first.blockNumber) return undefined
  const { blockHash } = first
  if (logs.some((log) => log.removed === true || log.blockHash !== blockHash)) return undefined
  const events = logs.map(({ address, topics, data }) => ({ address, topics, data }))
  return {
    status: 'success',
    hash,
    to,
    blockHash,
    logs: events,
    blockNumber: BigInt(first.blockNumber),
  }
}
