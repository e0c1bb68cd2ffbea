import type { Market } from './market.js'
import type { Order } from './order.js'
import type { Refusal } from './refusals.js'

/** What the checks need to know besides the body. */
export interface ValidationContext {
  readonly markets: readonly Market[]
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** Digest-free identity of a body whose required fields are there: what the duplicate check asks for first (C8). */
export interface ClaimedIdentity {
  readonly orderId: string
  readonly owner: string
  readonly nonce: string
}

/**
 * Checks a submitted order body against its market, in the order of decision C8, up to and including the decoded
 * data; custody, signature and uniqueness are asked of the world by the intake. Pure.
 */
export function validateOrder(
  body: unknown,
  context: ValidationContext,
): { readonly order: Order; readonly market: Market } | { readonly refusal: Refusal } {
  throw new Error(`validateOrder ${typeof body} ${context.nowMs}`)
}
