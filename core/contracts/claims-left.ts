import type { Claim, ClaimKey } from './claims.js'

/** What is left of capacities when claims are taken from them. */
export interface ClaimsLeft {
  /** The accounts of which a capacity would not cover the claims beside those taken; a key without capacity covers any. */
  readonly lacking: (claims: readonly Claim[]) => bigint[]
  readonly take: (claims: readonly Claim[]) => void
}

interface Kept {
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
  const kept = new Map<string, Kept>()
  const groups = new Map<string, Kept[]>()
  const keep = (key: ClaimKey, capacity?: bigint): Kept => {
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

  const take = (claims: readonly Claim[]): void => {
    for (const { key, debit } of claims) keep(key).taken += debit
  }

  /** What other branches of the same margin take. */
  function elsewhere({ key: { shares } }: Kept): bigint {
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

  const isShort = (one: Kept): boolean =>
    one.capacity !== undefined && one.taken + elsewhere(one) > one.capacity

  /** The keys that a claim may leave short: its own, and those of the other branches of its margin. */
  function concerned({ key, isSoft }: Claim): Kept[] {
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
