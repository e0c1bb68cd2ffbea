/** How long a settlement may be without an outcome until somebody is told. */
export const LATE_AFTER_MS = 60_000

/** How the market's settlements without an outcome stand. */
export interface UnansweredStanding {
  readonly pending: number
  /** Age of the oldest, 0 without any. */
  readonly oldestMs: number
  /** How many are older than they should be. */
  readonly late: number
}

/**
 * Since when this process has waited for the outcome of each settlement. Bounded by the market's pending matches; every
 * question costs what it answers.
 */
export interface Unanswered {
  asked(settlementId: string): void
  answered(settlementId: string): { readonly wasLate: boolean; readonly ageMs: number }
  /** Those that have become late since the last call. */
  takeLate(): { readonly settlementId: string; readonly ageMs: number }[]
  standing(): UnansweredStanding
}

export interface UnansweredOptions {
  readonly lateAfterMs: number
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number
}

export function createUnanswered({ lateAfterMs, elapsedMs }: UnansweredOptions): Unanswered {
  /** Both in the order in which they were asked, so that the oldest comes first. */
  const young = new Map<string, number>()
  const late = new Map<string, number>()
  const age = (sinceMs: number | undefined): number =>
    sinceMs === undefined ? 0 : Math.round(elapsedMs() - sinceMs)
  const oldest = (): number | undefined => {
    const [first] = late.size > 0 ? late.values() : young.values()
    return first
  }
  return {
    asked: (settlementId) => void young.set(settlementId, elapsedMs()),
    answered(settlementId) {
      const ageMs = age(young.get(settlementId) ?? late.get(settlementId))
      young.delete(settlementId)
      return { wasLate: late.delete(settlementId), ageMs }
    },
    takeLate() {
      const found: { settlementId: string; ageMs: number }[] = []
      for (const [settlementId, sinceMs] of young) {
        const ageMs = age(sinceMs)
        if (ageMs < lateAfterMs) break
        found.push({ settlementId, ageMs })
        young.delete(settlementId)
        late.set(settlementId, sinceMs)
      }
      return found
    },
    standing: () => ({
      pending: young.size + late.size,
      oldestMs: age(oldest()),
      late: late.size,
    }),
  }
}
