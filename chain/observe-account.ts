import type { AccountObservation } from '../core/account.js'
import type { Address } from '../core/action.js'
import type { Market } from '../core/market.js'
import { amountE18, quoteE18 } from '../core/money.js'
import { matchingAbi } from './abi/matching.js'
import { subAccountsAbi } from './abi/sub-accounts.js'
import type { ChainClient } from './client.js'
import type { Deployment } from './deployment.js'
import { revertOf } from './revert-name.js'

/** The assets that a spot market moves. */
export type MarketAssets = Pick<Market, 'assetAddress' | 'subId' | 'quoteAssetAddress'>

/** A block by its number and time, unix seconds. */
export interface BlockPlace {
  readonly number: bigint
  readonly timestamp: bigint
}

export interface Observing {
  /** A client that batches: the questions about one account, and about several, travel together. */
  readonly client: ChainClient
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  readonly assets: MarketAssets
}

const NOBODY = `0x${'0'.repeat(40)}`

/** What the subaccount has, and whose it is, at one block; rejects when the node does not tell all of it. */
export async function observeAccount(
  { client, deployment, assets }: Observing,
  subaccountId: bigint,
  block: BlockPlace,
): Promise<AccountObservation> {
  const at = { blockNumber: block.number } as const
  const matching = { ...at, address: deployment.matching, abi: matchingAbi } as const
  const accounts = { ...at, address: deployment.subAccounts, abi: subAccountsAbi } as const
  const balanceOf = (asset: Address, subId: bigint) =>
    client.readContract({
      ...accounts,
      functionName: 'getBalance',
      args: [subaccountId, asset, subId],
    })
  const args = [subaccountId] as const
  const [base, quote, owner, requestedAt, holder] = await Promise.all([
    balanceOf(assets.assetAddress, assets.subId),
    balanceOf(assets.quoteAssetAddress, 0n),
    client.readContract({ ...matching, functionName: 'subAccountToOwner', args }),
    client.readContract({ ...matching, functionName: 'withdrawTimestamp', args }),
    client.readContract({ ...accounts, functionName: 'ownerOf', args }).catch(nobodyOnRevert),
  ])
  const isHeld = holder?.toLowerCase() === deployment.matching.toLowerCase() && owner !== NOBODY
  return {
    subaccountId,
    base: amountE18(base),
    quote: quoteE18(quote),
    ...(isHeld && { custodyOwner: owner.toLowerCase() as Address }),
    leaving: requestedAt !== 0n,
    blockNumber: block.number,
    blockTimeSec: Number(block.timestamp),
  }
}

/** The holder of an account that does not exist is asked for in vain: the chain reverts, which is an answer. */
function nobodyOnRevert(error: unknown): undefined {
  if (revertOf(error) === undefined) throw error
}
