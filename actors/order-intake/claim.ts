import { hash } from 'node:crypto'
import type { Market } from '../../core/contracts/market.js'
import type { Command } from '../../core/engine/command.js'
import type { Order } from '../../core/engine/order.js'
import { signedOrderText } from '../../core/entry/read-action.js'
import { actionJsonOf, actionOf } from '../../core/entry/signed-action.js'
import type { Claim } from '../../data/intake-registry.js'

/** A digest of the signed action and the signature; of the empty text when the action cannot be read. */
export const fingerprintOf = (signedText: string | undefined): Uint8Array =>
  hash('sha256', signedText ?? '', 'buffer')

/** The claim that an order of this market made when it was placed. */
export function claimOf(market: Market, order: Order): Claim {
  const { orderId, owner, nonce } = order
  const signed = { json: actionJsonOf(market, order), action: actionOf(market, order) }
  return {
    orderId,
    owner,
    nonce,
    fingerprint: fingerprintOf(signedOrderText(signed, order.signature)),
  }
}

/** The orders that a command brings into its market, each with a claim of its own. */
export const ordersOf = (command: Command): readonly Order[] =>
  command.kind === 'PlaceOrder' ? [command.order] : []
