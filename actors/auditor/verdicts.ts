/** The checks; each has a verdict for each market, `positions` only where accounts have positions. */
export const CHECKS = [
  'replay',
  'sequence',
  'orders',
  'fills',
  'history',
  'journal',
  'settlements',
  'filled',
  'positions',
  'fees',
] as const

export type AuditCheck = (typeof CHECKS)[number]

/** `skipped`: the data of the check is absent, so it neither passed nor failed. */
export type Result = 'ok' | 'failed' | 'skipped'

export interface AuditVerdict {
  readonly market: string
  readonly check: AuditCheck
  readonly result: Result
  /** What was compared, or why the check was skipped. */
  readonly detail: string
  /** The first FINDINGS_KEPT differences. */
  readonly findings: readonly string[]
  /** Number of all differences. */
  readonly found: number
}

/** Most findings kept of one check. */
const FINDINGS_KEPT = 20

/** Collects the findings of one audit. */
export interface Verdicts {
  /** Reports a difference: the check has failed. */
  find(market: string, check: AuditCheck, what: string): void
  /** The check was made; `detail` says over what. */
  done(market: string, check: AuditCheck, detail: string): void
  /** The check could not be made. */
  skip(market: string, check: AuditCheck, why: string): void
  /** By market, in the order of CHECKS. */
  all(): AuditVerdict[]
}

interface GatheredFindings {
  detail: string
  skipped: boolean
  found: number
  readonly findings: string[]
}

export function createVerdicts(): Verdicts {
  const byMarket = new Map<string, Map<AuditCheck, GatheredFindings>>()
  const at = (market: string, check: AuditCheck): GatheredFindings => {
    const checks = byMarket.get(market) ?? new Map<AuditCheck, GatheredFindings>()
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
        CHECKS.flatMap((check): AuditVerdict[] => {
          const gathered = checks.get(check)
          if (gathered === undefined) return []
          const { detail, found, findings } = gathered
          return [{ market, check, result: resultOf(gathered), detail, found, findings }]
        }),
      ),
  }
}

function resultOf({ found, skipped }: GatheredFindings): Result {
  if (found > 0) return 'failed'
  return skipped ? 'skipped' : 'ok'
}

/** One line for each verdict, and one below it for each finding. */
export function wordVerdicts(verdicts: readonly AuditVerdict[]): string {
  return verdicts
    .flatMap(({ market, check, result, detail, findings, found }) => [
      `${result.padEnd(7)} ${market} ${check}: ${detail}`,
      ...findings.map((finding) => `          ${finding}`),
      ...(found > findings.length ? [`          and ${found - findings.length} more`] : []),
    ])
    .join('\n')
}
