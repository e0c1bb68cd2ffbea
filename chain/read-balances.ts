import type { Address, Hex } from '../core/action.js'
import { subAccountsAbi } from './abi/sub-accounts.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** One asset of one subaccount. */
export interface BalanceId {
  readonly accountId: bigint
  readonly asset: Address
  readonly subId: bigint
}

/** Balances at 1e18 as a block shows them, by position; rejects with ChainUnreachable. */
export type ReadBalances = (blockHash: Hex, ids: readonly BalanceId[]) => Promise<bigint[]>

/** `client` is a `read` client, so that the questions travel together. */
export function createBalanceReader(client: ChainClient, subAccounts: Address): ReadBalances {
  return (blockHash, ids) => {
    const balances = ids.map(({ accountId, asset, subId }) =>
      client.readContract({
        address: subAccounts,
        abi: subAccountsAbi,
        functionName: 'getBalance',
        args: [accountId, asset, subId],
        blockHash,
      }),
    )
    return orUnreachable('balances', Promise.all(balances))
  }
}
