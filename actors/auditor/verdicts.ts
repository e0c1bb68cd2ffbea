/** What is checked; each is judged for each market. */
export const CHECKS = [
  'replay',
  'sequence',
  'orders',
  'fills',
  'history',
  'journal',
  'settlements',
  'filled',
  'fees',
] as const

export type Check = (typeof CHECKS)[number]

/** `skipped`: what the check reads is not there to be read, which is no difference and no proof either. */
export type Result = 'ok' | 'failed' | 'skipped'

export interface Verdict {
  readonly market: string
  readonly check: Check
  readonly result: Result
  /** What was compared, or why nothing was. */
  readonly detail: string
  /** What differs, the first few. */
  readonly findings: readonly string[]
  /** How much differs in all. */
  readonly found: number
}

/** Findings of one check that are kept word for word. */
const FINDINGS_KEPT = 20

/** Gathers what the checks of one audit find. */
export interface Verdicts {
  /** Something differs: the check has failed, whatever else is said of it. */
  find(market: string, check: Check, what: string): void
  /** The check was made, over this. */
  done(market: string, check: Check, detail: string): void
  /** The check could not be made. */
  skip(market: string, check: Check, why: string): void
  /** By market, in the order of CHECKS. */
  all(): Verdict[]
}

interface Gathered {
  detail: string
  skipped: boolean
  found: number
  readonly findings: string[]
}

export function createVerdicts(): Verdicts {
  const byMarket = new Map<string, Map<Check, Gathered>>()
  const at = (market: string, check: Check): Gathered => {
    const checks = byMarket.get(market) ?? new Map<Check, Gathered>()
    byMarket.set(market, checks)
    const gathered = checks.get(check) ?? { detail: '', skipped: false, found: 0, findings: [] }
    checks.set(check, gathered)
    return gathered
  }
  return {
    find: (market, check, what) => {
      const gathered = at(market, check)
      gathered.found += 1
      if (gathered.findings.length < FINDINGS_KEPT) gathered.findings.push(what)
    },
    done: (market, check, detail) => void Object.assign(at(market, check), { detail }),
    skip: (market, check, detail) =>
      void Object.assign(at(market, check), { detail, skipped: true }),
    all: () =>
      [...byMarket].flatMap(([market, checks]) =>
        CHECKS.flatMap((check): Verdict[] => {
          const gathered = checks.get(check)
          if (gathered === undefined) return []
          const { detail, found, findings } = gathered
          return [{ market, check, result: resultOf(gathered), detail, found, findings }]
        }),
      ),
  }
}

function resultOf({ found, skipped }: Gathered): Result {
  if (found > 0) return 'failed'
  return skipped ? 'skipped' : 'ok'
}

/** One line for each verdict, and one below it for each finding. */
export function wordVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts
    .flatMap(({ market, check, result, detail, findings, found }) => [
      `${result.padEnd(7)} ${market} ${check}: ${detail}`,
      ...findings.map((finding) => `          ${finding}`),
      ...(found > findings.length ? [`          and ${found - findings.length} more`] : []),
    ])
    .join('\n')
}
