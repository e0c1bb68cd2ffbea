import { getAbiItem } from 'viem'
import type { Address } from '../../core/action.js'
import type { ReadAtBlock, TouchedBlocks } from '../../core/touched-blocks.js'
import { matchingAbi, subAccountsAbi } from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import { selectorsOf } from '../abi/selectors.js'
import { readAtHead, type HeadReader } from './blocks.js'
import type { BlockId } from './call-batch.js'
import { createCircuitBreaker, type ChainClient, type CircuitBreaker } from './client.js'
import { undefinedOnFailure } from './read-failure.js'
import type { Deployment } from './deployment.js'
import { createExpiringCache, type CacheAnswer } from './expiring-cache.js'
import { plainCalls, toAddress } from './plain-calls.js'
import { logSpans } from './logs.js'

/** The facts that decide whether an order may use a subaccount (AUT-018, ORD-069, ORD-070). */
export interface SubaccountFacts {
  /** Owner recorded by the matching contract; the zero address when it holds no such account. */
  readonly recordedOwner: Address
  /** Whether the account's NFT is held by the matching contract. */
  readonly inCustody: boolean
  readonly manager: Address
  /** Unix seconds; 0 unless the owner has asked to take the account out of custody. */
  readonly withdrawRequestedAtSec: bigint
  /** The block at which they were read, where that is known. */
  readonly blockNumber?: bigint
}

export interface AccountReader {
  /**
   * Facts at most a block old, or which no block has touched since; undefined when the chain cannot be read.
   */
  readAccount(subaccountId: bigint): CacheAnswer<SubaccountFacts | undefined>
  /**
   * Unix seconds at which the key ends: its expiry, or 0 when it was never registered or its deregistration has begun;
   * undefined when unreadable.
   */
  readSessionKeyExpiry(owner: Address, key: Address): CacheAnswer<bigint | undefined>
}

export interface AccountReaderOptions {
  /** A `read` or `probe` client, which sends the calls for one account in one batch. */
  readonly client: ChainClient
  /** Skips calls while the node does not answer. */
  readonly breaker?: CircuitBreaker
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  /**
   * The newest block by now, at which accounts are read: those who read more of them at it share its calls. Undefined when
   * unreadable; absent, each read is of the newest block when it runs.
   */
  readonly readHead?: HeadReader
  /** How long facts are kept; at most a block's time. */
  readonly cacheMs: number
  /** Keeps the facts of an account, up to KEPT_MS, while no block touches it; absent, they are kept for `cacheMs`. */
  readonly touched?: Pick<TouchedBlocks<bigint>, 'isUntouched'>
}

/** Facts that are kept of accounts, and of signers. */
export const CACHE_ENTRIES = 32_768
/** An event that a node withholds, or a change without one, is noticed after this. */
export const KEPT_MS = 300_000

/** Reads facts about accounts and session keys at the newest block; addresses in lower case. */
export function createAccountReader(options: AccountReaderOptions): AccountReader {
  const { breaker = createCircuitBreaker(), touched } = options
  const ask = <Value>(read: () => Promise<Value>) => breaker.ask(() => unlessUnreadable(read))
  const bounds = { ttlMs: options.cacheMs, maxEntries: CACHE_ENTRIES }
  const accounts = createExpiringCache<SubaccountFacts>({
    ...bounds,
    ...(touched !== undefined && {
      keep: {
        stillHolds: (kept, readAtMs, id) =>
          isUntouched(touched, kept, { id: BigInt(id), readAtMs }),
        mostMs: KEPT_MS,
      },
    }),
  })
  const expiries = createExpiringCache<bigint>(bounds)
  return {
    readAccount: (id) =>
      accounts.get(id.toString(), () =>
        ask(() =>
          readAtHead(options.readHead, async (at, blockNumber) => ({
            ...(await fetchAccount(options, id, at)),
            ...(blockNumber !== undefined && { blockNumber }),
          })),
        ),
      ),
    readSessionKeyExpiry: (owner, key) =>
      expiries.get(`${owner} ${key}`.toLowerCase(), () =>
        ask(() => fetchKeyExpiry(options, owner, key)),
      ),
  }
}

