import { parseEventLogs, type RpcTransactionReceipt } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { amountE18, tokenUnits6, type AmountE18, type TokenUnits6 } from '../../core/money.js'
import { cashAssetAbi, depositModuleAbi, erc20Abi, matchingAbi } from '../abi/contracts.js'
import { eventsOf, hexOf, quantityOf } from './answer-form.js'
import { orUnreachable, type ChainClient } from './client.js'

/** The funds of an owner's wallet, in the token's units. */
interface WalletFacts {
  readonly balance: TokenUnits6
  /** How much the spender may take. */
  readonly allowance: TokenUnits6
}

/** Facts at the newest block. Each rejects with ChainUnreachable: a transfer is not attempted without them. */
export interface TransferReader {
  /** Whether the owner has spent the nonce with the deposit or withdrawal module at `module`. */
  nonceUsed(module: Address, owner: Address, nonce: bigint): Promise<boolean>
  wallet(token: Address, owner: Address, spender: Address): Promise<WalletFacts>
  allowance(token: Address, owner: Address, spender: Address): Promise<TokenUnits6>
  /** Unix seconds of the newest block. */
  blockTimeSec(): Promise<bigint>
}

/** Reads through a `read` client, without a cache. */
export function createTransferReader(client: ChainClient): TransferReader {
  const allowance = async (token: Address, owner: Address, spender: Address) =>
    tokenUnits6(
      await orUnreachable(
        'allowance',
        client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: 'allowance',
          args: [owner, spender],
        }),
      ),
    )
  const balance = async (token: Address, owner: Address) =>
    tokenUnits6(
      await orUnreachable(
        'balance of the wallet',
        client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: 'balanceOf',
          args: [owner],
        }),
      ),
    )
  return {
    allowance,
    nonceUsed: (module, owner, nonce) =>
      orUnreachable(
        'nonce of the action',
        // Deposit and withdrawal module have the same function.
        client.readContract({
          address: module,
          abi: depositModuleAbi,
          functionName: 'usedNonces',
          args: [owner, nonce],
        }),
      ),
    async wallet(token, owner, spender) {
      const [held, allowed] = await Promise.all([
        balance(token, owner),
        allowance(token, owner, spender),
      ])
      return { balance: held, allowance: allowed }
    },
    async blockTimeSec() {
      const block = await orUnreachable('newest block', client.getBlock({ blockTag: 'latest' }))
      return block.timestamp
    },
  }
}

/** Facts from the receipt of a mined transfer or permit, besides its outcome. */
export interface TransferReceipt {
  readonly blockHash: Hex
  /** The cost of the transaction in wei, with the fee of a rollup for its layer 1. */
  readonly costWei: bigint
  /** The account that Matching recorded for its owner in this transaction; undefined when it opened none. */
  readonly openedAccountId?: bigint
  /** What the first deposit into the asset credited in this transaction; undefined when there was none. */
  readonly credited?: AmountE18
}

/** The contracts whose events in a receipt count. */
interface ReceiptSources {
  readonly matching: Address
  /** Absent when nothing is deposited. */
  readonly asset?: Address
}

/** A field that rollups add to a receipt. */
interface RollupFee {
  readonly l1Fee?: Hex | null
}

/**
 * Reads the canonical receipt of a transaction; undefined while the chain has none. An opened account counts only when
 * `matching` itself says so, a credit when the asset does. Rejects with ChainUnreachable.
 */
export async function readTransferReceipt(
  client: ChainClient,
  sources: ReceiptSources,
  hash: Hex,
): Promise<TransferReceipt | undefined> {
  const asked = client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  return orUnreachable(
    'receipt',
    asked.then((receipt) => (receipt === null ? undefined : factsOf(receipt, sources))),
  )
}

/** Throws OddAnswer for what is not a receipt. */
function factsOf(
  receipt: RpcTransactionReceipt,
  { matching, asset }: ReceiptSources,
): TransferReceipt {
  const { l1Fee } = receipt as RollupFee
  const gasUsed = quantityOf(receipt.gasUsed, 'the gas of a receipt')
  const execution = gasUsed * quantityOf(receipt.effectiveGasPrice, 'the gas price of a receipt')
  const logs = eventsOf(receipt.logs)
  const logsOf = (source: Address | undefined) =>
    logs.filter(({ address }) => address.toLowerCase() === source)
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
    blockHash: hexOf(receipt.blockHash, 'the block of a receipt'),
    costWei: execution + quantityOf(l1Fee ?? '0x0', 'the fee of the layer below'),
    ...(opened !== undefined && { openedAccountId: opened.args.accountId }),
    ...(deposited !== undefined && { credited: amountE18(deposited.args.amountAssetMinted) }),
  }
}

/** How many permits on a token the owner has used, at the newest block; rejects with ChainUnreachable. */
export type PermitNonceReader = (owner: Address) => Promise<bigint>

export const createPermitNonceReader =
  (client: ChainClient, token: Address): PermitNonceReader =>
  (owner) =>
    orUnreachable(
      'nonce of permits',
      client.readContract({ address: token, abi: erc20Abi, functionName: 'nonces', args: [owner] }),
    )
