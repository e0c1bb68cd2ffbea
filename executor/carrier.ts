import type { Head } from '../chain/read-head.js'
import type { Address, Hex } from '../core/action.js'
import type { MatchTerms } from './settlement.js'

/** What the chain says to a match; `gas` is what it used. `untried`: the node gave too little gas to find out. */
export type Verdict =
  | { readonly kind: 'passes'; readonly gas: bigint }
  | { readonly kind: 'reverts'; readonly revert: string }
  | { readonly kind: 'untried' }

export interface Trial {
  /** Whether every match that was put ahead went through; else the verdicts are worth nothing. */
  readonly aheadHolds: boolean
  /** By position. */
  readonly verdicts: readonly Verdict[]
}

export interface TriedOut {
  readonly match: MatchTerms
  readonly gas: bigint
}

/** One transaction that carries out the first `count` matches. */
export interface Load {
  readonly count: number
  readonly to: Address
  readonly data: Hex
  readonly gasLimit: bigint
  /** Whether nothing more fits beside them. */
  readonly isFull: boolean
}

/** How matches come to the chain: one in each transaction, or many. */
export interface Carrier {
  /** Matches tried out at once. */
  readonly maxGroup: number
  /** Matches in flight that a trial can be told to assume; 0 when each match is tried out by itself. */
  readonly maxAhead: number
  /**
   * Tries the matches out on the state of a block, where one can on what `ahead` and those before it leave. Rejects
   * with ChainUnreachable.
   */
  try(head: Head, matches: readonly MatchTerms[], ahead: readonly MatchTerms[]): Promise<Trial>
  /** The next transaction for matches that passed, never empty. */
  load(matches: readonly TriedOut[]): Load
}
