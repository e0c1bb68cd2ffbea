import type { OrderRecord } from '../../client/index.js'
import { readOrZero } from './numbers.js'

/** Where an own order stands, for its row: before the venue has it, what the page knows; from then on, what its record says. */
export type RowStage =
  | { readonly stage: 'signing' }
  | { readonly stage: 'sending' }
  | { readonly stage: 'refused'; readonly code: string; readonly words: string }
  /** No answer: the same bytes are sent again. */
  | { readonly stage: 'unknown' }

export type RowState =
  | 'signing'
  | 'sending'
  | 'unknown'
  | 'refused'
  | 'open'
  | 'held'
  | 'matching'
  | 'settling'
  | 'filled'
  | 'cancelled'
  | 'expired'

export interface RowView {
  readonly state: RowState
  /** Why, as the venue's code; absent where there is nothing to say. */
  readonly reason?: string
  /** Whether it can be cancelled, and so edited. */
  readonly isLive: boolean
  /** Share that the chain has settled, and share that waits for it, in basis points of the amount, rounded down. */
  readonly settledBps: bigint
  readonly pendingBps: bigint
}

const NOTHING = { settledBps: 0n, pendingBps: 0n } as const

/** The row of an order that the venue may not have yet. */
export function sentRow(sent: RowStage): RowView {
  const reason = sent.stage === 'refused' ? { reason: sent.code } : {}
  return { state: sent.stage, isLive: false, ...reason, ...NOTHING }
}

/** What the row needs of a record. */
export type RowRecord = Pick<
  OrderRecord,
  'status' | 'desired_amount' | 'filled_amount' | 'pending_amount' | 'held_reason' | 'cancel_reason'
>

/** The row of an order by its record. Only what is settled counts as filled. */
export function recordRow(record: RowRecord): RowView {
  const amount = readOrZero(record.desired_amount)
  const pending = readOrZero(record.pending_amount)
  const shares = {
    settledBps: shareBps(readOrZero(record.filled_amount), amount),
    pendingBps: shareBps(pending, amount),
  }
  const isLive = record.status === 'active' || record.status === 'matching'
  const reason = isLive ? record.held_reason : record.cancel_reason
  return {
    state: stateOf(record, pending),
    isLive,
    ...shares,
    ...(reason !== undefined && reason !== '' && { reason }),
  }
}

function stateOf({ status, held_reason: held }: RowRecord, pending: bigint): RowState {
  if (status === 'active') return held === undefined ? 'open' : 'held'
  if (status === 'matching') return 'matching'
  // It has ended, and the chain still decides on some of its matches.
  return pending > 0n ? 'settling' : status
}

const shareBps = (part: bigint, whole: bigint): bigint =>
  whole === 0n ? 0n : (part * 10_000n) / whole
