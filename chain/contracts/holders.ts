import type { Address } from '../../core/action.js'
import { exactNumber } from '../../core/decimal.js'
import { subAccountsAbi } from '../abi/contracts.js'
import { selectorsOf } from '../abi/selectors.js'
import { readBlockHash, type BlockPlace } from '../reads/blocks.js'
import { orUnreachable } from '../reads/client.js'
import { MAX_LOG_BLOCKS } from '../reads/logs.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import { readTouches } from '../reads/touches.js'
import type { Holder } from './chain-contract.js'
import { accountCalls, blockCalls, type ObservingDeps } from './observe-account.js'

const of = selectorsOf(subAccountsAbi, 'lastAccountId')

/** Accounts that are read at once. */
const SCANNED_AT_ONCE = 2_000
/** All accounts are read again after so many blocks: whatever the events did not tell ends with that. */
const SCAN_EVERY_BLOCKS = 1_800n

/** The contracts of the accounts that are looked for. */
export interface Sought {
  readonly assets: ReadonlySet<Address>
  readonly managers: ReadonlySet<Address>
  /** By manager: whether an account under it that holds none of the assets counts nevertheless. */
  readonly others?: ReadonlyMap<Address, (id: bigint, block: PlainCalls) => Promise<boolean>>
}

/**
 * All accounts under any of some managers that hold any of some assets, or count as others do. Bounded by the accounts of the
 * chain that do.
 */
export interface Census {
  /** Those of the block, which is not older than that of the last call. Rejects with ChainUnreachable. */
  at(block: BlockPlace, sought: Sought): Promise<readonly Holder[]>
}

interface Counted {
  readonly block: BlockPlace
  readonly sought: Sought
  readonly holders: ReadonlyMap<bigint, Holder>
  /** The block of the newest scan of all accounts. */
  readonly scannedAt: bigint
}

/**
 * Reads every account once, and from then on those whose balances changed in the blocks since. A block that the chain has
 * lost, other contracts or too many blocks since begin it anew.
 */
export function createCensus(deps: ObservingDeps): Census {
  let counted: Counted | undefined
  return {
    async at(block, sought) {
      const before = counted !== undefined && isSought(counted, sought) ? counted : undefined
      if (before?.block.hash === block.hash) return [...before.holders.values()]
      const goesOn = before !== undefined && (await isContinued(deps, before, block))
      counted = goesOn ? await follow(deps, before, block) : await scan(deps, block, sought)
      return [...counted.holders.values()]
    },
  }
}

async function isContinued(
  { client }: ObservingDeps,
  before: Counted,
  block: BlockPlace,
): Promise<boolean> {
  const passed = block.number - before.block.number
  if (passed <= 0n || passed > MAX_LOG_BLOCKS) return false
  if (block.number - before.scannedAt > SCAN_EVERY_BLOCKS) return false
  return (await readBlockHash(client, before.block.number)) === before.block.hash
}

async function scan(deps: ObservingDeps, block: BlockPlace, sought: Sought): Promise<Counted> {
  const { subAccounts } = deps.deployment
  const last = await orUnreachable(
    'the number of accounts',
    blockCalls(deps, block).word(subAccounts, of.lastAccountId, []),
  )
  const holders = new Map<bigint, Holder>()
  const count = exactNumber(last)
  for (let first = 1; first <= count; first += SCANNED_AT_ONCE) {
    const length = Math.min(SCANNED_AT_ONCE, count - first + 1)
    const ids = Array.from({ length }, (_, i) => BigInt(first + i))
    for (const holder of await readHolders(deps, block, { ids, sought }))
      holders.set(holder.id, holder)
  }
  return { block, sought, holders, scannedAt: block.number }
}

async function follow(deps: ObservingDeps, before: Counted, block: BlockPlace): Promise<Counted> {
  const { sought } = before
  const reader = { ...deps, markets: [] }
  const touches = await readTouches(reader, before.block.number + 1n, block.number)
  const ids = [...new Set(touches.map(({ subaccountId }) => subaccountId))]
  const holders = new Map(before.holders)
  for (const id of ids) holders.delete(id)
  for (const holder of await readHolders(deps, block, { ids, sought }))
    holders.set(holder.id, holder)
  return { ...before, block, holders }
}

interface Question {
  readonly ids: readonly bigint[]
  readonly sought: Sought
}

/** Those of the accounts that are under any of the managers and hold any of the assets, or count nevertheless. */
async function readHolders(
  deps: ObservingDeps,
  block: BlockPlace,
  { ids, sought }: Question,
): Promise<readonly Holder[]> {
  const read = async (id: bigint): Promise<Holder | undefined> => {
    const account = accountCalls(deps, id, block)
    // Under a manager of its own an account holds as many balances as its owner likes: more than a node reads.
    const manager = await account.manager()
    if (!sought.managers.has(manager)) return undefined
    const holdings = await account.holdings()
    const isHolder = holdings.some(({ asset }) => sought.assets.has(asset))
    const isOther = isHolder ? undefined : await sought.others?.get(manager)?.(id, account)
    return isHolder || isOther === true ? { id, holdings, manager } : undefined
  }
  const found = await orUnreachable('what accounts hold', Promise.all(ids.map(read)))
  return found.filter((holder) => holder !== undefined)
}

const isSought = ({ sought }: Counted, { assets, managers }: Sought): boolean =>
  isSame(sought.assets, assets) && isSame(sought.managers, managers)

const isSame = (a: ReadonlySet<Address>, b: ReadonlySet<Address>): boolean =>
  a.size === b.size && [...a].every((address) => b.has(address))

/** What these accounts hold at the block, whatever it is. Rejects with ChainUnreachable. */
export function readAccounts(
  deps: ObservingDeps,
  block: BlockPlace,
  ids: readonly bigint[],
): Promise<readonly Holder[]> {
  const read = async (id: bigint): Promise<Holder> => {
    const account = accountCalls(deps, id, block)
    const [manager, holdings] = await Promise.all([account.manager(), account.holdings()])
    return { id, manager, holdings }
  }
  return orUnreachable("what the keeper's accounts hold", Promise.all(ids.map(read)))
}
