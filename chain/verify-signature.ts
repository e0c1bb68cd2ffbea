import type { Action, Address, Hex } from '../core/action.js'

/** The venue's answer about a signature; `unknown` when the chain could not be asked (decision C9). */
export type SignatureVerdict =
  | { readonly kind: 'valid'; readonly path: 'ecdsa' | 'erc1271' }
  | {
      readonly kind: 'invalid'
      readonly digest: Hex
      /** Absent when the bytes recover to nobody or a contract was asked. */
      readonly recovered?: Address
      readonly path: 'ecdsa' | 'erc1271'
    }
  | { readonly kind: 'unknown'; readonly cause: Error }

/** Judges a signed action exactly as the matching contract will: code at the signer means ERC-1271 only. */
export interface SignatureVerifier {
  /** EIP-712 digest of an action on this venue's domain. */
  digest(action: Action): Hex
  verify(action: Action, signature: Hex): Promise<SignatureVerdict>
}
