/** What decides with which others a match shares a transaction. */
export interface Placement {
  readonly accountIds: readonly bigint[]
  /** Names the signers that are code, with their owners; undefined where both are plain keys. */
  readonly codeKey: string | undefined
}

/** Matches that follow one another and may share a transaction. */
interface Run<Match> {
  readonly codeKey: string | undefined
  readonly members: readonly Match[]
}

export interface Placed<Match> {
  readonly runs: readonly Run<Match>[]
  /** What would need more runs of code, and what comes behind that. */
  readonly held: readonly Match[]
}

/**
 * Splits matches into runs, to be sent in this order. Those of plain keys stand in front, and those that code has signed
 * follow in runs of their own, one for each `codeKey`, so that code that burns its gas does so behind all that does not
 * depend on it. Matches that share an account keep their order, so a run of plain keys may follow one of code. Pure.
 */
export function placeApart<Match>(
  matches: readonly Match[],
  of: (match: Match) => Placement,
  maxCodeRuns: number,
): Placed<Match> {
  const runs: Run<Match>[] = []
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
    if (first === undefined || codeRuns === maxCodeRuns) return { runs, held: left }
    // Nothing stands in front of the first, so its run has a member, and the loop ends.
    codeRuns += 1
    take(of(first).codeKey)
    take(undefined)
  }
}

/** Those of this key behind which none of the others shares an account. */
function takeRun<Match>(
  matches: readonly Match[],
  of: (match: Match) => Placement,
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
