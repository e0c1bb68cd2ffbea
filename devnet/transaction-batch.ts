import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  getContractAddress,
  http,
} from 'viem'
import type { Chain, TransactionReceipt } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../core/action.js'

const POLL_MS = 50
const MINE_AGAIN_MS = 1_000
const RECEIPT_TIMEOUT_MS = 60_000
const MAX_FEE_PER_GAS = 10n ** 10n

/** Where transactions of one key go. */
export interface SenderOptions {
  readonly rpcUrl: string
  readonly privateKey: Hex
  /** The chain is an anvil: mine at once instead of waiting for its block time. */
  readonly mineNow?: boolean
}

/** One transaction; without `to` it creates a contract. */
export interface Call {
  readonly to?: Address
  readonly data?: Hex
  readonly value?: bigint
  /** Limit, stated because it cannot be estimated while earlier transactions are still unmined. */
  readonly gas: bigint
}

/** Broadcasts transactions under its own consecutive nonces and waits for all of them together. */
export interface TransactionBatch {
  readonly sender: Address
  readonly chainId: number
  /** Broadcasts and returns at once with the address of the contract the call creates, if it creates one. */
  send(call: Call): Promise<Address>
  /** Receipts of all calls since the last flush, in order; throws BatchError if one reverted or never arrived. */
  flush(): Promise<readonly TransactionReceipt[]>
}

/** A transaction of a batch reverted, or had no receipt in time. */
export class BatchError extends Error {
  override readonly name = 'BatchError'
}

/** A batch for one key; nobody else may send with this key meanwhile. Throws when the chain cannot be reached. */
export async function createBatch(options: SenderOptions): Promise<TransactionBatch> {
  const transport = http(options.rpcUrl)
  const reader = createPublicClient({ transport })
  const account = privateKeyToAccount(options.privateKey)
  const chainId = await reader.getChainId()
  const chain = plainChain(chainId, options.rpcUrl)
  const wallet = createWalletClient({ account, chain, transport })
  let nonce = await reader.getTransactionCount({ address: account.address, blockTag: 'pending' })
  let pending: Hex[] = []

  async function send(call: Call): Promise<Address> {
    const creates = getContractAddress({ from: account.address, nonce: BigInt(nonce) })
    const fees = { maxFeePerGas: MAX_FEE_PER_GAS, maxPriorityFeePerGas: 1n }
    const hash = await wallet.sendTransaction({
      ...call,
      ...fees,
      nonce,
      chain,
      account,
      type: 'eip1559',
    })
    nonce += 1
    pending.push(hash)
    return creates.toLowerCase() as Address
  }

  const mine = () => createTestClient({ mode: 'anvil', transport, chain }).mine({ blocks: 1 })

  async function flush(): Promise<readonly TransactionReceipt[]> {
    if (options.mineNow === true) await mine()
    const receipts: TransactionReceipt[] = []
    for (const hash of pending) receipts.push(await receiptOf(hash))
    pending = []
    return receipts
  }

  async function receiptOf(hash: Hex): Promise<TransactionReceipt> {
    // A block asked for in the moment of a transaction's arrival may be made without it.
    const again = options.mineNow === true ? mine : () => Promise.resolve()
    const receipt = await pollReceipt(() => reader.getTransactionReceipt({ hash }), again)
    if (receipt === undefined) throw new BatchError(`no receipt of ${hash}`)
    if (receipt.status !== 'success') throw new BatchError(`${hash} reverted`)
    return receipt
  }

  return { sender: account.address.toLowerCase() as Address, chainId, send, flush }
}

/** Polls by itself: the library's own wait hangs after a chain was set back to a snapshot. */
async function pollReceipt(
  read: () => Promise<TransactionReceipt>,
  mine: () => Promise<void>,
): Promise<TransactionReceipt | undefined> {
  const deadline = Date.now() + RECEIPT_TIMEOUT_MS
  let mineAt = Date.now() + MINE_AGAIN_MS
  while (Date.now() < deadline) {
    try {
      return await read()
    } catch (error) {
      if ((error as Error).name !== 'TransactionReceiptNotFoundError') throw error
    }
    if (Date.now() >= mineAt) {
      await mine()
      mineAt = Date.now() + MINE_AGAIN_MS
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return undefined
}

function plainChain(id: number, rpcUrl: string): Chain {
  return defineChain({
    id,
    name: 'development chain',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
}
