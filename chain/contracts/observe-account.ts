import { getAbiItem, toFunctionSelector, type AbiFunction } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/model/market.js'
import type {
  MarketFacts,
  MarketObservation,
  AccountObservation,
} from '../../core/model/observation.js'
import { signedWord } from '../../core/entry/read-action.js'
import { blockTimeSec } from '../../core/time.js'
import type { TouchedBlocks } from '../../core/touched-blocks.js'
import { matchingAbi, subAccountsAbi } from '../abi/contracts.js'
import { NotWords, undefinedOnRevert } from '../abi/errors.js'
import { createHeadReader, type BlockPlace, type HeadReader } from '../reads/blocks.js'
import type { BlockId } from '../reads/call-batch.js'
import { createCircuitBreaker, type ChainClient, type CircuitBreaker } from '../reads/client.js'
import type { Deployment } from '../reads/deployment.js'
import {
  createExpiringCache,
  type CacheAnswer,
  type ExpiringCache,
} from '../reads/expiring-cache.js'
import { plainCalls, toAddress, type PlainCalls } from '../reads/plain-calls.js'
import { KEPT_MS, unlessUnreadable } from '../reads/read-account.js'
import type { AccountCalls, BlockCalls, AssetBalance } from './chain-contract.js'
import { chainContractOf } from './registry.js'

export interface ObservingDeps {
  /** A client that batches, so that all calls for one account or for several go out in one request. */
  readonly client: ChainClient
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
}

const selectorOf = (item: AbiFunction): Hex => toFunctionSelector(item)
const GET_BALANCE = selectorOf(getAbiItem({ abi: subAccountsAbi, name: 'getBalance' }))
const GET_ALL_BALANCES = selectorOf(getAbiItem({ abi: subAccountsAbi, name: 'getAccountBalances' }))
const MANAGER = selectorOf(getAbiItem({ abi: subAccountsAbi, name: 'manager' }))
const OWNER_OF = selectorOf(getAbiItem({ abi: subAccountsAbi, name: 'ownerOf' }))
const CUSTODY_OWNER = selectorOf(getAbiItem({ abi: matchingAbi, name: 'subAccountToOwner' }))
const WITHDRAW_TIMESTAMP = selectorOf(getAbiItem({ abi: matchingAbi, name: 'withdrawTimestamp' }))
const ZERO_ADDRESS: Address = `0x${'0'.repeat(40)}`

/** A block with the facts of a market at it, where its contract type has any. */
export interface SeenBlock extends BlockPlace {
  readonly seen?: MarketFacts | undefined
}

/**
 * The facts and the custody of an account of the market at one block. Rejects unless the node answers all calls. The
 * market's contract type must have a record.
 */
export async function observeAccount(
  deps: ObservingDeps,
  market: Market,
  subaccountId: bigint,
  block: SeenBlock,
): Promise<AccountObservation> {
  const contract = chainContractOf(market)
  assert(contract !== undefined, `accounts of ${market.market} cannot be observed`)
  const account = accountCalls(deps, subaccountId, block)
  const [facts, custody] = await Promise.all([
    contract.readFacts(market, account, block.seen),
    readCustody(deps, account),
  ])
  return {
    subaccountId,
    facts,
    ...custody,
    blockNumber: block.number,
    blockTimeSec: blockTimeSec(block.timestamp),
  }
}

/** Whose the account is, and whether its owner has asked to take it out of the matching contract. */
export async function readCustody(
  { deployment: { matching, subAccounts } }: Pick<ObservingDeps, 'deployment'>,
  { word, subaccountId }: Pick<AccountCalls, 'word' | 'subaccountId'>,
): Promise<Pick<AccountObservation, 'custodyOwner' | 'leaving'>> {
  const ask = (to: Address, selector: Hex) => word(to, selector, [subaccountId])
  const [owner, requestedAt, holder] = await Promise.all([
    ask(matching, CUSTODY_OWNER).then(toAddress),
    ask(matching, WITHDRAW_TIMESTAMP),
    ask(subAccounts, OWNER_OF).then(toAddress).catch(undefinedOnRevert),
  ])
  const isHeld = holder === matching.toLowerCase() && owner !== ZERO_ADDRESS
  return { ...(isHeld && { custodyOwner: owner }), leaving: requestedAt !== 0n }
}

/**
 * The facts of the market at one block, by a read that begins at `readAtMs`; undefined where the contract type has none. Rejects unless the node answers all
 * calls.
 */
export async function observeMarket(
  deps: ObservingDeps,
  market: Market,
  block: BlockPlace,
  readAtMs: number,
): Promise<MarketObservation | undefined> {
  const facts = await chainContractOf(market)?.readMarketFacts?.(market, blockCalls(deps, block))
  if (facts === undefined) return undefined
  return { facts, blockNumber: block.number, blockTimeSec: blockTimeSec(block.timestamp), readAtMs }
}

export function blockCalls(deps: ObservingDeps, { hash }: Pick<BlockPlace, 'hash'>): BlockCalls {
  // By hash: after a reorganisation the calls of one observation would be of different chains.
  return callsAt(deps, { blockHash: hash })
}

/** Calls on the canonical block with this number, whichever it is when each runs. */
export const callsAtNumber = (client: ChainClient, number: bigint): PlainCalls =>
  plainCalls(client, `0x${number.toString(16)}`)

