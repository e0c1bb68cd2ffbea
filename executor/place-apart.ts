/** What decides with which others a match shares a transaction. */
export interface SharingTerms {
  readonly accountIds: readonly bigint[]
  /** Names the signers that are code, with their owners; undefined where both are plain keys. */
  readonly codeKey: string | undefined
}

/** Matches that follow one another and may share a transaction. */
interface Run<Match> {
  readonly codeKey: string | undefined
  readonly members: readonly Match[]
}

/** How many runs of code there may be. */
export interface RunLimits {
  readonly maxCodeRuns: number
  /** Whether each `codeKey` has one at most. */
  readonly onePerKey: boolean
}

export interface PlacedApart<Match> {
  readonly runs: readonly Run<Match>[]
  /** What would need more runs of code than there may be, and what comes after that. */
  readonly held: readonly Match[]
}

/**
 * Splits matches into runs, to be sent in this order. Those of plain keys stand in front, and those that code has signed
 * follow in runs of their own, one for each `codeKey`, so that code that burns its gas does so after all that does not
 * depend on it. Matches that share an account keep their order, so a run of plain keys may follow one of code, and a match
 * of code that would have to follow another run is in a second one of its key, or held. Pure.
 */
export function placeApart<Match>(
  matches: readonly Match[],
  of: (match: Match) => SharingTerms,
  { maxCodeRuns, onePerKey }: RunLimits,
): PlacedApart<Match> {
  const runs: Run<Match>[] = []
  const held = new Set<Match>()
  const codeKeys = new Set<string | undefined>()
  let left = matches
  let codeRuns = 0
  const take = (codeKey: string | undefined): void => {
    const { members, others } = takeRun(left, of, codeKey)
    left = others
    if (members.length > 0) runs.push({ codeKey, members })
  }
  take(undefined)
  for (;;) {
    const [first] = left
    if (first === undefined || codeRuns === maxCodeRuns) {
      const stays = new Set([...held, ...left])
      return { runs, held: matches.filter((match) => stays.has(match)) }
    }
    // The first match has none before it, so each pass takes at least one and the loop ends.
    const { codeKey } = of(first)
    if (onePerKey && codeKeys.has(codeKey)) {
      const parted = partBehind(left, 1, (match) => of(match).accountIds)
      for (const match of parted.behind) held.add(match)
      left = parted.others
    } else {
      codeRuns += 1
      codeKeys.add(codeKey)
      take(codeKey)
      take(undefined)
    }
  }
}

/** The first of them with all that comes later on their accounts, and the others. Pure. */
export function partBehind<Match>(
  matches: readonly Match[],
  count: number,
  accountIdsOf: (match: Match) => readonly bigint[],
) {
  const accounts = new Set<bigint>()
  const behind: Match[] = []
  const others: Match[] = []
  for (const [i, match] of matches.entries()) {
    const accountIds = accountIdsOf(match)
    if (i >= count && !accountIds.some((id) => accounts.has(id))) {
      others.push(match)
      continue
    }
    behind.push(match)
    for (const id of accountIds) accounts.add(id)
  }
  return { behind, others }
}

/** Those of this key after which no other shares an account. */
function takeRun<Match>(
  matches: readonly Match[],
  of: (match: Match) => SharingTerms,
  codeKey: string | undefined,
) {
  const passedBy = new Set<bigint>()
  const members: Match[] = []
  const others: Match[] = []
  for (const match of matches) {
    const { accountIds, codeKey: own } = of(match)
    if (own === codeKey && !accountIds.some((id) => passedBy.has(id))) {
      members.push(match)
      continue
    }
    others.push(match)
    for (const id of accountIds) passedBy.add(id)
  }
  return { members, others }
}
