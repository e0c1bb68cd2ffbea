import { nkeys } from 'nats'
import { operatorText, type MarketRequest } from '../../bus-schemas/markets.js'
import { readSeed } from './nats-access.js'

/** Ed25519 keys in the text form of NATS: a seed begins with `SU`, its public key with `U`. */

/** What the library declares as `any`. */
interface KeyPair {
  getSeed(): Uint8Array
  getPublicKey(): string
  sign(data: Uint8Array): Uint8Array
  verify(data: Uint8Array, signature: Uint8Array): boolean
}

const library = nkeys as {
  createUser(): KeyPair
  fromSeed(seed: Uint8Array): KeyPair
  fromPublic(key: string): KeyPair
}

/** The text of a new seed. */
export const newSeed = (): string => new TextDecoder().decode(library.createUser().getSeed())

/** The public key of a seed. Throws on a text that is no seed. */
export const publicKeyOf = (seed: Uint8Array): string => library.fromSeed(seed).getPublicKey()

/** The signature of a text, in base64. */
const signWith = (seed: Uint8Array, text: Uint8Array): string =>
  Buffer.from(library.fromSeed(seed).sign(text)).toString('base64')

/** Whether the signature is that of the key; false for what is no key or no signature. */
export function isSignedBy(key: string, text: Uint8Array, signature: string): boolean {
  try {
    return library.fromPublic(key).verify(text, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

/** Signs an operator's commands. */
export interface OperatorKey {
  readonly publicKey: string
  /** The request with the proof of who gives it. */
  sign(market: string, request: MarketRequest, issued: Issued): MarketRequest
}

/** What makes one command differ from every other with the same words. */
interface Issued {
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
