import type { MarketRequest } from '../../bus-schemas/markets.js'
import { operatorText } from '../../bus-schemas/markets.js'
import { readSeed } from './nats-access.js'
import { publicKeyOf, signWith } from './nkeys.js'

/** Signs an operator's commands. */
export interface OperatorKey {
  readonly publicKey: string
  /** The request with the proof of who gives it. */
  sign(market: string, request: MarketRequest, issued: Issued): MarketRequest
}

/** What makes one command differ from every other with the same words. */
export interface Issued {
  /** Unix milliseconds. */
  readonly issuedAtMs: number
  /** 32 hex digits, never used before. */
  readonly nonce: string
}

export function operatorKeyOf(seed: Uint8Array): OperatorKey {
  const publicKey = publicKeyOf(seed)
  return {
    publicKey,
    sign: (market, request, { issuedAtMs, nonce }) => {
      const unsigned = { key: publicKey, issued_at_ms: issuedAtMs, nonce }
      const signature = signWith(seed, operatorText(market, request, unsigned))
      return { ...request, proof: { ...unsigned, signature } }
    },
  }
}

/** The key in a file, or the operator's in a directory of seeds. Throws BusAccessRefused. */
export const readOperatorKey = (path: string): OperatorKey =>
  operatorKeyOf(readSeed(path, 'operator'))
