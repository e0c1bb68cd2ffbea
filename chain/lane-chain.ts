import { BlockNotFoundError } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { exactNumber } from '../core/decimal.js'
import { orUnreachable, unreachable } from './chain-unreachable.js'
import { createChainClient } from './client.js'
import type { ChainClient } from './client.js'
import { explainRevert } from './explain-revert.js'
import { findConsumer } from './find-consumer.js'
import { createGasReader } from './read-gas.js'
import type { GasReader } from './read-gas.js'
import { readEventReceipts } from './read-event-receipts.js'
import type { EventPerIntent, EventReceipts, Span } from './read-event-receipts.js'
import { readReceipt } from './read-receipt.js'
import type { Receipt } from './read-receipt.js'
import { sendTransaction } from './send-transaction.js'
import type { Broadcast } from './send-transaction.js'
import type { Inclusion, OpenTransaction } from './transaction-journal.js'

export interface ChainHead {
  readonly number: bigint
  readonly hash: Hex
}

/** What a lane asks of the chain about its key. Each rejects with ChainUnreachable unless it says otherwise. */
export interface LaneChain {
  readonly head: () => Promise<ChainHead>
  /** Nonces that the key had used at the end of that block, whatever block is the newest. */
  readonly countAt: (blockHash: Hex) => Promise<number>
  /** Undefined when the chain has no block of that height. */
  readonly blockHash: (height: bigint) => Promise<Hex | undefined>
  /** Height of the newest block that the chain itself calls final. */
  readonly finalized: () => Promise<bigint>
  readonly receipt: (transaction: OpenTransaction) => Promise<Receipt | undefined>
  /**
   * Receipts, by nonce, of those that are known to be mined in the blocks from one height to another; may lack any of
   * them, which is then to be asked for by itself. Never rejects.
   */
  readonly receiptsIn: (span: Span, mined: readonly OpenTransaction[]) => Promise<EventReceipts>
  /** Name of the revert of a mined transaction; never rejects. */
  readonly revertOf: (receipt: Receipt) => Promise<string>
  /** Whether the node holds the transaction, mined or not. */
  readonly isHeld: (hash: Hex) => Promise<boolean>
  /** The transaction that used the nonce, found in the blocks up to the height. */
  readonly consumerOf: (evmNonce: number, head: bigint) => Promise<Inclusion | undefined>
  readonly gas: GasReader
  /** Sends the newest signed bytes; never rejects. */
  readonly send: (transaction: OpenTransaction) => Promise<Broadcast>
}

/** The chain behind an address, for one key. `eventPerIntent` as a lane is told. */
export function connectLane(
  rpcUrl: string,
  address: Address,
  eventPerIntent?: EventPerIntent,
): LaneChain {
  const read = createChainClient(rpcUrl, 'read')
  const submit = createChainClient(rpcUrl, 'submit')
  // A batch leaves a receipt of hundreds of kilobytes: many of those in one answer are more than a client takes.
  const long = createChainClient(rpcUrl, 'long')
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
    revertOf: ({ hash, blockNumber }) => explainRevert(read, hash, blockNumber),
    isHeld: (hash) => orUnreachable('transaction', fetchIsHeld(read, hash)),
    consumerOf: (evmNonce, head) => findConsumer(read, { from: address, evmNonce, head }),
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

/** By hash, so that a node which does not know the block says so instead of counting at another. */
async function fetchCount(client: ChainClient, address: Address, blockHash: Hex): Promise<number> {
  const count = await client.request({
    method: 'eth_getTransactionCount',
    params: [address, { blockHash }],
  })
  return exactNumber(BigInt(count))
}

async function fetchIsHeld(client: ChainClient, hash: Hex): Promise<boolean> {
  return (await client.request({ method: 'eth_getTransactionByHash', params: [hash] })) !== null
}
