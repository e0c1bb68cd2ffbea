import type { Hex } from '../core/action.js'
import type { LanePolicy } from './lane-policy.js'
import type { Receipt } from './read-receipt.js'
import type { Inclusion } from './transaction-journal.js'

/** How often in a row the chain contradicted what is known, and when it last did. */
export interface Doubt {
  readonly times: number
  readonly atMs: number
}

export const NO_DOUBT: Doubt = { times: 0, atMs: 0 }

/** What is known of a transaction before a look at the chain. */
export interface KnownTransaction {
  readonly evmNonce: number
  /** Where the journal has it; absent while it is open. */
  readonly mined?: Inclusion | undefined
  /** A stranger's transaction that was found at its nonce. */
  readonly consumer?: Inclusion | undefined
  readonly doubt: Doubt
}

/** What one look saw of the chain. */
export interface ChainView {
  /** Of the process's monotonic clock. */
  readonly nowMs: number
  readonly head: bigint
  /** A later block than the head was seen before: the node may only be late. */
  readonly behind: boolean
  /** Blocks up to this height cannot be lost. */
  readonly finalHeight: bigint
  /** Nonces of the key that the head has used. */
  readonly count: number
  /** Hashes by height; undefined where there is no block, absent where nobody asked. */
  readonly blocks: ReadonlyMap<bigint, Hex | undefined>
  /** By nonce, of the transactions whose nonce is used. */
  readonly receipts: ReadonlyMap<number, Receipt>
}

/** What is to be done about a transaction. */
export type FollowStep =
  /** Nothing but to look again. */
  | { readonly kind: 'keep' }
  | { readonly kind: 'mined'; readonly receipt: Receipt }
  | { readonly kind: 'final' }
  /** The chain has lost it. `late`: the head is lower than one seen before. */
  | { readonly kind: 'reopen'; readonly late: boolean }
  /** Its nonce is used, and not by it: find out by what. */
  | { readonly kind: 'search' }
  | { readonly kind: 'displaced'; readonly by: Inclusion }
  /** The chain has lost the stranger's transaction. */
  | { readonly kind: 'forget consumer' }

export interface FollowVerdict {
  readonly step: FollowStep
  readonly doubt: Doubt
}

const KEEP = { kind: 'keep' } as const

/**
 * Decides by one look what has become of a transaction. What was mined is believed at once; what is denied must be denied
 * again and again, since one node of several may be late or on a branch that loses.
 */
export function followTransaction(
  known: KnownTransaction,
  view: ChainView,
  policy: LanePolicy,
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

interface Judging {
  readonly view: ChainView
  readonly policy: LanePolicy
}

function followMined(known: Doubt, mined: Inclusion, { view, policy }: Judging): FollowVerdict {
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

function followConsumer(known: Doubt, by: Inclusion, { view, policy }: Judging): FollowVerdict {
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

/** Whether the chain has the block. A node that has none at that height may only be late. */
function standing({ blockNumber, blockHash }: Inclusion, { blocks }: ChainView) {
  if (!blocks.has(blockNumber)) return 'unasked'
  const found = blocks.get(blockNumber)
  if (found === undefined) return 'absent'
  return found === blockHash ? 'stands' : 'contradicted'
}

/** One more contradiction, unless the last one is too recent to count as another. */
export function raiseDoubt(
  doubt: Doubt,
  nowMs: number,
  { doubtEveryMs }: Pick<LanePolicy, 'doubtEveryMs'>,
): Doubt {
  if (doubt.times > 0 && nowMs - doubt.atMs < doubtEveryMs) return doubt
  return { times: doubt.times + 1, atMs: nowMs }
}
