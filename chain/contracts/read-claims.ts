import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { CapacityClaim, ClaimKey } from '../../core/contracts/claims.js'
import type { Market } from '../../core/model/market.js'
import type { MarketFacts } from '../../core/model/observation.js'
import { managerAbi, subAccountsAbi } from '../abi/contracts.js'
import { orUnreachable, type ChainClient } from '../reads/client.js'
import { createExpiringCache } from '../reads/expiring-cache.js'
import { accountCalls, blockCalls, type ObservingDeps } from './observe-account.js'
import { chainContractOf, type MarketMatch } from './registry.js'

/**
 * What is available for each claim, in 1e-18 units, by position: at the block, by default the newest. Negative where
 * the account owes. Rejects with ChainUnreachable.
 */
export type ReadCapacities = (keys: readonly ClaimKey[], blockHash?: Hex) => Promise<bigint[]>

/** `client` is a `read` client, which sends the calls in one batch. */
export function createCapacityReader(client: ChainClient, subAccounts: Address): ReadCapacities {
  return (keys, blockHash) => {
    const at = blockHash === undefined ? {} : { blockHash }
    const capacities = keys.map(({ id, manager, accountId, balance }) => {
      if (balance !== undefined) {
        return client.readContract({
          address: subAccounts,
          abi: subAccountsAbi,
          functionName: 'getBalance',
          ...at,
          args: [accountId, balance.asset, balance.subId],
        })
      }
      assert(manager !== undefined, `nothing says what ${id} draws on`)
      return client.readContract({
        address: manager,
        abi: managerAbi,
        functionName: 'getMargin',
        ...at,
        args: [accountId, true],
      })
    })
    return orUnreachable('capacities of accounts', Promise.all(capacities))
  }
}

/** What matches claim and what there is for their claims, all of it at one block. */
export interface ClaimReads {
  /** By position; undefined where the facts of the market do not tell. Rejects with ChainUnreachable. */
  readonly claims: (
    matches: readonly MarketMatch[],
  ) => Promise<(readonly CapacityClaim[] | undefined)[]>
  /** By position, in 1e-18 units. Rejects with ChainUnreachable. */
  readonly capacities: ReadCapacities
}

/** Opens the reads of the block with this hash. */
export type ReadClaims = (blockHash: Hex) => ClaimReads

/** Facts of markets at recent blocks. */
const SEEN_MARKETS = 32
const SEEN_MS = 10_000

/** The facts of a market of which claims are made; undefined where they need none. */
type ReadSeen = (market: Market) => Promise<MarketFacts | undefined>

/** The facts of a market are read once for each block. */
export function createClaimReader(deps: ObservingDeps): ReadClaims {
  const readCapacities = createCapacityReader(deps.client, deps.deployment.subAccounts)
  const seen = createExpiringCache<MarketFacts>({ ttlMs: SEEN_MS, maxEntries: SEEN_MARKETS })
  const claimsOf = rememberClaims()
  return (hash) => {
    const readSeen: ReadSeen = async (market) => {
      const contract = chainContractOf(market)
      const read = contract?.readClaimFacts ?? contract?.readMarketFacts
      if (read === undefined) return undefined
      return seen.get(`${hash} ${market.market}`, () => read(market, blockCalls(deps, { hash })))
    }
    return {
      async claims(matches) {
        const markets = [...new Set(matches.map(({ market }) => market))]
        const facts = await orUnreachable('facts of markets', Promise.all(markets.map(readSeen)))
        return matches.map((match) => claimsOf(match, facts[markets.indexOf(match.market)]))
      },
      async capacities(keys) {
        const plain = keys.filter(({ of }) => of === undefined)
        const [balances, parts] = await Promise.all([
          readCapacities(plain, hash),
          orUnreachable('capacities of accounts', readParts(deps, hash, { keys, readSeen })),
        ])
        const byId = new Map([...parts, ...plain.map(({ id }, i) => [id, balances[i]] as const)])
        return keys.map(({ id }) => byId.get(id) ?? 0n)
      },
    }
  }
}

/** Computes the claims of a match once for the same facts: most matches are judged in several groups. */
function rememberClaims() {
  const known = new WeakMap<
    MarketMatch,
    { seen?: MarketFacts; claims?: readonly CapacityClaim[] }
  >()
  return (
    match: MarketMatch,
    seen: MarketFacts | undefined,
  ): readonly CapacityClaim[] | undefined => {
    const before = known.get(match)
    if (before !== undefined && before.seen === seen) return before.claims
    const claims = match.contract.claimsOf(match.market, match.terms, seen)
    known.set(match, { ...(seen && { seen }), ...(claims && { claims }) })
    return claims
  }
}

interface PartsQuestion {
  readonly keys: readonly ClaimKey[]
  readonly readSeen: ReadSeen
}

/** What contract types make of their accounts' facts, by the ids of the keys. Reads each account once. */
function readParts(
  deps: ObservingDeps,
  hash: Hex,
  { keys, readSeen }: PartsQuestion,
): Promise<(readonly [string, bigint])[]> {
  const accounts = new Map<string, Promise<(part: string) => bigint>>()
  const readings = keys.flatMap(({ id, accountId, of }) => {
    if (of === undefined) return []
    const name = `${accountId} ${of.market.market}`
    const account = accounts.get(name) ?? readAccount(of.market, accountId)
    accounts.set(name, account)
    return [account.then((capacityOf) => [id, capacityOf(of.part)] as const)]
  })
  return Promise.all(readings)

  async function readAccount(market: Market, accountId: bigint) {
    const { capacityOf, readFacts } = chainContractOf(market) ?? {}
    const seen = await readSeen(market)
    assert(capacityOf && readFacts && seen, `accounts of ${market.market} have no parts`)
    const facts = await readFacts(market, accountCalls(deps, accountId, { hash }), seen)
    return (part: string) => capacityOf(part, facts, seen)
  }
}
