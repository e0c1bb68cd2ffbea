import type { Address } from '../../core/action.js'
import type { Claims, OpenClaim } from '../../core/contracts/funds.js'
import type { MarketView } from '../../core/engine/feed.js'
import type { Change } from '../../core/model/change.js'
import type { FeedFold } from './feed-fold.js'
import type { FillsChannel } from './fills-channel.js'

/** Accounts of a market that are known to be their owners'; the one that placed nothing for longest is dropped. */
const KNOWN_ACCOUNTS = 100_000

/** What owners' orders of one market have claimed of their accounts. */
export interface OwnerClaims extends FeedFold {
  /** Accounts with which the owner has placed orders, the newest last. */
  accountsOf(owner: Address): Iterable<bigint>
  /** What is claimed of an account; a match that was settled after the block counts as unsettled. */
  claimsOf(owner: Address, subaccountId: bigint, blockNumber: bigint): Claims
  /** Called with every change of the owner's orders, until the returned function is called. */
  watch(owner: Address, onChange: (change: Change) => void): () => void
}

export function createOwnerClaims(
  view: MarketView,
  fills: Pick<FillsChannel, 'pendingOf' | 'settledAfter'>,
): OwnerClaims {
  /** Keys of owner and account, the one that placed an order last at the end. */
  const known = new Set<string>()
  const accounts = new Map<Address, Set<bigint>>()
  /** The account with which each owner has ordered last: mostly the same again. */
  const newest = new Map<Address, bigint>()
  const watchers = new Map<Address, Set<(change: Change) => void>>()

  function note(owner: Address, subaccountId: bigint): void {
    if (newest.get(owner) === subaccountId) return
    newest.set(owner, subaccountId)
    const dropped = addBounded(known, `${owner} ${subaccountId}`, KNOWN_ACCOUNTS)
    if (dropped !== undefined) forget(dropped)
    const own = accounts.get(owner) ?? new Set()
    own.delete(subaccountId)
    accounts.set(owner, own.add(subaccountId))
  }

  function forget(key: string): void {
    const [owner, account = ''] = key.split(' ') as [Address, string]
    const own = accounts.get(owner)
    own?.delete(BigInt(account))
    newest.delete(owner)
    if (own?.size === 0) accounts.delete(owner)
  }

  function* openOf(owner: Address, subaccountId: bigint): Generator<OpenClaim> {
    for (const { order, progress } of view.liveByOwner.get(owner)?.values() ?? []) {
      if (order.subaccountId !== subaccountId || progress.open === 0n) continue
      yield { side: order.side, price: order.limitPrice, amount: progress.open }
    }
  }

  return {
    after({ changes }) {
      for (const change of changes) {
        if (change.kind === 'OrderPlaced') note(change.owner, change.order.subaccountId)
        if (watchers.size === 0) continue
        for (const onChange of watchers.get(change.owner) ?? []) onChange(change)
      }
    },
    accountsOf: (owner) => accounts.get(owner) ?? [],
    claimsOf(owner, subaccountId, blockNumber) {
      const matches = [...fills.pendingOf(owner), ...fills.settledAfter(owner, blockNumber)]
      return {
        orders: [...openOf(owner, subaccountId)],
        matches: matches.filter((match) => match.subaccountId === subaccountId),
      }
    },
    watch(owner, onChange) {
      const own = watchers.get(owner) ?? new Set()
      watchers.set(owner, own.add(onChange))
      return () => {
        own.delete(onChange)
        if (own.size === 0) watchers.delete(owner)
      }
    },
  }
}

/** Adds to the end of a set; the oldest value beyond the bound is dropped and returned. */
function addBounded<Value>(set: Set<Value>, value: Value, max: number): Value | undefined {
  set.delete(value)
  set.add(value)
  if (set.size <= max) return undefined
  const [oldest] = set
  if (oldest !== undefined) set.delete(oldest)
  return oldest
}

/** The same for a map. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
