import type { Address, Hex } from '../core/action.js'
import { subAccountsAbi } from './abi/sub-accounts.js'
import { tradeModuleAbi } from './abi/trade-module.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** A block that questions are asked about. */
export interface PinnedBlock {
  readonly number: bigint
  readonly hash: Hex
}

/** The newest block. Rejects with ChainUnreachable. */
export async function readNewestBlock(client: ChainClient): Promise<PinnedBlock> {
  const { number, hash } = await orUnreachable('newest block', client.getBlock())
  return { number, hash }
}

/** Whether the chain still holds the block. Rejects with ChainUnreachable. */
export async function holdsBlock(client: ChainClient, block: PinnedBlock): Promise<boolean> {
  const asked = client.getBlock({ blockNumber: block.number })
  const { hash } = await orUnreachable('a block again', asked)
  return hash === block.hash
}

/** An order as the trade module counts it. */
export interface CountedOrder {
  readonly owner: Address
  readonly nonce: bigint
}

/** What the module counts as filled of each order as of the block, 1e18. Rejects with ChainUnreachable. */
export function readFilled(
  client: ChainClient,
  { module, block }: { readonly module: Address; readonly block: PinnedBlock },
  orders: readonly CountedOrder[],
): Promise<bigint[]> {
  const asked = orders.map(({ owner, nonce }) =>
    client.readContract({
      address: module,
      abi: tradeModuleAbi,
      functionName: 'filled',
      args: [owner, nonce],
      blockNumber: block.number,
    }),
  )
  return orUnreachable('filled amounts', Promise.all(asked))
}

/** What the module's fee account holds of the quote asset as of the block, 1e18. Rejects with ChainUnreachable. */
export async function readFeeBalance(
  client: ChainClient,
  { module, block }: { readonly module: Address; readonly block: PinnedBlock },
): Promise<bigint> {
  const at = { blockNumber: block.number } as const
  const ask = { address: module, abi: tradeModuleAbi, ...at } as const
  const [account, asset, subAccounts] = await orUnreachable(
    'the fee account',
    Promise.all([
      client.readContract({ ...ask, functionName: 'feeRecipient' }),
      client.readContract({ ...ask, functionName: 'quoteAsset' }),
      client.readContract({ ...ask, functionName: 'subAccounts' }),
    ]),
  )
  const balance = client.readContract({
    address: subAccounts,
    abi: subAccountsAbi,
    functionName: 'getBalance',
    args: [account, asset, 0n],
    ...at,
  })
  return orUnreachable('the fee account’s balance', balance)
}
