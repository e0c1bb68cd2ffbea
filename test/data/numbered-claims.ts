import type { OrderClaim } from '../../data/intake-registry.js'
import { anOrder } from '../support/builders.js'

/** The owner of all claims here. */
export const { owner } = anOrder()

/** The claim of an order whose id, nonce and fingerprint follow from the number. */
export const numberedClaim = (number: number, orderId = `order-${number}`): OrderClaim => ({
  orderId,
  owner,
  nonce: 10n ** 70n + BigInt(number),
  fingerprint: Buffer.alloc(32, number % 251),
})

export const numberedClaims = (from: number, count: number): OrderClaim[] =>
  Array.from({ length: count }, (_, index) => numberedClaim(from + index))
