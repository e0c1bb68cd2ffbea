import { numberToHex } from 'viem'
import type { Address, Hex } from '../core/action.js'
import type { ChainClient } from './client.js'
import type { Receipt, ReceiptLog } from './read-receipt.js'
import type { OpenTransaction } from './transaction-journal.js'

/** An event of a contract that a transaction leaves once for each of its intents when it goes through. */
export interface EventPerIntent {
  /** Of the contract that is called; in lower case. */
  readonly address: Address
  readonly topic: Hex
}

/** Heights of blocks, both included. */
export interface Span {
  readonly from: bigint
  readonly to: bigint
}

/** By nonce. */
export type EventReceipts = ReadonlyMap<number, Receipt>

export interface EventQuestion {
  readonly span: Span
  /** What is known to be mined, not necessarily there. */
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
 * Receipts made of these events alone, one question for all: a receipt has every event of every contract, many times
 * as much. Only a transaction of ours that has all of its events is answered, so one that reverted never is; neither is
 * any when the node does not answer. Logs that the chain has lost name a block that it does not have.
 */
export async function readEventReceipts(
  client: ChainClient,
  { span, mined, event }: EventQuestion,
): Promise<EventReceipts> {
  const [fromBlock, toBlock] = [numberToHex(span.from), numberToHex(span.to)]
  const filter = { address: event.address, topics: [event.topic], fromBlock, toBlock }
  const logs: readonly EventLog[] = await client
    .request({ method: 'eth_getLogs', params: [filter] })
    // Receipts tell the same, and whether the node answers at all.
    .catch(() => [])
  const byHash = byTransaction(logs.filter((log) => isOf(event, log)))
  const receipts = new Map<number, Receipt>()
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

function receiptOf(hash: Hex, logs: readonly EventLog[], to: Address): Receipt | undefined {
  const [first] = logs
  if (!first?.blockHash || !first.blockNumber) return undefined
  const { blockHash } = first
  if (logs.some((log) => log.removed === true || log.blockHash !== blockHash)) return undefined
  const events = logs.map(({ address, topics, data }) => ({ address, topics, data }))
  return {
    ...{ status: 'success', hash, to, blockHash, logs: events },
    blockNumber: BigInt(first.blockNumber),
  }
}
