import type { Address } from '../core/action.js'
import type {
  Attempt,
  Inclusion,
  MinedTransaction,
  OpenTransaction,
  Reversal,
} from './transaction-journal.js'

/** What the chain did with one intent of a transaction. */
export interface MinedIntent {
  readonly intentId: string
  readonly result: MinedTransaction
}

/** Why a lane takes no further nonce until its process is started again. */
export interface Frozen {
  readonly evmNonce: number
  /** The stranger's transaction. */
  readonly by: Inclusion
}

/** What a lane tells its operator; each is called at once, and what throws ends the lane. */
export interface LaneFacts {
  /** Who sends, and where from the nonces go on. */
  readonly laneOpened: (lane: { address: Address; minedNonces: number; open: number }) => void
  readonly waitingForChain: (cause: Error) => void
  /** The bytes are on disk, and go out next. */
  readonly journaled: (transaction: OpenTransaction) => void
  readonly broadcast: (transaction: OpenTransaction) => void
  readonly broadcastUnclear: (transaction: OpenTransaction, cause: Error) => void
  /** What became of each intent; nothing for a transaction that only used its nonce. */
  readonly mined: (transaction: OpenTransaction, intents: readonly MinedIntent[]) => void
  /** The chain forgot transactions that it had mined; they are open again. */
  readonly reopened: (count: number) => void
  /** An outcome that was recorded before is not true any more. */
  readonly reversed: (reversal: Reversal) => void
  /** It was not mined for too long, and goes out again with higher fees. */
  readonly replaced: (transaction: OpenTransaction, attempt: Attempt) => void
  /** Told once: it is not mined, and its fees are not raised any further. Somebody has to look. */
  readonly feesExhausted: (transaction: OpenTransaction) => void
  /** A nonce that nothing of ours holds stood before ours, and is used by a transaction that does nothing. */
  readonly gapFilled: (transaction: OpenTransaction) => void
  /** A nonce of ours was used, and nothing is found that used it. */
  readonly nonceUnexplained: (evmNonce: number) => void
  /** A stranger has our key, or a second executor runs. Somebody has to look. */
  readonly frozen: (frozen: Frozen) => void
  /** A stranger's transaction is final at its nonce: its intents are free again. */
  readonly displaced: (transaction: OpenTransaction, by: Inclusion) => void
  /** The sender holds less gas money than it should, in wei. */
  readonly gasLow: (balanceWei: bigint, reserveWei: bigint) => void
  readonly gasBack: () => void
  readonly chainLost: (cause: Error) => void
  readonly chainBack: () => void
}
