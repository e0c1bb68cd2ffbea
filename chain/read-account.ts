import type { Address } from '../core/action.js'
import { matchingAbi } from './abi/matching.js'
import { subAccountsAbi } from './abi/sub-accounts.js'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.js'
import type { ChainClient } from './client.js'
import type { Deployment } from './deployment.js'
import { type Answer, createExpiringCache } from './expiring-cache.js'
import { revertOf } from './revert-name.js'

/** What the chain says about a subaccount when asked for an order's custody (decisions C10, C11). */
export interface AccountFacts {
  /** Owner recorded by the matching contract; the zero address when it holds no such account. */
  readonly recordedOwner: Address
  /** Whether the account's NFT is held by the matching contract. */
  readonly inCustody: boolean
  readonly manager: Address
  /** Non-zero once the owner asked to take the account out of custody. */
  readonly withdrawRequestedAtSec: bigint
}

export interface AccountReader {
  /** Facts at most a block old; undefined when the chain cannot be read. */
  readAccount(subaccountId: bigint): Answer<AccountFacts | undefined>
  /** Unix seconds until which the key may sign for the owner, 0 when never registered; undefined when unreadable. */
  readSessionKeyExpiry(owner: Address, key: Address): Answer<bigint | undefined>
}

export interface AccountReaderOptions {
  /** A `read` or `probe` client: the questions about one account travel together. */
  readonly client: ChainClient
  /** Turns questions away while the node is silent. */
  readonly breaker?: CircuitBreaker
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  /** How long facts are kept; at most a block's time. */
  readonly cacheMs: number
}

const CACHE_ENTRIES = 10_000

/** Reads facts about accounts and session keys at the newest block; addresses in lower case. */
export function createAccountReader(options: AccountReaderOptions): AccountReader {
  const { breaker = createCircuitBreaker() } = options
  const ask = <Value>(read: () => Promise<Value>) => breaker.ask(() => unlessUnreadable(read))
  const bounds = { ttlMs: options.cacheMs, maxEntries: CACHE_ENTRIES }
  const accounts = createExpiringCache<AccountFacts>(bounds)
  const expiries = createExpiringCache<bigint>(bounds)
  return {
    readAccount: (id) => accounts.get(id.toString(), () => ask(() => fetchAccount(options, id))),
    readSessionKeyExpiry: (owner, key) =>
      expiries.get(`${owner} ${key}`.toLowerCase(), () =>
        ask(() => fetchKeyExpiry(options, owner, key)),
      ),
  }
}

async function fetchAccount(options: AccountReaderOptions, id: bigint): Promise<AccountFacts> {
  const { client, deployment } = options
  const matching = { address: deployment.matching, abi: matchingAbi, args: [id] } as const
  const subAccounts = { address: deployment.subAccounts, abi: subAccountsAbi, args: [id] } as const
  const [recordedOwner, requestedAt, holder, manager] = await Promise.all([
    client.readContract({ ...matching, functionName: 'subAccountToOwner' }),
    client.readContract({ ...matching, functionName: 'withdrawTimestamp' }),
    client.readContract({ ...subAccounts, functionName: 'ownerOf' }).catch(nobodyOnRevert),
    client.readContract({ ...subAccounts, functionName: 'manager' }),
  ])
  return {
    recordedOwner: lower(recordedOwner),
    inCustody: holder !== undefined && lower(holder) === lower(deployment.matching),
    manager: lower(manager),
    withdrawRequestedAtSec: requestedAt,
  }
}

function fetchKeyExpiry(
  { client, deployment }: AccountReaderOptions,
  owner: Address,
  key: Address,
): Promise<bigint> {
  return client.readContract({
    address: deployment.matching,
    abi: matchingAbi,
    functionName: 'sessionKeys',
    args: [key, owner],
  })
}

const lower = (address: Address): Address => address.toLowerCase() as Address

/** The holder of an account that does not exist is asked for in vain: the chain reverts, which is an answer. */
function nobodyOnRevert(error: unknown): undefined {
  if (revertOf(error) === undefined) throw error
}

async function unlessUnreadable<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read()
  } catch {
    // No answer, or one that is no answer (no contract there): either way the fact is not known.
    return undefined
  }
}
