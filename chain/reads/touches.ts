import { encodeEventTopics, type RpcLog } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import {
  futureTradeModuleAbi,
  matchingAbi,
  subAccountsAbi,
  tradeModuleAbi,
} from '../abi/contracts.js'
import type { AccountEvents } from '../contracts/chain-contract.js'
import { orUnreachable, type ChainClient } from './client.js'
import type { Deployment } from './deployment.js'
import { readLogs } from './logs.js'

/** An account that a transaction changed. */
export interface Touch {
  readonly subaccountId: bigint
  readonly txHash: Hex
  /** The trade modules that settled matches in the transaction; the fills are in the feeds of their markets too. */
  readonly tradedBy: readonly Address[]
}

export interface TouchReader {
  readonly client: ChainClient
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  readonly markets: readonly Market[]
}

const topicOf = (topics: readonly (Hex | readonly Hex[] | null)[]): Hex => topics[0] as Hex

const BALANCE_ADJUSTED = topicOf(
  encodeEventTopics({ abi: subAccountsAbi, eventName: 'BalanceAdjusted' }),
)

/** A fill as the event of a trade module has it. */
const MATCHED = [
  encodeEventTopics({ abi: tradeModuleAbi, eventName: 'OrderMatched' }),
  encodeEventTopics({ abi: futureTradeModuleAbi, eventName: 'FutureMatched' }),
].map(topicOf)

const CUSTODY = (['DepositedSubAccount', 'WithdrawAccountCooldown', 'WithdrewSubAccount'] as const)
  .map((eventName) => encodeEventTopics({ abi: matchingAbi, eventName }))
  .map(topicOf)

/**
 * The accounts whose balances or custody changed in the blocks from `first` to `last`, at most MAX_LOG_BLOCKS, and those of
 * further `events`. An account is listed once for each event. Rejects with ChainUnreachable.
 */
export async function readTouches(
  { client, deployment, markets }: TouchReader,
  first: bigint,
  last: bigint,
  events: readonly AccountEvents[] = [],
): Promise<Touch[]> {
  const modules = markets.map(({ tradeModuleAddress }) => tradeModuleAddress)
  const others = events.map(({ address }) => address)
  const named = new Set([BALANCE_ADJUSTED, ...CUSTODY, ...events.flatMap((each) => each.events)])
  const filter = {
    address: [deployment.subAccounts, deployment.matching, ...modules, ...others],
    topics: [[...named, ...MATCHED]],
  }
  return orUnreachable(
    `events of blocks ${first} to ${last}`,
    readLogs(client, filter, { first, last }).then((logs) => touchesIn(logs, named)),
  )
}

function touchesIn(logs: readonly RpcLog[], named: ReadonlySet<Hex>): Touch[] {
  const modulesOf = new Map<Hex | null, Address[]>()
  for (const { topics, transactionHash: hash, address } of logs) {
    const [event] = topics
    if (event === undefined || !MATCHED.includes(event)) continue
    modulesOf.set(hash, [...(modulesOf.get(hash) ?? []), address.toLowerCase() as Address])
  }
  return logs.flatMap((log) => {
    const subaccountId = named.has(log.topics[0] ?? '0x') ? accountOf(log) : undefined
    if (subaccountId === undefined) return []
    const txHash = log.transactionHash as Hex
    return [{ subaccountId, txHash, tradedBy: modulesOf.get(txHash) ?? [] }]
  })
}

/** The account that an event concerns: its first indexed argument, or the first word of its data. */
function accountOf({ topics, data }: Pick<RpcLog, 'topics' | 'data'>): bigint | undefined {
  const word = topics[1] ?? data.slice(0, 66)
  return word.length === 66 ? BigInt(word) : undefined
}
