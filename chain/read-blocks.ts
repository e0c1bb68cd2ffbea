import { encodeEventTopics } from 'viem'
import type { RpcLog } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { matchingAbi } from './abi/matching.js'
import { subAccountsAbi } from './abi/sub-accounts.js'
import { tradeModuleAbi } from './abi/trade-module.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import type { Deployment } from './deployment.js'
import type { BlockPlace, MarketAssets } from './observe-account.js'

/** A block and the one that it follows. */
export interface ChainHead extends BlockPlace {
  readonly hash: Hex
  readonly parentHash: Hex
}

/** An account that a block changed, and the transaction that did it. */
export interface Touch {
  readonly subaccountId: bigint
  readonly txHash: Hex
  /** The transaction settled a match, which is reported by other ways too. */
  readonly byTrade: boolean
}

/** Most blocks of one question about events. */
export const MAX_LOG_BLOCKS = 500n

/** The newest block as the node tells it. Throws ChainUnreachable. */
export async function readHead(client: ChainClient): Promise<ChainHead> {
  const { number, hash, parentHash, timestamp } = await orUnreachable(
    'newest block',
    client.getBlock({ blockTag: 'latest' }),
  )
  return { number, hash, parentHash, timestamp }
}

/** The hash of the canonical block with this number. Throws ChainUnreachable, also when the node has no such block. */
export async function readBlockHash(client: ChainClient, number: bigint): Promise<Hex> {
  const { hash } = await orUnreachable(`block ${number}`, client.getBlock({ blockNumber: number }))
  return hash
}

export interface TouchReader {
  readonly client: ChainClient
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  readonly markets: readonly (MarketAssets & { readonly tradeModuleAddress: Address })[]
}

const topicOf = (topics: readonly (Hex | readonly Hex[] | null)[]): Hex => topics[0] as Hex
const BALANCE_ADJUSTED = topicOf(
  encodeEventTopics({ abi: subAccountsAbi, eventName: 'BalanceAdjusted' }),
)
const ORDER_MATCHED = topicOf(encodeEventTopics({ abi: tradeModuleAbi, eventName: 'OrderMatched' }))
const CUSTODY = (['DepositedSubAccount', 'WithdrawAccountCooldown', 'WithdrewSubAccount'] as const)
  .map((eventName) => encodeEventTopics({ abi: matchingAbi, eventName }))
  .map(topicOf)

/**
 * Which accounts the blocks from `first` to `last` changed in a market's assets or in their custody; at most
 * MAX_LOG_BLOCKS blocks. Throws ChainUnreachable.
 */
export async function readTouches(
  { client, deployment, markets }: TouchReader,
  first: bigint,
  last: bigint,
): Promise<Touch[]> {
  const modules = markets.map(({ tradeModuleAddress }) => tradeModuleAddress)
  const logs = await orUnreachable(
    `events of blocks ${first} to ${last}`,
    client.request({
      method: 'eth_getLogs',
      params: [
        {
          address: [deployment.subAccounts, deployment.matching, ...modules],
          topics: [[BALANCE_ADJUSTED, ORDER_MATCHED, ...CUSTODY]],
          fromBlock: `0x${first.toString(16)}`,
          toBlock: `0x${last.toString(16)}`,
        },
      ],
    }),
  )
  const assets = new Set(markets.flatMap(assetWords))
  const trades = new Set(
    logs.filter(({ topics }) => topics[0] === ORDER_MATCHED).map((log) => log.transactionHash),
  )
  return logs
    .filter((log) => concernsAnAccount(log, assets))
    .map(({ topics, transactionHash }) => ({
      subaccountId: BigInt(topics[1] as Hex),
      txHash: transactionHash as Hex,
      byTrade: trades.has(transactionHash),
    }))
}

/** As BalanceAdjusted names an asset: its address in the high bytes, its sub id in the low ones. */
function assetWords({ assetAddress, subId, quoteAssetAddress }: MarketAssets): string[] {
  const word = (asset: Address, id: bigint) =>
    `${asset.toLowerCase()}${id.toString(16).padStart(24, '0')}`
  return [word(assetAddress, subId), word(quoteAssetAddress, 0n)]
}

function concernsAnAccount(
  { topics }: Pick<RpcLog, 'topics'>,
  assets: ReadonlySet<string>,
): boolean {
  const [event, account, , asset] = topics
  if (event === undefined || account === undefined) return false
  if (event === BALANCE_ADJUSTED) return assets.has((asset ?? '').toLowerCase())
  return CUSTODY.includes(event)
}
