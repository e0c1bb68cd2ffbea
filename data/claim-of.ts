import { hash } from 'node:crypto'
import type { Market } from '../core/contracts/market.js'
import type { Tombstone } from '../core/engine/change.js'
import type { Order } from '../core/engine/order.js'
import { signedOrderText } from '../core/entry/read-action.js'
import { actionJsonOf, actionOf } from '../core/entry/signed-action.js'
import type { Claim } from './recent-claims.js'

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

/** The claim of an order, as it is kept when nothing else of the order is. */
export function tombstoneOf({ fingerprint, ...claim }: Claim): Tombstone {
  return { ...claim, fingerprint: `0x${Buffer.from(fingerprint).toString('hex')}` }
}

/** The inverse of `tombstoneOf`. */
export function claimOfTombstone({ fingerprint, ...claim }: Tombstone): Claim {
  return { ...claim, fingerprint: Buffer.from(fingerprint.slice(2), 'hex') }
}
