import {
  BaseError,
  createPublicClient,
  createTestClient,
  getContractAddress,
  http,
  type TransactionReceipt,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'

const POLL_MS = 50
const REQUESTS_TOGETHER = 100
const AGAIN_MS = 1_000
const RECEIPT_TIMEOUT_MS = 180_000
const MAX_FEE_PER_GAS = 10n ** 10n

/** The key and the chain of a batch of transactions. */
export interface BatchSenderOptions {
  readonly rpcUrl: string
  readonly privateKey: Hex
  /** The chain is anvil: mine at once instead of waiting for its block time. */
  readonly mineNow?: boolean
  /** How long a flush waits for each receipt; a minute by default. */
  readonly receiptWithinMs?: number
}

/** One transaction; without `to` it creates a contract. */
export interface BatchCall {
  readonly to?: Address
  readonly data?: Hex
  readonly value?: bigint
  /** Gas limit; it cannot be estimated while earlier transactions are unmined. */
  readonly gas: bigint
}

/** Broadcasts transactions with consecutive nonces and waits for all of them together. */
export interface TransactionBatch {
  readonly sender: Address
  readonly chainId: number
  /**
   * Broadcasts; resolves with the address of the contract that the call creates, if it creates one. With `mineNow` it does
   * not wait for the node's answer; else it throws the client's error if the node refuses.
   */
  send(call: BatchCall): Promise<Address>
  /** Time of the newest block. */
  newestBlockTimeSec(): Promise<bigint>
  /**
   * Receipts of all calls since the last flush, in order; what has none for a second is sent again, the same bytes.
   * Throws BatchError if one reverted or never arrived, and the client's error if the node refused one.
   */
  flush(): Promise<readonly TransactionReceipt[]>
}

/** A transaction of a batch reverted, or had no receipt in time. */
export class BatchError extends Error {
  override readonly name = 'BatchError'
}

/** Opens a batch for one key, which must have no other sender meanwhile. Throws when the chain cannot be reached. */
export async function createBatch(options: BatchSenderOptions): Promise<TransactionBatch> {
  const transport = http(options.rpcUrl, { batch: { batchSize: REQUESTS_TOGETHER } })
  const reader = createPublicClient({ transport })
  const account = privateKeyToAccount(options.privateKey)
  const chainId = await reader.getChainId()
  let nonce = await reader.getTransactionCount({ address: account.address, blockTag: 'pending' })
  let pending: { readonly raw: Hex; readonly sent: Promise<Hex> }[] = []

  async function send(call: BatchCall): Promise<Address> {
    const own = nonce
    nonce += 1
    const fees = { maxFeePerGas: MAX_FEE_PER_GAS, maxPriorityFeePerGas: 1n }
    const transaction = { ...call, ...fees, type: 'eip1559', chainId, nonce: own } as const
    const serializedTransaction = await account.signTransaction(transaction)
    const sent = reader.sendRawTransaction({ serializedTransaction })
    // A failure is thrown by flush.
    sent.catch(() => undefined)
    pending.push({ raw: serializedTransaction, sent })
    // A chain that mines by itself may leave out a transaction that arrives before the one with the nonce below.
    if (options.mineNow !== true) await sent
    const creates = getContractAddress({ from: account.address, nonce: BigInt(own) })
    return creates.toLowerCase() as Address
  }

  const mine = () => createTestClient({ mode: 'anvil', transport }).mine({ blocks: 1 })

  async function flush(): Promise<readonly TransactionReceipt[]> {
    const flushed = pending
    pending = []
    const hashes = await Promise.all(flushed.map(({ sent }) => sent))
    if (options.mineNow === true) await mine()
    return Promise.all(flushed.map(({ raw }, index) => receiptOf(hashes[index] ?? '0x', raw)))
  }

  async function receiptOf(hash: Hex, raw: Hex): Promise<TransactionReceipt> {
    /** A busy anvil may forget a transaction that it has taken, and mine a block without one that is arriving. */
    const again = async () => {
      await sendAgain(raw)
      if (options.mineNow === true) await mine()
    }
    const { receiptWithinMs = RECEIPT_TIMEOUT_MS } = options
    const read = () => reader.getTransactionReceipt({ hash })
    const receipt = await pollReceipt(read, again, receiptWithinMs)
    if (receipt === undefined) throw new BatchError(`no receipt of ${hash}`)
    if (receipt.status !== 'success') throw new BatchError(`${hash} reverted`)
    return receipt
  }

  async function sendAgain(serializedTransaction: Hex): Promise<void> {
    try {
      await reader.sendRawTransaction({ serializedTransaction })
    } catch (error) {
      // A node that has it, or has mined it, refuses it.
      if (!(error instanceof BaseError)) throw error
    }
  }

  const newestBlockTimeSec = async () => (await reader.getBlock()).timestamp

  const sender = account.address.toLowerCase() as Address
  return { sender, chainId, send, newestBlockTimeSec, flush }
}

/** Polls for the receipt: the library's own wait hangs after the chain was reverted to a snapshot. */
async function pollReceipt(
  read: () => Promise<TransactionReceipt>,
  again: () => Promise<void>,
  withinMs: number,
): Promise<TransactionReceipt | undefined> {
  const deadline = Date.now() + withinMs
  let againAt = Date.now() + AGAIN_MS
  while (Date.now() < deadline) {
    try {
      return await read()
    } catch (error) {
      if ((error as Error).name !== 'TransactionReceiptNotFoundError') throw error
    }
    if (Date.now() >= againAt) {
      await again()
      againAt = Date.now() + AGAIN_MS
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return undefined
}
