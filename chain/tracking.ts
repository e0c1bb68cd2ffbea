import type { Address } from '../core/action.js'
import type { Doubt } from './follow-transaction.js'
import type { FollowedTransactions } from './followed-transactions.js'
import type { GasReserve } from './gas-reserve.js'
import type { ChainHead, LaneChain } from './lane-chain.js'
import type { Frozen, LaneFacts } from './lane-facts.js'
import type { LanePolicy } from './lane-policy.js'
import type { OutcomesOf } from './mining-outcomes.js'
import type { NonceLane } from './nonce-lane.js'
import type { ResultWaiters } from './result-waiters.js'
import type { TransactionJournal } from './transaction-journal.js'

export interface TrackerOptions {
  readonly journal: TransactionJournal
  readonly nonces: NonceLane
  readonly chain: LaneChain
  readonly policy: LanePolicy
  readonly outcomesOf?: OutcomesOf
  readonly reserve: GasReserve
  /** Passes when the chain is still the right one; rejects with ChainUnreachable when that cannot be said. */
  readonly verifyChain?: () => Promise<void>
  /** Milliseconds of a clock that only rises. */
  readonly nowMs: () => number
  readonly facts: LaneFacts
  /** Called when the journal fails or an invariant breaks: nothing more can be promised then. */
  readonly onFatal: (error: unknown) => void
}

/** What the tracker of one key remembers from look to look; the looks alone change it. */
export interface Tracking extends TrackerOptions {
  readonly address: Address
  readonly followed: FollowedTransactions
  readonly waiters: ResultWaiters
  /** Of the last look that came to its end. */
  head?: ChainHead
  /** Nonces used at that head. */
  count: number
  /** The most nonces that were ever seen used, and when they came to be so many. */
  mostUsed: number
  progressMs: number
  /** When the chain was last looked at. */
  lookedMs: number
  /** The highest block seen. */
  highest: bigint
  /** That nonces are used which nobody here has claimed. */
  strangers: Doubt
  /** That nonces are missing, in the journal or on the chain. */
  missing: Doubt
  frozen?: Frozen
  /** When the chain was last seen to be the right one; undefined since it was silent. */
  verifiedMs?: number | undefined
  gasLow: boolean
  reachable: boolean
  answeredAtMs: number
}
