import { parseAbi, type Address, type PublicClient } from 'viem'
import type { MarketEntry } from '../interface/market.js'

/**
 * Positions in dated futures are read on the chain: `GET /v1/positions` does not serve them. Both functions read the newest
 * block, or the one that the caller's client is bound to, and reject with the client's error when the node does not answer.
 */

const positionAbi = parseAbi([
  'function getBalance(uint256 accountId, address asset, uint256 subId) view returns (int256 balance)',
  'function getMargin(uint256 accountId, bool isInitial) view returns (int256 margin)',
])

/** A viem client, or anything else that reads contracts as it does. */
export type ContractReader = Pick<PublicClient, 'readContract'>

/** An account in a futures market, by the market's entry. */
export interface FutureAccount {
  readonly market: Pick<MarketEntry, 'asset_address' | 'sub_id' | 'margin_manager_address'>
  readonly subaccountId: bigint
}

/**
 * The account's position in the market, signed contracts at 18 decimals: positive is long. A contract is 1,000 USDC.
 * `subAccounts` is the subaccounts contract of the deployment.
 */
export const readFuturePosition = (
  reader: ContractReader,
  { market, subaccountId }: FutureAccount,
  subAccounts: Address,
): Promise<bigint> =>
  reader.readContract({
    address: subAccounts,
    abi: positionAbi,
    functionName: 'getBalance',
    args: [subaccountId, market.asset_address as Address, BigInt(market.sub_id)],
  })

/**
 * The account's surplus over initial or maintenance margin, of all its positions together, in USD at 18 decimals. Negative
 * below the margin. Rejects while the index is stale, unless the account has neither cNGN nor variation margin.
 */
export const readFutureMargin = (
  reader: ContractReader,
  { market, subaccountId }: FutureAccount,
  kind: 'initial' | 'maintenance',
): Promise<bigint> =>
  reader.readContract({
    address: market.margin_manager_address as Address,
    abi: positionAbi,
    functionName: 'getMargin',
    args: [subaccountId, kind === 'initial'],
  })
