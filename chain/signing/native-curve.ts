import { createRequire } from 'node:module'
import secp256k1 from 'secp256k1'
import { CannotStart } from '../../core/cannot-start.js'

const require = createRequire(import.meta.url)

/**
 * Throws CannotStart when `loaded` is not the compiled library: its fallback in JavaScript is many times slower and does not
 * take the same time for every key.
 */
export function requireNativeCurve(loaded: unknown = secp256k1): void {
  const why = 'the compiled part of secp256k1 does not load on this machine'
  let compiled: unknown
  try {
    compiled = require('secp256k1/bindings.js')
  } catch (cause) {
    throw new CannotStart(why, { cause })
  }
  if (loaded !== compiled) throw new CannotStart(why)
}
