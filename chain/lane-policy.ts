/** How a lane weighs what the chain tells it; times in milliseconds. */
export interface LanePolicy {
  /** Pause between two looks at the chain. */
  readonly pollMs: number
  /** Pause between two answers that count as separate. */
  readonly doubtEveryMs: number
  /** So many answers in a row must contradict what is recorded before it changes. */
  readonly contradictions: number
  /** The same where the node only lacks what is recorded, as one does that is behind the others. */
  readonly absences: number
  /** When a block counts as one that the chain cannot lose: so many blocks on top of it, or the chain's own word. */
  readonly finality: { readonly depth: bigint } | 'finalized'
  /** The same bytes go out again this long after the last time, as long as they are not mined. */
  readonly rebroadcastMs: number
  /** Not mined for so long, while blocks are, a transaction is sent with higher fees. */
  readonly stuckMs: number
  /** The chain is asked so often whether it is still the right one. */
  readonly verifyEveryMs: number
  /** Fees are raised to this multiple of the suggested ones at most. */
  readonly feeMultiple: bigint
}

export const LANE_POLICY: LanePolicy = {
  // A quarter of a second is little beside a block and much beside a question.
  pollMs: 250,
  doubtEveryMs: 2_000,
  contradictions: 3,
  absences: 5,
  finality: { depth: 12n },
  rebroadcastMs: 10_000,
  stuckMs: 12_000,
  verifyEveryMs: 3_600_000,
  feeMultiple: 5n,
}
