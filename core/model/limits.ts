/** Bounds of one market's matching; the unit stands last in each name. */

/** A step matches at most this many counterparts, then goes on by ContinueOrder (MAT-011). */
export const SWEEP_MAX_MATCHES = 200
/** A step carries out at most this many due deadlines; the shell sends the next tick at once. */
export const DEADLINES_MAX_PER_STEP = 100
/**
 * A block is closed after the command with which its changes reach this weight, about their bytes on the bus. With
 * the longest order ids a single command adds at most half a megabyte, so a block stays below the bus's 1 MiB.
 */
export const BLOCK_CLOSES_AT_WEIGHT = 250_000
/** Orders that a market keeps live at once; beyond it an order is stored as cancelled. */
export const LIVE_ORDERS_MAX = 200_000
/** Matches awaiting settlement at once; beyond it incoming orders wait hidden. */
export const PENDING_MATCHES_MAX = 20_000
/** An order is not matched in its last seconds, because the chain compares with block time (MAT-034). */
export const EXPIRY_MARGIN_MS = 10_000
/** How long an order is held back after a refused settlement (SET-018). */
export const REFUSAL_HOLD_MS = 30_000
/** Refusals after which an order is cancelled, if the last is far enough from the first (SET-019). */
export const REFUSALS_MAX = 3
export const REFUSALS_SPAN_MS = 60_000
/**
 * How long two signers do not match after a match of theirs failed without proof against either, at first and at most
 * (SET-026); after how long without another failure they begin anew.
 */
export const PAIR_WAIT_MS = 30_000
export const PAIR_WAIT_MAX_MS = 3_600_000
export const PAIR_FORGOTTEN_MS = 2 * PAIR_WAIT_MAX_MS
/** After so long an order that is hidden for such a pair looks whether it still crosses the other. */
export const PAIR_HIDDEN_MS = 10_000
/**
 * How many orders of such pairs an incoming order passes over at most; it meets none after them. After so many in all, a step
 * carries out no further deadline.
 */
export const PASSED_OVER_MAX = 100
export const PASSED_OVER_MAX_PER_STEP = 1_000
/** Such pairs at once; the one that failed longest ago is forgotten first. */
export const FAILED_PAIRS_MAX = 65_536
/** Signers that are known to be code. */
export const CODE_SIGNERS_MAX = 65_536
/** Windows of signers that are code, of which something is known (code-windows.ts); as many signers. */
export const CODE_WINDOWS_MAX = 65_536
/** Matches that a window may have in flight at most. */
export const WINDOW_SIZE_MAX = 1_000
/**
 * Credit that allows one more match in flight, in gas costs of the match that settled last: one that code has signed travels
 * alone and may cost about three times as much, and gas may get dearer meanwhile.
 */
export const WINDOW_GAS_RESERVE = 4n
/** How long a window is closed after its first failure, by how much longer after each further one, and how long at most. */
export const WINDOW_CLOSED_MS = 10_000
export const WINDOW_CLOSED_FACTOR = 4
export const WINDOW_CLOSED_MAX_MS = 86_400_000
/** With this many that are proven the live orders of the window end. */
export const WINDOW_FAILURES_MAX = 3
/** Failures are forgotten so long after the last one: a day or more after the window has opened again. */
export const WINDOW_FORGOTTEN_MS = 2 * WINDOW_CLOSED_MAX_MS
/** Matches in flight of all windows of a market that have not grown. */
export const TRIALS_MAX = 8
/** Points that they may lose in an hour, and what a failure costs: 60 mined matches. */
export const TRIAL_POINTS_PER_HOUR = 600
export const TRIAL_POINTS_ON_CHAIN = 10
export const TRIAL_POINTS_IN_SIMULATION = 1
export const TRIALS_HOUR_MS = 3_600_000
/** An owner with this many live orders places no further one that such a window signs. */
export const UNGROWN_ORDERS_MAX = 20
/**
 * After how long an order without room looks again: at least, and for each live order of its owner if its window has grown, of
 * the market that code has signed otherwise.
 */
export const SIGNER_POLL_MIN_MS = 1_000
export const SIGNER_POLL_MS_PER_ORDER = 10
/** How long a market is first held for a fault of the chain, and at most (SET-034). */
export const FAULT_HOLD_MS = 5_000
export const FAULT_HOLD_MAX_MS = 60_000
/** How long an incoming order waits when too many matches are pending. */
export const CONGESTION_HOLD_MS = 1_000
/** Orders that leave or return in one step because their account changed; the shell sends the next tick at once. */
export const REVIEWED_MAX_PER_STEP = 50
/** Orders that one step cancels because their market was disabled; the shell sends the next tick at once. */
export const CANCELLED_MAX_PER_STEP = 200
/** Weight, about the bytes in a block, of the orders that one step cancels together; the next steps do the rest. */
export const CANCEL_ROOM_PER_STEP = 450_000
/** How much of it a command that cancels many keeps for itself while earlier cancels go on. */
export const CANCEL_ROOM_OF_COMMAND = 300_000
/** Leases of a market at once. */
export const LEASES_MAX = 100_000
/** Refused orders of a market whose repeat gets the same answer; the oldest are forgotten first. */
export const REFUSED_ORDERS_MAX = 10_000
/** Reversals applied while an earlier one is not. */
export const REVERSALS_BEYOND_MAX = 1_000
/** Accounts without live orders that are remembered. */
export const ACCOUNTS_IDLE_MAX = 10_000
/** Depth of reorganisation up to which settled moves are remembered. */
export const REORG_BLOCKS = 64n
/** Blocks with settlements remembered for one account; beyond it the oldest two are merged. */
export const SETTLED_BLOCKS_MAX = 256

/**
 * How far `seq` and the number of trades go ahead when a market is restored with a gap: beyond every change that was published
 * and is lost, so that no `seq`, settlement or trade id means two things.
 */
export const RESTORED_SEQ_JUMP = 1_000_000_000

/** How far the clock of a log may be off the one of the chain, in either direction, in milliseconds. */
export const CLOCK_OFF_MAX_MS = 60_000
/**
 * A tick is due after so long without a command, in milliseconds: half of how far a command may be ahead, so that time in an idle
 * log goes on in steps that are trusted.
 */
export const TICK_AFTER_MS = CLOCK_OFF_MAX_MS / 2

/** How often facts of a market without orders that have not changed are logged, in milliseconds. */
export const FACTS_REPEATED_MS = 30_000
/** By how much the facts of a market without orders may be older than with them: the log may lack the reads of half a minute. */
export const FACTS_SPARE_MS = FACTS_REPEATED_MS + 10_000
