import { encodeFunctionData } from 'viem'
import type { Address } from '../../core/action.js'
import { addressOfWord } from '../../core/entry/read-action.js'
import type { Market } from '../../core/model/market.js'
import { subAccountsAbi } from '../abi/contracts.js'
import { orUnreachable } from '../reads/client.js'
import { wordOf } from '../reads/read-faults.js'
import { newestCalls, type ObservingDeps } from './observe-account.js'
import { chainContractOf } from './registry.js'

/** What the keeper's key may do, and what it takes over with. */

/** What is wrong, with the cure; undefined when nothing is, or a note of what was found. */
export type KeeperFinding = Promise<string | { readonly note: string } | undefined>

interface KeptDeployment extends ObservingDeps {
  readonly markets: readonly Market[]
  readonly keeper?: { readonly address: Address }
  /** With which the keeper takes over; none by default. */
  readonly keeperAccounts?: readonly bigint[]
}

type KeeperCheck = readonly [what: string, find: () => KeeperFinding]

/** None without a keeper, and where the contracts let any caller keep them. */
export function keeperChecks(deps: KeptDeployment, market: Market): readonly KeeperCheck[] {
  const { keeper } = deps
  if (keeper === undefined) return []
  const { readKeeperFault, readOwnSeries } = chainContractOf(market) ?? {}
  const name = market.market
  const may = `${name}: the keeper may do what is due`
  const opens = `${name}: who opens the next series`
  const fault = async (): KeeperFinding =>
    orUnreachable(may, readKeeperFault?.(market, newestCalls(deps), keeper.address) ?? nothing)
  const series = async (): KeeperFinding => {
    const read = readOwnSeries?.(market, newestCalls(deps), keeper.address) ?? nothing
    const isKeeper = (await orUnreachable(opens, read)) !== undefined
    return {
      note: isKeeper ? 'the keeper, by FUTURES_CALENDAR' : 'another key than the keeper, by hand',
    }
  }
  return [
    ...(readKeeperFault === undefined ? [] : [[may, fault] as const]),
    ...(readOwnSeries === undefined ? [] : [[opens, series] as const]),
  ]
}

const nothing = Promise.resolve(undefined)

/** None where the keeper takes over nothing. */
export const accountChecks = (deps: KeptDeployment): readonly KeeperCheck[] =>
  (deps.keeper === undefined ? [] : (deps.keeperAccounts ?? [])).map((id) => [
    `the keeper's account ${id}`,
    () => isOfNoUse(deps, id),
  ])

/** An account that is not the key's own, or under a manager of no market; a note of its manager otherwise. */
async function isOfNoUse(
  { client, deployment, keeper, markets }: KeptDeployment,
  id: bigint,
): KeeperFinding {
  const { subAccounts } = deployment
  const read = (functionName: 'ownerOf' | 'manager') => {
    const data = encodeFunctionData({ abi: subAccountsAbi, functionName, args: [id] })
    return orUnreachable(`account ${id}`, wordOf({ client }, subAccounts, data))
  }
  const [owner, manager] = (await Promise.all([read('ownerOf'), read('manager')])).map(addressIn)
  if (owner !== keeper?.address)
    return `${owner ?? 'no address'} owns it: transfer its NFT to ${keeper?.address}, out of matching where it is there`
  const of = markets.filter(({ marginManagerAddress }) => marginManagerAddress === manager)
  if (of.length === 0) return `it is under ${manager}, the manager of no market`
  return { note: `takes over in ${of.map(({ market }) => market).join(', ')}` }
}

const addressIn = (word: bigint | undefined): Address | undefined =>
  word === undefined || word === 0n ? undefined : addressOfWord(word)
