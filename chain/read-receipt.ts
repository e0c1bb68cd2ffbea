import type { Address, Hex } from '../core/action.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import type { Inclusion, OpenTransaction } from './transaction-journal.js'

/** An event that a mined transaction left. */
export interface ReceiptLog {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
}

export interface Receipt extends Inclusion {
  readonly status: 'success' | 'reverted'
  /** What was called; null for a creation. */
  readonly to: Address | null
  readonly logs: readonly ReceiptLog[]
}

/**
 * The receipt of any form of the transaction that was ever signed; undefined while there is none. Only our own hashes
 * are asked about, never the nonce: somebody else's receipt is not an answer. Rejects with ChainUnreachable.
 */
export async function readReceipt(
  client: ChainClient,
  { attempts }: OpenTransaction,
): Promise<Receipt | undefined> {
  const receipts = await orUnreachable(
    'receipt',
    Promise.all(attempts.map(({ hash }) => fetchReceipt(client, hash))),
  )
  return receipts.find((receipt) => receipt !== undefined)
}

async function fetchReceipt(client: ChainClient, hash: Hex): Promise<Receipt | undefined> {
  const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (receipt === null) return undefined
  return {
    status: receipt.status === '0x1' ? 'success' : 'reverted',
    hash,
    blockNumber: BigInt(receipt.blockNumber),
    blockHash: receipt.blockHash,
    to: receipt.to,
    logs: receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
  }
}
