import { parseEventLogs } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { amountE18 } from '../core/money.js'
import type { AmountE18 } from '../core/money.js'
import { cashAssetAbi } from './abi/cash-asset.js'
import { matchingAbi } from './abi/matching.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** What the receipt of a mined transfer or permit says beyond its outcome. */
export interface TransferReceipt {
  readonly blockHash: Hex
  /** What the transaction cost its sender, in wei, with what a rollup charges for the chain below it. */
  readonly costWei: bigint
  /** The account that Matching recorded for its owner in this transaction; undefined when it opened none. */
  readonly openedAccountId?: bigint
  /** What the first deposit into the asset credited in this transaction; undefined when there was none. */
  readonly credited?: AmountE18
}

/** Whose words in a receipt count. */
export interface ReceiptSources {
  readonly matching: Address
  /** Absent when nothing is deposited. */
  readonly asset?: Address
}

/** What a rollup adds to a receipt. */
interface RollupFee {
  readonly l1Fee?: Hex | null
}

/**
 * Reads the canonical receipt of a transaction; undefined while the chain has none. An opened account counts only when
 * `matching` itself says so, a credit when the asset does. Rejects with ChainUnreachable.
 */
export async function readTransferReceipt(
  client: ChainClient,
  { matching, asset }: ReceiptSources,
  hash: Hex,
): Promise<TransferReceipt | undefined> {
  const asked = client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  const receipt = await orUnreachable('receipt', asked)
  if (receipt === null) return undefined
  const { l1Fee } = receipt as RollupFee
  const execution = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
  const logsOf = (source: Address | undefined) =>
    receipt.logs.filter(({ address }) => address.toLowerCase() === source)
  const [opened] = parseEventLogs({
    abi: matchingAbi,
    eventName: 'DepositedSubAccount',
    logs: logsOf(matching),
  })
  const [deposited] = parseEventLogs({
    abi: cashAssetAbi,
    eventName: 'Deposit',
    logs: logsOf(asset),
  })
  return {
    blockHash: receipt.blockHash,
    costWei: execution + BigInt(l1Fee ?? '0x0'),
    ...(opened !== undefined && { openedAccountId: opened.args.accountId }),
    ...(deposited !== undefined && { credited: amountE18(deposited.args.amountAssetMinted) }),
  }
}
