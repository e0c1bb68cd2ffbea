import type { OrderRecord } from '../../client/index.js'
import { cancelReasons, type CancelReason, type Reason } from '../../interface/reasons.js'
import { recordRow } from './row-state.js'

const CANCELS: Readonly<Record<string, Reason | undefined>> = cancelReasons
/** Reasons of the venue for what the owner has asked for; other words are the owner's own. */
const WISHED: ReadonlySet<string> = new Set<CancelReason>(['unspecified', 'replaced'])

/** What a toast says of an order. */
export interface ToastText {
  readonly text: string
  readonly kind: 'busy' | 'good' | 'bad'
  /** Nothing follows. */
  readonly isOver: boolean
}

/** By its record; only what is settled counts as filled. An order that ended with nothing filled, by no wish of its owner, went badly. */
export function orderProgress(record: OrderRecord): ToastText {
  const { state, settledBps, pendingBps, reason } = recordRow(record)
  const part = settledBps === 0n ? '' : `, ${settledBps / 100n} % filled`
  switch (state) {
    case 'filled':
      return { text: 'filled', kind: 'good', isOver: true }
    case 'cancelled':
    case 'expired': {
      const known = CANCELS[reason ?? '']
      const isUnfilled = settledBps === 0n && pendingBps === 0n
      const isBad = known !== undefined && !WISHED.has(reason ?? '') && isUnfilled
      const why = reason === undefined ? '' : `, ${known?.means ?? reason}`
      return { text: `${state}${part}${why}`, kind: isBad ? 'bad' : 'good', isOver: true }
    }
    case 'held':
      return { text: `held, ${reason ?? 'no reason given'}`, kind: 'bad', isOver: false }
    case 'open':
      return { text: `open${part}`, kind: 'good', isOver: false }
    default:
      return { text: `${state} …`, kind: 'busy', isOver: false }
  }
}
