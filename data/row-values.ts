import type { Hex } from '../core/action.js'
import type { OrderSums } from '../core/engine/order-sums.js'
import { quoteE18 } from '../core/money.js'

/** The bytes of a hex string, as blobs are stored. */
export function blobOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

/** A stored blob as lower-case hex. */
export function hexOf(blob: Buffer): Hex {
  return `0x${blob.toString('hex')}`
}

/** Number of markets that a key can distinguish: the ordinal is its low byte. */
const ORDINALS = 256

/**
 * A log position as one integer: the change's seq × 256 + the market's ordinal. Unique in the venue, increasing within
 * a market, and for a taker's fill the trade id (REA-014).
 */
export function logKey(seq: number, ordinal: number): number {
  return seq * ORDINALS + ordinal
}

/** The seq of a key. */
export function seqOfKey(key: number): number {
  return (key - (key % ORDINALS)) / ORDINALS
}

/** What the three columns of an order's figures say; undefined before its first fill. */
export function sumsOfColumns(
  quote: string | null,
  product: string | null,
  fee: string | null,
): OrderSums | undefined {
  if (quote === null || product === null || fee === null) return undefined
  return { quote: quoteE18(BigInt(quote)), product: BigInt(product), fee: quoteE18(BigInt(fee)) }
}
