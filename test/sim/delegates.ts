import secp256k1 from 'secp256k1'
import { hashAuthorization } from 'viem/utils'
import { bytesToHex, hexToBytes } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import { CHAIN_ID, type ChainState } from './chain-state.js'

/** How a wallet is asked: in a match, be it simulated or in a block, or by the venue alone, which no question can hide. */
export type Asking = 'match' | 'question'

/** Says no in matches alone, so that no check of it by itself shows anything. */
export const LIAR: Address = `0x${'d3'.repeat(20)}`

/** What keys may delegate to (EIP-7702): wallets that look at no signature. */
export const DELEGATES: Readonly<Record<string, (asking: Asking) => boolean>> = {
  [`0x${'d0'.repeat(20)}`]: () => false,
  [`0x${'d1'.repeat(20)}`]: () => true,
  [LIAR]: (asking) => asking === 'question',
}

export const NO_DELEGATE: Address = `0x${'0'.repeat(40)}`
/** What stands before the address in the code of a key that delegates. */
export const DELEGATES_TO = '0xef0100'

/** An authorization as it is signed. */
export interface Authorization {
  readonly address: Address
  readonly chainId: number
  readonly nonce: number
  readonly r: Hex
  readonly s: Hex
  readonly yParity: number
  /** Whose it is. */
  readonly key: Address
}

export interface DelegatingKey {
  readonly owner: Address
  readonly key: Uint8Array
}

/** The key lets the code at the address be its own, if its nonce is this one when the transaction is mined. */
export function signAuthorization(
  { owner, key }: DelegatingKey,
  { address, nonce, chainId = CHAIN_ID }: { address: Address; nonce: number; chainId?: number },
): Authorization {
  const hash = hexToBytes(hashAuthorization({ address, chainId, nonce }))
  const { signature, recid } = secp256k1.ecdsaSign(hash, key)
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)].map(bytesToHex) as [Hex, Hex]
  return { address, chainId, nonce, r, s, yParity: recid, key: owner }
}

/** What the chain does with an authorization: nothing unless it is for it and has the key's nonce. */
export function applyAuthorization(state: ChainState, authorization: Authorization): void {
  const { key, nonce, chainId, address } = authorization
  if (chainId !== 0 && chainId !== CHAIN_ID) return
  if ((state.nonces.get(key) ?? 0) !== nonce) return
  state.nonces.set(key, nonce + 1)
  if (address === NO_DELEGATE) state.delegates.delete(key)
  else state.delegates.set(key, address)
}

/** The signers whose code refuses signatures in a match. */
export function refusersOf({ wallets, delegates }: ChainState): Address[] {
  const denying = [...wallets].filter(([, vouches]) => !vouches)
  const lying = [...delegates].filter(([, at]) => DELEGATES[at]?.('match') !== true)
  return [...denying, ...lying].map(([signer]) => signer)
}
