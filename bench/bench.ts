/** How much a bench does: `tiny` proves that it runs, `full` takes what the usual one leaves out for its time. */
export type Size = 'tiny' | 'usual' | 'full'

/** What a bench is given. */
export interface BenchContext {
  readonly size: Size
  /** Rounds that count, after one that does not: at least five, two when tiny. */
  readonly rounds: number
  /** An empty directory, deleted afterwards. */
  readonly dir: string
  /** Says how far it is, to whoever watches. */
  readonly say: (line: string) => void
}

/** What has to be reached, in the unit of its row. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** One figure, measured once in every round. */
export interface Row {
  readonly what: string
  /** `x` for a ratio of two figures of one round. */
  readonly unit: string
  readonly values: readonly number[]
  readonly goal?: Goal
}

/** What came of a bench. */
export interface Report {
  readonly rows: readonly Row[]
  /** What a reader has to know beside the figures, a sentence each. */
  readonly notes?: readonly string[]
}

/** One measurement of the venue beside its peer. */
export interface Bench {
  readonly name: string
  /** One sentence: what is compared with what. */
  readonly title: string
  /** Packages whose versions are told with the figures; `nats-server` and `anvil` are asked for theirs. */
  readonly versionsOf: readonly string[]
  /** Rejects when what was measured was not right; a missed goal is told and is no failure. */
  readonly run: (context: BenchContext) => Promise<Report>
}

/** Reports as they are kept, with where and when they were made. */
export interface KeptReport extends Report {
  readonly name: string
  readonly title: string
  readonly at: string
  readonly size: Size
  readonly tookSec: number
  readonly machine: Readonly<Record<string, string>>
}
