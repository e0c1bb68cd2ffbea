import { getAbiItem, toFunctionSelector, type AbiFunction } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { MarketFacts, MarketObservation } from '../../core/contracts/contract.js'
import type { Market } from '../../core/contracts/market.js'
import type { AccountObservation } from '../../core/engine/accounts.js'
import { addressOfWord, readWords, writeWords } from '../../core/entry/read-action.js'
import { matchingAbi, subAccountsAbi } from '../abi/contracts.js'
import { NotWords, undefinedOnRevert } from '../abi/errors.js'
import type { BlockPlace } from '../reads/blocks.js'
import { createCircuitBreaker, type ChainClient, type CircuitBreaker } from '../reads/client.js'
import type { Deployment } from '../reads/deployment.js'
import { createExpiringCache, type Answer } from '../reads/expiring-cache.js'
import { unlessUnreadable } from '../reads/read-account.js'
import {
  chainContractOf,
  type AccountCalls,
  type BlockCalls,
  type Holding,
  type PlainCalls,
} from './registry.js'

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
  const { matching, subAccounts } = deps.deployment
  const account = accountCalls(deps, subaccountId, block)
  const ask = (to: Address, selector: Hex) => account.word(to, selector, [subaccountId])
  const [facts, owner, requestedAt, holder] = await Promise.all([
    contract.readFacts(market, account, block.seen),
    ask(matching, CUSTODY_OWNER).then(toAddress),
    ask(matching, WITHDRAW_TIMESTAMP),
    ask(subAccounts, OWNER_OF).then(toAddress).catch(undefinedOnRevert),
  ])
  const isHeld = holder === matching.toLowerCase() && owner !== ZERO_ADDRESS
  return {
    subaccountId,
    facts,
    ...(isHeld && { custodyOwner: owner }),
    leaving: requestedAt !== 0n,
    blockNumber: block.number,
    blockTimeSec: Number(block.timestamp),
  }
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
  return { facts, blockNumber: block.number, blockTimeSec: Number(block.timestamp), readAtMs }
}

/**
 * Encodes and decodes single words by hand: with viem's readContract an account costs three times the processor time
 * (115 µs against 360 µs, twenty accounts in a batch), and the chain reader does little else.
 */
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

function plainCalls(client: ChainClient, at: BlockId): PlainCalls {
  const call = async (to: Address, selector: Hex, args: readonly bigint[]): Promise<Hex> => {
    const data: Hex = `${selector}${writeWords(args).slice(2)}`
    const params = [{ to, data }, at] as const
    return client.request<CallSchema>({ method: 'eth_call', params })
  }
  return {
    async word(to, selector, args) {
      const answer = await call(to, selector, args)
      const [value] = readWords(answer, 1) ?? []
      if (value === undefined) throw new NotWords(`not one word: ${answer.slice(0, 80)}`)
      return value
    },
    async words(to, selector, args) {
      const answer = await call(to, selector, args)
      const values = readWords(answer, (answer.length - 2) / 64)
      if (!values?.length) throw new NotWords(`not words: ${answer.slice(0, 80)}`)
      return values
    },
    constant: (to, selector) => readConstant(client, to, selector, call),
  }
}

/** By client; as many as there are contracts in market data. */
const constants = new WeakMap<ChainClient, Map<string, bigint | undefined>>()

/** A contract without the function reverts, or answers what is no word. */
async function readConstant(
  client: ChainClient,
  to: Address,
  selector: Hex,
  call: (to: Address, selector: Hex, args: readonly bigint[]) => Promise<Hex>,
): Promise<bigint | undefined> {
  const known = constants.get(client) ?? new Map<string, bigint | undefined>()
  constants.set(client, known)
  const key = `${to} ${selector}`
  if (known.has(key)) return known.get(key)
  const answer = await call(to, selector, []).catch(undefinedOnRevert)
  const [value] = (answer && readWords(answer, 1)) ?? []
  known.set(key, value)
  return value
}

type BlockId = { readonly blockHash: Hex } | Hex | 'latest'

/** viem's types allow no block hash here. */
interface CallSchema {
  readonly Parameters: readonly [{ readonly to: Address; readonly data: Hex }, BlockId]
  readonly ReturnType: Hex
}

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
      return BigInt.asIntN(256, await calls.word(subAccounts, GET_BALANCE, args))
    },
    async holdings() {
      const answer = await calls.words(subAccounts, GET_ALL_BALANCES, [subaccountId])
      return holdingsOf(answer)
    },
  }
}

/** An ABI-encoded list of asset, sub id and balance. */
function holdingsOf([, count = 0n, ...words]: readonly bigint[]): Holding[] {
  const fields = 3
  if (count * BigInt(fields) !== BigInt(words.length)) throw new Error('not a list of balances')
  return Array.from({ length: words.length / fields }, (_, i) => {
    const [asset = 0n, subId = 0n, balance = 0n] = words.slice(i * fields, (i + 1) * fields)
    return { asset: toAddress(asset), subId, balance: BigInt.asIntN(256, balance) }
  })
}

function toAddress(word: bigint): Address {
  const address = addressOfWord(word)
  if (address === undefined) throw new Error('not an address')
  return address
}

/** Reads what accounts have when their orders come; an order is judged without it when the chain does not answer. */
export interface FundsReader {
  /**
   * An observation at most a block's time old; undefined when the chain cannot be read, or the contract type is
   * unknown.
   */
  readFunds(subaccountId: bigint, market: Market): Answer<AccountObservation | undefined>
  /** The account at the newest block by now, `seen` itself if it is of that block; undefined when unreadable. */
  readNewer(seen: AccountObservation, market: Market): Promise<AccountObservation | undefined>
}

export interface FundsReaderOptions extends ObservingDeps {
  /** Skips calls while the node does not answer. */
  readonly breaker?: CircuitBreaker
  /** How long an observation is kept; at most a block's time. */
  readonly cacheMs: number
}

const CACHE_ENTRIES = 10_000
/** Facts of markets at recent heads. */
const SEEN_MARKETS = 64
/** How long a block counts as the newest, so that concurrent orders share one call. */
const HEAD_MS = 500

/** All facts of one observation are of the block whose number it has. */
export function createFundsReader(options: FundsReaderOptions): FundsReader {
  const { client, cacheMs, breaker = createCircuitBreaker() } = options
  const observations = createExpiringCache<AccountObservation>({
    ttlMs: cacheMs,
    maxEntries: CACHE_ENTRIES,
  })
  const heads = createExpiringCache<BlockPlace>({ ttlMs: HEAD_MS, maxEntries: 1 })
  const markets = createExpiringCache<MarketObservation>({
    ttlMs: cacheMs,
    maxEntries: SEEN_MARKETS,
  })
  const readHead = async () => heads.get('', () => unlessUnreadable(() => client.getBlock()))
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
      return observations.get(`${subaccountId} ${market.market}`, () =>
        breaker.ask(async () => {
          const head = await readHead()
          return head && readAt(head, subaccountId, market)
        }),
      )
    },
    readNewer: (seen, market) =>
      breaker.ask(async () => {
        const head = await unlessUnreadable(() => client.getBlock())
        if (head === undefined || head.number === seen.blockNumber) return head && seen
        return readAt(head, seen.subaccountId, market)
      }),
  }
}
