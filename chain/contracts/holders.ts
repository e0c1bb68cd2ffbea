import type { Address } from '../../core/action.js'
import { subAccountsAbi } from '../abi/contracts.js'
import { selectorsOf } from '../abi/selectors.js'
import { exactOf } from '../reads/answer-form.js'
import { readBlockHash, type BlockPlace } from '../reads/blocks.js'
import { orUnreachable } from '../reads/client.js'
import { MAX_LOG_BLOCKS } from '../reads/logs.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import { readTouches } from '../reads/touches.js'
import type { Holder } from './chain-contract.js'
import { accountCalls, blockCalls, type ObservingDeps } from './observe-account.js'

const of = selectorsOf(subAccountsAbi, 'lastAccountId')

/**
 * Read at one look of the accounts that changed and are not known to count, and as many of the scan: an owner who opens many makes
 * no look longer.
 */
export const READ_AT_ONCE = 2_000
/** Changed accounts that wait to be read, besides known ones; of more than these a scan of all accounts finds those that count. */
const WAITING_AT_MOST = 50_000
/** All accounts are read again after so many blocks: whatever the events did not tell ends with that. */
const SCAN_EVERY_BLOCKS = 1_800n

/** The contracts of the accounts that are looked for. */
export interface Sought {
  readonly assets: ReadonlySet<Address>
  readonly managers: ReadonlySet<Address>
  /** By manager: whether an account under it that holds none of the assets counts nevertheless. */
  readonly others?: ReadonlyMap<Address, (id: bigint, block: PlainCalls) => Promise<boolean>>
}

/** What a look at a block has found. */
export interface HoldersFinding {
  readonly holders: readonly Holder[]
  /** Accounts are left to read: another look, also at the same block, goes on with them. */
  readonly isPartial: boolean
}

/**
 * All accounts under any of some managers that hold any of some assets, or count as others do. Bounded by the accounts of the
 * chain that do, and by those that changed and are not read yet.
 */
export interface Census {
  /**
   * Those of the block, which is not older than that of the last look, as far as they are known. Rejects with ChainUnreachable;
   * the next look begins where this one did.
   */
  at(block: BlockPlace, sought: Sought): Promise<HoldersFinding>
}

/** The accounts from `next` to `last`, which are read one after the other; none are left where `next` is greater. */
interface Scan {
  readonly next: number
  readonly last: number
  /** The block at which it began. */
  readonly startedAt: bigint
  /** Another one follows: changes since it began were not kept. */
  readonly isRepeated: boolean
}

interface HolderCount {
  readonly block: BlockPlace
  readonly sought: Sought
  readonly holders: ReadonlyMap<bigint, Holder>
  /** Accounts that changed and were not read since. */
  readonly changed: ReadonlySet<bigint>
  readonly scan: Scan
}

/**
 * Reads every account once, some at each look, and those whose balances changed in the blocks since. Known ones are read at the
 * first look after their change. Other contracts begin it anew, with those that are known; after a block that the chain
 * has lost, or too many blocks, another follows the one that has begun.
 */
export function createCensus(deps: ObservingDeps): Census {
  let counted: HolderCount | undefined
  return {
    async at(block, sought) {
      const next = await advance(deps, await begin(deps, counted, { block, sought }))
      counted = next
      const isPartial = next.changed.size > 0 || !isDone(next.scan)
      return { holders: [...next.holders.values()], isPartial }
    },
  }
}

const isDone = ({ next, last }: Scan): boolean => next > last

/** What was counted before, with what has changed until the block. */
async function begin(
  deps: ObservingDeps,
  before: HolderCount | undefined,
  { block, sought }: Pick<HolderCount, 'block' | 'sought'>,
): Promise<HolderCount> {
  const holders = before?.holders ?? new Map<bigint, Holder>()
  const same = before !== undefined && isSought(before, sought) ? before : undefined
  if (same === undefined || !(await goesOn(deps, same, block))) {
    // A scan that has begun goes on, and another follows: lost blocks do not keep it at its start.
    const scan =
      same === undefined || isDone(same.scan)
        ? await beginScan(deps, block)
        : { ...same.scan, isRepeated: true }
    return { block, sought, holders, changed: new Set(holders.keys()), scan }
  }
  if (same.block.hash === block.hash) return same
  const reader = { ...deps, markets: [] }
  const touches = await readTouches(reader, same.block.number + 1n, block.number)
  const touched = new Set([...same.changed, ...touches.map(({ subaccountId: id }) => id)])
  const changed = [...touched].filter((id, i) => i < WAITING_AT_MOST || holders.has(id))
  const isRepeated = same.scan.isRepeated || changed.length < touched.size
  const isDue = isRepeated || block.number - same.scan.startedAt > SCAN_EVERY_BLOCKS
  const scan =
    isDue && isDone(same.scan) ? await beginScan(deps, block) : { ...same.scan, isRepeated }
  return { ...same, block, changed: new Set(changed), scan }
}

async function goesOn(
  { client }: ObservingDeps,
  before: HolderCount,
  block: BlockPlace,
): Promise<boolean> {
  if (before.block.hash === block.hash) return true
  const passed = block.number - before.block.number
  if (passed <= 0n || passed > MAX_LOG_BLOCKS) return false
  return (await readBlockHash(client, before.block.number)) === before.block.hash
}

/** Accounts that are opened later are read because they change. */
async function beginScan(deps: ObservingDeps, block: BlockPlace): Promise<Scan> {
  const { subAccounts } = deps.deployment
  const last = await orUnreachable(
    'the number of accounts',
    blockCalls(deps, block).word(subAccounts, of.lastAccountId, []),
  )
  return {
    next: 1,
    last: exactOf(last, 'the number of accounts'),
    startedAt: block.number,
    isRepeated: false,
  }
}

/** Reads the known accounts that changed, and of the others that changed and of the scan as many as one look reads. */
async function advance(deps: ObservingDeps, counted: HolderCount): Promise<HolderCount> {
  const { block, sought, scan } = counted
  const changed = [...counted.changed]
  const known = changed.filter((id) => counted.holders.has(id))
  const others = changed.filter((id) => !counted.holders.has(id)).slice(0, READ_AT_ONCE)
  const length = Math.min(READ_AT_ONCE, Math.max(scan.last - scan.next + 1, 0))
  const scanned = Array.from({ length }, (_, i) => BigInt(scan.next + i))
  const ids = [...new Set([...known, ...others, ...scanned])]
  const found = await readHolders(deps, block, { ids, sought })
  const read = new Set(ids)
  const kept = [...counted.holders].filter(([id]) => !read.has(id))
  return {
    ...counted,
    holders: new Map([...kept, ...found.map((holder) => [holder.id, holder] as const)]),
    changed: new Set(changed.filter((id) => !read.has(id))),
    scan: { ...scan, next: scan.next + length },
  }
}

interface HoldersQuestion {
  readonly ids: readonly bigint[]
  readonly sought: Sought
}

/** Those of the accounts that are under any of the managers and hold any of the assets, or count nevertheless. */
async function readHolders(
  deps: ObservingDeps,
  block: BlockPlace,
  { ids, sought }: HoldersQuestion,
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

const isSought = ({ sought }: HolderCount, { assets, managers }: Sought): boolean =>
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
