import type { Hex } from '../core/action.js'

/** The bytes of a hex string, as blobs are stored. */
export function blobOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

/** A stored blob as lower-case hex. */
export function hexOf(blob: Buffer): Hex {
  return `0x${blob.toString('hex')}`
}
