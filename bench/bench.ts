import type { OwnVenue, OwnVenueOptions } from './own-venue.js'

/** Amount of work: `tiny` only shows that the bench runs, `full` adds the slow parts that the default leaves out. */
export type Size = 'tiny' | 'usual' | 'full'

/** Input of a bench. */
export interface BenchContext {
  readonly size: Size
  /** Measured rounds, after one warm-up round: at least five, two when tiny. */
  readonly rounds: number
  /** An empty directory, deleted afterwards. */
  readonly dir: string
  /** Starts a venue of the bench, which stops it; several benches of the smallest size may share one. */
  readonly startVenue: (options: OwnVenueOptions) => Promise<OwnVenue>
  /** How long a bench lasts that is bounded by time alone; absent: as its size says. */
  readonly hours?: number
  /** Prints progress. */
  readonly say: (line: string) => void
}

/** The goal, in the unit of its row. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** One figure, measured once in every round. */
export interface Row {
  readonly what: string
  /** `x` for a ratio of two figures of one round. */
  readonly unit: string
  readonly values: readonly number[]
  readonly goal?: Goal
}

/** Result of a bench. */
export interface Report {
  readonly rows: readonly Row[]
  /** Explanations of the figures, one sentence each. */
  readonly notes?: readonly string[]
}

/** One measurement of the venue beside its peer. */
export interface Bench {
  readonly name: string
  /** One sentence that names the measured operation and its peer. */
  readonly title: string
  /** Packages whose versions are printed with the figures; `nats-server` and `anvil` report their own. */
  readonly versionsOf: readonly string[]
  /** Rejects when the measured work had a wrong result; a missed goal is reported and is not a failure. */
  readonly run: (context: BenchContext) => Promise<Report>
}

/** A stored report, with the machine and the time of its run. */
export interface KeptReport extends Report {
  readonly name: string
  readonly title: string
  readonly at: string
  readonly size: Size
  readonly tookSec: number
  readonly machine: Readonly<Record<string, string>>
}
