import type { Hex } from '../../core/action.js'
import type { MinedReceipt } from './sender-chain.js'
import type { Inclusion } from '../../core/transaction-journal.js'

/** How often in a row the chain contradicted the journal, and when it last did. */
export interface Doubt {
  readonly times: number
  readonly atMs: number
}

export const NO_DOUBT: Doubt = { times: 0, atMs: 0 }

/** What is known of a transaction before a poll of the chain. */
export interface KnownTransaction {
  readonly evmNonce: number
  /** The block that the journal has it in; absent while it is open. */
  readonly mined?: Inclusion | undefined
  /** A foreign transaction found at its nonce. */
  readonly consumer?: Inclusion | undefined
  readonly doubt: Doubt
}

/** What one poll read from the chain. */
export interface ChainView {
  /** Milliseconds of the process's monotonic clock. */
  readonly nowMs: number
  readonly head: bigint
  /** Whether a later block was seen before; then the node may only be behind the others. */
  readonly behind: boolean
  /** Blocks up to this height are final. */
  readonly finalHeight: bigint
  /** How many nonces of the key are used at the head. */
  readonly count: number
  /** Hashes by height; undefined where the chain has no block, absent where none was requested. */
  readonly blocks: ReadonlyMap<bigint, Hex | undefined>
  /** Receipts by nonce, of transactions whose nonce is used. */
  readonly receipts: ReadonlyMap<number, MinedReceipt>
}

/** What to do about a transaction. */
export type FollowStep =
  /** Nothing; poll again. */
  | { readonly kind: 'keep' }
  | { readonly kind: 'mined'; readonly receipt: MinedReceipt }
  | { readonly kind: 'final' }
  /** The chain has lost it. `late`: the node lacks a block of its height. */
  | { readonly kind: 'reopen'; readonly late: boolean }
  /** Its nonce is used by another transaction: find out which. */
  | { readonly kind: 'search' }
  | { readonly kind: 'displaced'; readonly by: Inclusion }
  /** The chain has lost the foreign transaction. */
  | { readonly kind: 'forget consumer' }

export interface FollowVerdict {
  readonly step: FollowStep
  readonly doubt: Doubt
}

const KEEP = { kind: 'keep' } as const

/**
 * Decides what became of a transaction from one poll. A receipt counts at once. A contradiction must be repeated,
 * because one node of several may be behind or on another branch.
 */
export function followTransaction(
  known: KnownTransaction,
  view: ChainView,
  policy: SenderPolicy,
): FollowVerdict {
  if (known.mined !== undefined) return followMined(known.doubt, known.mined, { view, policy })
  const receipt = view.receipts.get(known.evmNonce)
  if (receipt !== undefined) {
    if (standing(receipt, view) !== 'stands') return { step: KEEP, doubt: known.doubt }
    return { step: { kind: 'mined', receipt }, doubt: NO_DOUBT }
  }
  if (known.consumer !== undefined) {
    return followConsumer(known.doubt, known.consumer, { view, policy })
  }
  if (known.evmNonce >= view.count) return { step: KEEP, doubt: NO_DOUBT }
  const doubt = raiseDoubt(known.doubt, view.nowMs, policy)
  if (doubt.times < policy.contradictions) return { step: KEEP, doubt }
  return { step: { kind: 'search' }, doubt: NO_DOUBT }
}

interface FollowCase {
  readonly view: ChainView
  readonly policy: SenderPolicy
}

function followMined(known: Doubt, mined: Inclusion, { view, policy }: FollowCase): FollowVerdict {
  const found = standing(mined, view)
  if (found === 'unasked') return { step: KEEP, doubt: known }
  if (found === 'stands') {
    const step = mined.blockNumber <= view.finalHeight ? ({ kind: 'final' } as const) : KEEP
    return { step, doubt: NO_DOUBT }
  }
  const doubt = raiseDoubt(known, view.nowMs, policy)
  const late = found === 'absent'
  if (doubt.times < (late ? policy.absences : policy.contradictions)) return { step: KEEP, doubt }
  return { step: { kind: 'reopen', late }, doubt: NO_DOUBT }
}

function followConsumer(known: Doubt, by: Inclusion, { view, policy }: FollowCase): FollowVerdict {
  const found = standing(by, view)
  if (found === 'unasked') return { step: KEEP, doubt: known }
  if (found === 'stands') {
    const final = by.blockNumber <= view.finalHeight
    return { step: final ? { kind: 'displaced', by } : KEEP, doubt: NO_DOUBT }
  }
  const doubt = raiseDoubt(known, view.nowMs, policy)
  const needed = found === 'absent' ? policy.absences : policy.contradictions
  if (doubt.times < needed) return { step: KEEP, doubt }
  return { step: { kind: 'forget consumer' }, doubt: NO_DOUBT }
}

/** Whether the chain has the block. A node without any block at that height may only be behind. */
function standing({ blockNumber, blockHash }: Inclusion, { blocks }: ChainView) {
  if (!blocks.has(blockNumber)) return 'unasked'
  const found = blocks.get(blockNumber)
  if (found === undefined) return 'absent'
  return found === blockHash ? 'stands' : 'contradicted'
}

/** Counts a contradiction, unless the last one is too recent. */
export function raiseDoubt(
  doubt: Doubt,
  nowMs: number,
  { doubtEveryMs }: Pick<SenderPolicy, 'doubtEveryMs'>,
): Doubt {
  if (doubt.times > 0 && nowMs - doubt.atMs < doubtEveryMs) return doubt
  return { times: doubt.times + 1, atMs: nowMs }
}

/** When a sender changes the journal, sends again and raises fees; times in milliseconds. */
export interface SenderPolicy {
  /** Pause between two polls of the chain; four times as long while no transaction is open. */
  readonly pollMs: number
  /** The shortest time between two contradictions that both count. */
  readonly doubtEveryMs: number
  /** So many contradictions in a row change the journal. */
  readonly contradictions: number
  /** The same where the node only lacks the block, as one that is behind the others does. */
  readonly absences: number
  /** A block is final under so many blocks, or when the node reports it as finalized. */
  readonly finality: { readonly depth: bigint } | 'finalized'
  /** Pause between two broadcasts of a transaction that is not mined. */
  readonly rebroadcastMs: number
  /** A transaction that was not mined for so long, while blocks were, is signed again with higher fees. */
  readonly stuckMs: number
  /** Pause between two checks that the node is still on the right chain. */
  readonly verifyEveryMs: number
  /** The highest fee is raised to at most this multiple of the suggested one. */
  readonly feeMultiple: bigint
}

export const SENDER_POLICY: SenderPolicy = {
  // Well below the block time, well above a round trip to the node.
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
