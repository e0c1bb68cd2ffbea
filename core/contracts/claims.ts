import type { Address } from '../action.js'
import type { Market } from '../model/market.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'

/**
 * What a settlement takes out of the accounts that it touches. Settlements may be in flight together while the sum of
 * their claims fits the capacity that the chain shows at one block.
 */

/** The capacity that a claim draws on: a balance of an account, or headroom that its manager grants. */
export interface ClaimKey {
  /** Equal for equal capacities, whichever market draws on them, so that claims can be summed in a map. */
  readonly id: string
  readonly accountId: bigint
  /** The balance that is drawn on. */
  readonly balance?: { readonly asset: Address; readonly subId: bigint }
  /** The manager of which the account's initial margin headroom is drawn on. */
  readonly manager?: Address
  /** What the market's contract type makes of the account's facts (`capacityOf`), where neither of both is drawn on. */
  readonly of?: { readonly market: Market; readonly part: string }
  /** The margin of the account that several markets draw on, and which of them this is. */
  readonly shares?: { readonly margin: string; readonly branch: string }
}

export interface CapacityClaim {
  readonly key: ClaimKey
  /** In 1e-18 units, more than zero. */
  readonly debit: bigint
  /** Draws up to the available capacity; never makes a match short. */
  readonly isSoft?: true
}

/** The key of a balance, whatever the account's manager. The address is in lower case. */
export function balanceClaim(accountId: bigint, asset: Address, subId: bigint): ClaimKey {
  return { id: `${accountId} ${asset} ${subId}`, accountId, balance: { asset, subId } }
}

/** The key of an account's margin headroom. The address is in lower case. */
export function marginClaim(manager: Address, accountId: bigint): ClaimKey {
  const id = sharedMargin({ marginManagerAddress: manager }, accountId)
  return { id, accountId, manager }
}

/** The margin of an account that all markets of a manager draw on. */
export const sharedMargin = (
  { marginManagerAddress }: Pick<Market, 'marginManagerAddress'>,
  accountId: bigint,
): string => `${accountId} margin of ${marginManagerAddress}`

/** One taker against one or more makers, as the trade module settles them. */
export interface MatchTerms {
  readonly takerAccount: bigint
  readonly takerIsBuyer: boolean
  /** The taker's fee over all fills. */
  readonly takerFee: QuoteE18
  readonly fillDetails: readonly FillTerms[]
}

/** One maker's part of a match; `fee` is what the maker pays for all of it. */
export interface FillTerms {
  readonly filledAccount: bigint
  readonly amountFilled: AmountE18
  readonly price: PriceE18
  readonly fee: QuoteE18
}

/** One claim for each key, without those that draw nothing. Claims on one key are all soft, or none is. */
export function sumClaims(claims: readonly CapacityClaim[]): CapacityClaim[] {
  const sums = new Map<string, CapacityClaim>()
  for (const { key, debit, isSoft } of claims) {
    const before = sums.get(key.id)?.debit ?? 0n
    sums.set(key.id, { key, debit: before + debit, ...(isSoft === true && { isSoft }) })
  }
  return [...sums.values()].filter(({ debit }) => debit > 0n)
}

/** What is left of capacities when claims are taken from them. */
interface ClaimsLeft {
  /** The accounts of which a capacity would not cover the claims in addition to those taken; a key without capacity covers any. */
  readonly lacking: (claims: readonly CapacityClaim[]) => bigint[]
  readonly take: (claims: readonly CapacityClaim[]) => void
}

interface CapacityLeft {
  readonly key: ClaimKey
  readonly capacity: bigint | undefined
  taken: bigint
}

/**
 * A capacity of a shared margin also bears what the other branches of that margin take: of each branch the largest sum of
 * one of its keys, because an account ends on one side of each market.
 */
export function claimsLeft(
  capacities: readonly { readonly key: ClaimKey; readonly capacity: bigint }[],
): ClaimsLeft {
  const kept = new Map<string, CapacityLeft>()
  const groups = new Map<string, CapacityLeft[]>()
  const keep = (key: ClaimKey, capacity?: bigint): CapacityLeft => {
    const known = kept.get(key.id)
    if (known !== undefined) return known
    const added = { key, capacity, taken: 0n }
    kept.set(key.id, added)
    if (key.shares !== undefined) {
      const group = groups.get(key.shares.margin)
      if (group === undefined) groups.set(key.shares.margin, [added])
      else group.push(added)
    }
    return added
  }
  for (const { key, capacity } of capacities) keep(key, capacity)

  const take = (claims: readonly CapacityClaim[]): void => {
    for (const { key, debit } of claims) keep(key).taken += debit
  }

  /** What other branches of the same margin take. */
  function elsewhere({ key: { shares } }: CapacityLeft): bigint {
    if (shares === undefined) return 0n
    const largest = new Map<string, bigint>()
    for (const { key, taken } of groups.get(shares.margin) ?? []) {
      const branch = key.shares?.branch ?? ''
      if (branch !== shares.branch && taken > (largest.get(branch) ?? 0n)) {
        largest.set(branch, taken)
      }
    }
    return [...largest.values()].reduce((sum, taken) => sum + taken, 0n)
  }

  const isShort = (one: CapacityLeft): boolean =>
    one.capacity !== undefined && one.taken + elsewhere(one) > one.capacity

  /** The keys that a claim may leave short: its own, and those of the other branches of its margin. */
  function concerned({ key, isSoft }: CapacityClaim): CapacityLeft[] {
    const own = kept.get(key.id)
    const { shares } = key
    const others =
      shares === undefined
        ? []
        : (groups.get(shares.margin) ?? []).filter(
            (one) => one.taken > 0n && one.key.shares?.branch !== shares.branch,
          )
    return own === undefined || isSoft === true ? others : [own, ...others]
  }

  return {
    take,
    lacking(claims) {
      take(claims)
      const short = claims.flatMap(concerned).filter(isShort)
      for (const { key, debit } of claims) keep(key).taken -= debit
      return [...new Set(short.map(({ key }) => key.accountId))]
    },
  }
}