/** Facts that refuse an order are not kept: a change that was not announced would refuse it for minutes. */
const isUntouched = (
  touched: Pick<TouchedBlocks<bigint>, 'isUntouched'>,
  { blockNumber, inCustody }: SubaccountFacts,
  read: Omit<ReadAtBlock<bigint>, 'blockNumber'>,
): boolean =>
  inCustody && blockNumber !== undefined && touched.isUntouched({ ...read, blockNumber })

const of = {
  ...selectorsOf(matchingAbi, 'subAccountToOwner', 'withdrawTimestamp'),
  ...selectorsOf(subAccountsAbi, 'ownerOf', 'manager'),
}

async function fetchAccount(
  { client, deployment: { matching, subAccounts } }: AccountReaderOptions,
  id: bigint,
  at: BlockId,
): Promise<SubaccountFacts> {
  const { word } = plainCalls(client, at)
  const [recordedOwner, withdrawRequestedAtSec, holder, manager] = await Promise.all([
    word(matching, of.subAccountToOwner, [id]),
    word(matching, of.withdrawTimestamp, [id]),
    word(subAccounts, of.ownerOf, [id]).catch(undefinedOnRevert),
    word(subAccounts, of.manager, [id]),
  ])
  return {
    recordedOwner: toAddress(recordedOwner),
    inCustody: holder !== undefined && toAddress(holder) === lower(matching),
    manager: toAddress(manager),
    withdrawRequestedAtSec,
  }
}

/**
 * Deregistration lets a key sign for a cooldown more, which the venue does not: it sets the expiry to the end of the
 * cooldown. Only the events of the cooldown's time show whether an expiry that near comes from it.
 */
async function fetchKeyExpiry(
  options: AccountReaderOptions,
  owner: Address,
  key: Address,
): Promise<bigint> {
  const { client, deployment } = options
  const matching = { address: deployment.matching, abi: matchingAbi } as const
  const expiry = await client.readContract({
    ...matching,
    functionName: 'sessionKeys',
    args: [key, owner],
  })
  if (expiry === 0n) return expiry
  const [head, cooldown] = await Promise.all([
    client.getBlock(),
    client.readContract({ ...matching, functionName: 'DEREGISTER_KEY_COOLDOWN' }),
  ])
  if (expiry <= head.timestamp || expiry > head.timestamp + cooldown) return expiry
  // Blocks come at least a second apart.
  const first = head.number > cooldown ? head.number - cooldown : 0n
  return (await isDeregistered(options, { owner, key, first, last: head.number })) ? 0n : expiry
}

interface KeySpan {
  readonly owner: Address
  readonly key: Address
  readonly first: bigint
  readonly last: bigint
}

/** Whether the last event about the key in these blocks is the start of its deregistration. */
async function isDeregistered(
  { client, deployment }: AccountReaderOptions,
  { owner, key, first, last }: KeySpan,
): Promise<boolean> {
  const address = deployment.matching
  const found = await Promise.all(
    [...logSpans({ first, last })].map((span) =>
      client.getLogs({
        address,
        events: KEY_EVENTS,
        fromBlock: span.first,
        toBlock: span.last,
      }),
    ),
  )
  const newest = found.flat().findLast((log) => {
    const of =
      log.eventName === 'SessionKeyCooldown'
        ? log.args.sessionKeyPublicAddress
        : log.args.sessionKey
    return lower(log.args.owner ?? '0x') === lower(owner) && lower(of ?? '0x') === lower(key)
  })
  return newest?.eventName === 'SessionKeyCooldown'
}

const KEY_EVENTS = [
  getAbiItem({ abi: matchingAbi, name: 'SessionKeyRegistered' }),
  getAbiItem({ abi: matchingAbi, name: 'SessionKeyCooldown' }),
] as const

const lower = (address: Address): Address => address.toLowerCase() as Address

/**
 * The answer, or undefined when the chain gave none. An answer that cannot be decoded counts as none, for example that
 * of an address without a contract. Rejects with a defect alone.
 */
export async function unlessUnreadable<Value>(
  read: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await read()
  } catch (error) {
    return undefinedOnFailure(error)
  }
}
