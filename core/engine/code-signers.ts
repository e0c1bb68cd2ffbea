import type { Address } from '../action.js'
import { CODE_SIGNERS_MAX } from '../model/limits.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Order } from '../model/order.js'
import type { MatcherState } from './state.js'

// Which orders are signed by code: a contract, or a key that delegates to one.

/** Notes that the signer is code. The longest known is forgotten first. */
export function noteCodeSigner({ codeSigners }: MatcherState, signer: Address): void {
  codeSigners.add(signer)
  const [oldest] = codeSigners
  if (codeSigners.size > CODE_SIGNERS_MAX && oldest !== undefined) codeSigners.delete(oldest)
}

/** Whether the order's signer is code: as its signature was checked, or as a failed match has shown since. */
export const isByCode = ({ codeSigners }: MatcherState, { order }: LiveOrder) =>
  order.signedByCode === true || (codeSigners.size > 0 && codeSigners.has(order.signer))

/** The order as it is placed: what is known of its signer is part of it, and outlasts the list of signers. */
export const asSigned = ({ codeSigners }: MatcherState, order: Order): Order =>
  order.signedByCode === undefined && codeSigners.size > 0 && codeSigners.has(order.signer)
    ? { ...order, signedByCode: true }
    : order

/** Notes of a live order that its signer is code. */
export function markByCode(state: MatcherState, live: LiveOrder): void {
  if (live.order.signedByCode === true) return
  state.capture?.keep(live)
  live.order = { ...live.order, signedByCode: true }
  state.windows.orders += 1
}
