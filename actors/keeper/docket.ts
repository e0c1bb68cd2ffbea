import { isDeepStrictEqual } from 'node:util'
import { isOfMarket, JOBS, type Duty, type Job } from '../../core/contracts/upkeep.js'

/** A duty with the contracts that it belongs to. */
export interface ScopedDuty<Task> extends Duty<Task> {
  /** Names the contracts: their asset and manager. */
  readonly scope: string
}

/** A job of which a duty has not been done in time. */
export interface LateJob {
  readonly job: Job
  /** How long its oldest duty has been due. */
  readonly sinceSec: number
  /** Why the newest attempt came to nothing; absent where none has. */
  readonly why?: string
}

/**
 * What is due, since when, and why it was not done. Forgets what is not due any more: it is bounded by what one block
 * shows. All times are unix seconds of the chain.
 */
export class Docket<Task> {
  private entries = new Map<string, DocketEntry<Task>>()
  private atSec = 0
  private attempts = 0

  /** The newest block is of this time: what is due ages, also where it cannot be read again. */
  passed(atSec: number): void {
    this.atSec = atSec
  }

  /** All duties of these contracts at the newest block, in place of those before; each is known by its subject and job. */
  observe(scope: string, duties: readonly Duty<Task>[], atSec: number): void {
    const before = this.entries
    this.atSec = atSec
    const others = [...before].filter(([, { duty }]) => duty.scope !== scope)
    const seen = duties.map((duty) => {
      const key = keyOf({ ...duty, scope })
      const last = before.get(key)
      // Due since later than the last look knew, it was done and became due anew.
      const known = last !== undefined && (duty.sinceSec ?? 0) <= last.sinceSec ? last : undefined
      const sinceSec = duty.sinceSec ?? known?.sinceSec ?? atSec
      return [key, { ...known, duty: { ...duty, scope }, sinceSec }] as const
    })
    this.entries = new Map([...others, ...seen])
  }

  /**
   * Those that may be tried: what is done once for a market before what is done for accounts, which may be many. Of each those
   * that were not tried yet, the nearest to being late first, and then the others, the one whose last attempt is longest ago
   * first: what is refused for ever hides nothing.
   */
  ready(isBusy: (duty: ScopedDuty<Task>) => boolean): readonly ScopedDuty<Task>[] {
    const slack = ({ duty, sinceSec }: DocketEntry<Task>) => sinceSec + JOBS[duty.job]
    const turn = ({ duty }: DocketEntry<Task>) => (isOfMarket(duty.job) ? 0 : 1)
    const tried = ({ triedAs = 0 }: DocketEntry<Task>) => triedAs
    return [...this.entries.values()]
      .filter(({ notBeforeSec = 0 }) => notBeforeSec <= this.atSec)
      .sort((a, b) => turn(a) - turn(b) || tried(a) - tried(b) || slack(a) - slack(b))
      .map(({ duty }) => duty)
      .filter((duty) => !isBusy(duty))
  }

  /** The attempt came to nothing, and costs nothing to repeat: it is tried again at the next block. */
  refused(duty: ScopedDuty<Task>, why: string): void {
    this.attempts += 1
    this.change(duty, () => ({ why, triedAs: this.attempts }))
  }

  /**
   * A transaction for it was mined and reverted, or the node does not answer what it asks: each further failure doubles the
   * time until the next attempt.
   */
  failed(duty: Pick<ScopedDuty<Task>, 'scope' | 'subject' | 'job'>, why: string): void {
    this.attempts += 1
    this.change(duty, ({ failures = 0 }) => ({
      why,
      triedAs: this.attempts,
      failures: failures + 1,
      notBeforeSec: this.atSec + Math.min(FIRST_REST_SEC * 2 ** failures, LONGEST_REST_SEC),
    }))
  }

  sent(duty: ScopedDuty<Task>): void {
    this.change(duty, () => ({ sent: duty.task }))
  }

  /** The transaction for it succeeded. Where the same task is due nevertheless, that has done nothing: it rests. */
  succeeded(duty: Pick<ScopedDuty<Task>, 'scope' | 'subject' | 'job'>): void {
    const restSec = duty.job === 'variation' ? VARIATION_REST_SEC : FIRST_REST_SEC
    this.change(duty, ({ sent, duty: { task } }) =>
      isDeepStrictEqual(sent, task) ? { notBeforeSec: this.atSec + restSec } : {},
    )
  }

  /** The jobs that are late, each once. */
  late(): readonly LateJob[] {
    const byJob = new Map<Job, LateJob>()
    for (const { duty, sinceSec: dueSec, why } of this.entries.values()) {
      const { job } = duty
      const sinceSec = this.atSec - dueSec
      if (sinceSec <= JOBS[job] || sinceSec <= (byJob.get(job)?.sinceSec ?? 0)) continue
      byJob.set(job, { job, sinceSec, ...(why !== undefined && { why }) })
    }
    return [...byJob.values()]
  }

  private change(
    duty: Pick<ScopedDuty<Task>, 'scope' | 'subject' | 'job'>,
    next: (entry: DocketEntry<Task>) => Partial<DocketEntry<Task>>,
  ): void {
    const entry = this.entries.get(keyOf(duty))
    if (entry !== undefined) this.entries.set(keyOf(duty), { ...entry, ...next(entry) })
  }
}

/** After a transaction that reverted, or left its duty due. */
const FIRST_REST_SEC = 10
/** Debts are due at the mark, and paid as far as they are accrued: without a move of either a call pays nothing. */
const VARIATION_REST_SEC = 300
const LONGEST_REST_SEC = 600

interface DocketEntry<Task> {
  readonly duty: ScopedDuty<Task>
  readonly sinceSec: number
  readonly why?: string
  /** Counts attempts of all duties; absent where none has come to nothing. */
  readonly triedAs?: number
  /** What the newest transaction for it did; absent where none was sent since it became due. */
  readonly sent?: Task
  readonly failures?: number
  readonly notBeforeSec?: number
}

const keyOf = ({ scope, subject, job }: Pick<Duty, 'subject' | 'job'> & { scope: string }) =>
  `${scope}/${subject}/${job}`
