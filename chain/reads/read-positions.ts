import { encodeEventTopics, encodePacked, parseEventLogs } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { subAccountsAbi, tradeModuleAbi } from '../abi/contracts.js'
import type { PinnedBlock } from './blocks.js'
import { orUnreachable, type ChainClient } from './client.js'
import { logSpans, readLogs } from './logs.js'
import type { BlockRange } from './read-trades.js'

/** An asset in the accounts of a trade module. */
export interface PositionAsset {
  readonly subAccounts: Address
  readonly asset: Address
  readonly subId: bigint
}

/** The accounts contract of a trade module. Rejects with ChainUnreachable. */
export const readSubAccounts = (client: ChainClient, module: Address): Promise<Address> =>
  orUnreachable(
    'the accounts of a trade module',
    client.readContract({ address: module, abi: tradeModuleAbi, functionName: 'subAccounts' }),
  )

/** The balance of each account at the block, by position, signed at 1e18. Rejects with ChainUnreachable. */
export function readBalances(
  client: ChainClient,
  { subAccounts, asset, subId }: PositionAsset,
  { block, accounts }: { readonly block: PinnedBlock; readonly accounts: readonly bigint[] },
): Promise<bigint[]> {
  const asked = accounts.map((account) =>
    client.readContract({
      address: subAccounts,
      abi: subAccountsAbi,
      functionName: 'getBalance',
      args: [account, asset, subId],
      blockNumber: block.number,
    }),
  )
  return orUnreachable('positions', Promise.all(asked))
}

/** By how much one transaction has moved an account's balance of the asset. */
export interface AssetMove {
  readonly account: bigint
  readonly txHash: Hex
  readonly amount: bigint
}

/**
 * The moves of these accounts in these blocks, both ends included, in the chain's order and in several parts; one move
 * for each account and transaction. Rejects with ChainUnreachable.
 */
export async function* readMoves(
  client: ChainClient,
  { subAccounts, asset, subId }: PositionAsset,
  { accounts, from, to }: BlockRange & { readonly accounts: readonly bigint[] },
): AsyncGenerator<readonly AssetMove[]> {
  const assetAndSubId = encodePacked(['address', 'uint96'], [asset, subId])
  const topics = encodeEventTopics({
    abi: subAccountsAbi,
    eventName: 'BalanceAdjusted',
    args: { accountId: [...accounts], assetAndSubId },
  })
  for (const span of logSpans({ first: from, last: to })) {
    const read = readLogs(client, { address: subAccounts, topics }, span)
    const logs = parseEventLogs({
      abi: subAccountsAbi,
      eventName: 'BalanceAdjusted',
      logs: [...(await orUnreachable('moves of positions', read))],
    })
    const moves = new Map<string, AssetMove>()
    for (const { args, transactionHash: txHash } of logs) {
      const { accountId: account } = args
      const key = `${account} ${txHash}`
      const amount = args.amount + (moves.get(key)?.amount ?? 0n)
      moves.set(key, { account, txHash, amount })
    }
    yield [...moves.values()]
  }
}

/** The addresses, in lower case, that logged in a transaction. Rejects with ChainUnreachable. */
export async function readLoggers(client: ChainClient, hash: Hex): Promise<Set<Address>> {
  const { logs } = await orUnreachable(
    `the receipt of ${hash}`,
    client.getTransactionReceipt({ hash }),
  )
  return new Set(logs.map(({ address }) => address.toLowerCase() as Address))
}