/** Calls on the newest block, whichever it is when each runs. */
export const newestCalls = (deps: ObservingDeps): BlockCalls => callsAt(deps, 'latest')

const callsAt = ({ client, deployment }: ObservingDeps, at: BlockId): BlockCalls => ({
  matching: deployment.matching,
  ...plainCalls(client, at),
})

/** Reads about an account at one block. */
export function accountCalls(
  deps: ObservingDeps,
  subaccountId: bigint,
  block: Pick<BlockPlace, 'hash'>,
): AccountCalls {
  const calls = blockCalls(deps, block)
  const { subAccounts } = deps.deployment
  return {
    ...calls,
    subaccountId,
    manager: () => calls.word(subAccounts, MANAGER, [subaccountId]).then(toAddress),
    async balance(asset, subId) {
      const args = [subaccountId, BigInt(asset), subId]
      return signedWord(await calls.word(subAccounts, GET_BALANCE, args))
    },
    async holdings() {
      const answer = await calls.words(subAccounts, GET_ALL_BALANCES, [subaccountId])
      return holdingsOf(answer)
    },
  }
}

/** An ABI-encoded list of asset, sub id and balance. */
function holdingsOf([, count = 0n, ...words]: readonly bigint[]): AssetBalance[] {
  const fields = 3
  if (count * BigInt(fields) !== BigInt(words.length)) throw new NotWords('not a list of balances')
  return Array.from({ length: words.length / fields }, (_, i) => {
    const [asset = 0n, subId = 0n, balance = 0n] = words.slice(i * fields, (i + 1) * fields)
    return { asset: toAddress(asset), subId, balance: signedWord(balance) }
  })
}

/** Reads what accounts have when their orders come; an order is judged without it when the chain does not answer. */
export interface OrderFundsReader {
  /**
   * An observation at most a block's time old, or which no block has touched since; undefined when the chain cannot be read,
   * or the contract type is unknown.
   */
  readFunds(subaccountId: bigint, market: Market): CacheAnswer<AccountObservation | undefined>
  /** The account at the newest block by now, `seen` itself if it is of that block; undefined when unreadable. */
  readNewer(seen: AccountObservation, market: Market): Promise<AccountObservation | undefined>
}

export interface FundsReaderOptions extends ObservingDeps {
  /** Skips calls while the node does not answer. */
  readonly breaker?: CircuitBreaker
  /** The newest block by now; shared with other readers of accounts, so that they share calls. */
  readonly readHead?: HeadReader
  /** How long an observation is kept; at most a block's time. */
  readonly cacheMs: number
  /**
   * Keeps an observation, up to KEPT_MS, while no block touches the account, where nothing but the account itself changes
   * its facts; absent, it is kept for `cacheMs`.
   */
  readonly touched?: Pick<TouchedBlocks<bigint>, 'isUntouched'>
}

const CACHE_ENTRIES = 32_768
/** Facts of markets at recent heads. */
const SEEN_MARKETS = 64

/** Whether nothing but the account itself changes its facts: neither prices nor other facts of the market. */
function isOfAccountAlone(market: Market, { facts }: AccountObservation): boolean {
  const contract = chainContractOf(market)
  if (contract === undefined || contract.readMarketFacts !== undefined) return false
  return contract.isPriced?.(facts) !== true
}

/** All facts of one observation are of the block whose number it has. */
export function createFundsReader(options: FundsReaderOptions): OrderFundsReader {
  const { client, cacheMs, breaker = createCircuitBreaker(), touched } = options
  const { readHead = createHeadReader(client) } = options
  const byMarket = new Map<string, ExpiringCache<AccountObservation>>()
  const observationsOf = (market: Market): ExpiringCache<AccountObservation> => {
    const known = byMarket.get(market.market)
    if (known !== undefined) return known
    const cache = createExpiringCache<AccountObservation>({
      ttlMs: cacheMs,
      maxEntries: CACHE_ENTRIES,
      ...(touched !== undefined && {
        keep: {
          stillHolds: (seen, readAtMs) =>
            isOfAccountAlone(market, seen) &&
            touched.isUntouched({
              id: seen.subaccountId,
              blockNumber: seen.blockNumber,
              readAtMs,
            }),
          mostMs: KEPT_MS,
        },
      }),
    })
    byMarket.set(market.market, cache)
    return cache
  }
  const markets = createExpiringCache<MarketObservation>({
    ttlMs: cacheMs,
    maxEntries: SEEN_MARKETS,
  })
  const readAt = (head: BlockPlace, subaccountId: bigint, market: Market) =>
    unlessUnreadable(async () => {
      const seen = await markets.get(`${head.hash} ${market.market}`, () =>
        observeMarket(options, market, head, 0),
      )
      return observeAccount(options, market, subaccountId, { ...head, seen: seen?.facts })
    })
  return {
    readFunds(subaccountId, market) {
      if (chainContractOf(market) === undefined) return undefined
      return observationsOf(market).get(subaccountId.toString(), () =>
        breaker.ask(async () => {
          const head = await readHead()
          return head && readAt(head, subaccountId, market)
        }),
      )
    },
    readNewer: (seen, market) =>
      breaker.ask(async () => {
        const head = await readHead()
        if (head === undefined || head.number === seen.blockNumber) return head && seen
        return readAt(head, seen.subaccountId, market)
      }),
  }
}
