import type { TypedDataDomain } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { tokenUnits } from './sign-transfer.js'
import type { PermitBody } from './transfer-records.js'

const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

/** An EIP-2612 permit as EIP-712 typed data on the token's own domain. */
export interface PermitTypedData {
  readonly domain: TypedDataDomain
  readonly types: typeof permitTypes
  readonly primaryType: 'Permit'
  readonly message: {
    readonly owner: Address
    readonly spender: Address
    readonly value: bigint
    readonly nonce: bigint
    readonly deadline: bigint
  }
}

/** Whoever holds the key: a viem local account fits. */
export interface PermitSigner {
  readonly address: Address
  signTypedData(typedData: PermitTypedData): Promise<Hex>
}

/** What the deposit module is allowed. */
export interface PermitTerms {
  readonly chainId: number
  readonly usdc: Address
  readonly depositModule: Address
  /** Plain decimal text with at most six decimals; at least the deposit. */
  readonly amount: string
  /** The owner's current `nonces(owner)` of the token, which counts up with each permit. */
  readonly tokenNonce: bigint
  /** Unix seconds. */
  readonly deadlineSec: number
}

/** Signs a permit on USDC for the deposit module. Throws BadOrderTerms. */
export async function signPermit(signer: PermitSigner, terms: PermitTerms): Promise<PermitBody> {
  const { chainId, usdc, depositModule, tokenNonce, deadlineSec } = terms
  const value = tokenUnits(terms.amount)
  const signature = await signer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: usdc },
    types: permitTypes,
    primaryType: 'Permit',
    message: {
      ...{ owner: signer.address, spender: depositModule, value },
      ...{ nonce: tokenNonce, deadline: BigInt(deadlineSec) },
    },
  })
  return { value: value.toString(), deadline: deadlineSec.toString(), signature }
}
