import type { Order } from '../../core/order.js'
import type { Refusal } from '../../core/refusals.js'
import { validateOrder } from '../../core/validate-order.js'
import { aFuture, aMarket, aPerp } from './builders.js'

/** 2026-01-01, before everything the builders sign expires. */
export const checkTimeMs = 1_767_225_600_000

/** The markets against which test bodies are checked: one of each kind, and one that is not enabled. */
export const checkMarkets = [
  aMarket(),
  aPerp(),
  aFuture(),
  aMarket({ market: 'OFF', ordinal: 9, enabled: false, assetAddress: `0x${'c9'.repeat(20)}` }),
]

const context = { markets: checkMarkets, nowMs: checkTimeMs }

/** The order that a body is accepted as; throws with the refusal's text when it is not. */
export function accepted(body: unknown): Order {
  const result = validateOrder(body, context)
  if ('refusal' in result) throw new Error(`refused: ${result.refusal.message}`)
  return result.order
}

/** The refusal of a body; throws when it is accepted. */
export function refused(body: unknown): Refusal {
  const result = validateOrder(body, context)
  if (!('refusal' in result)) throw new Error(`accepted: ${result.order.orderId}`)
  return result.refusal
}
