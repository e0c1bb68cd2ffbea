import type { TypedDataDomain } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { SIGNED_STRUCTS } from '../core/entry/signed-structs.js'
import type { CancelOrder } from '../interface/order.js'
import { signingDomain, type SigningDomain } from './sign-order.js'

const cancelTypes = { Cancel: SIGNED_STRUCTS.Cancel } as const

/** A cancel as EIP-712 typed data on the matching contract's domain. */
export interface CancelTypedData {
  readonly domain: TypedDataDomain
  readonly types: typeof cancelTypes
  readonly primaryType: 'Cancel'
  readonly message: {
    readonly owner: Address
    readonly signer: Address
    readonly nonce: bigint
    readonly expiry: bigint
  }
}

/** The holder of the key, for example a viem local account. */
export interface CancelSigner {
  readonly address: Address
  signTypedData(typedData: CancelTypedData): Promise<Hex>
}

/** The order to cancel, and the validity of the proof. */
export interface CancelTerms {
  /** Of the order, in decimal digits. */
  readonly nonce: string
  /** Unix seconds. */
  readonly expirySec: number
  /** Differs from the signer's address when a session key signs. */
  readonly owner?: Address
  /** Becomes the order's `cancel_reason`; not signed. */
  readonly reason?: string
}

/** Signs a cancel and returns its body: the proof that some venues require. */
export async function signCancel(
  signer: CancelSigner,
  domain: SigningDomain,
  { nonce, expirySec, owner = signer.address, reason }: CancelTerms,
): Promise<CancelOrder> {
  const signature = await signer.signTypedData({
    domain: signingDomain(domain),
    types: cancelTypes,
    primaryType: 'Cancel',
    message: { owner, signer: signer.address, nonce: BigInt(nonce), expiry: BigInt(expirySec) },
  })
  return {
    owner_address: owner,
    nonce,
    ...(reason !== undefined && { reason }),
    signer_address: signer.address,
    expiry: expirySec,
    signature,
  }
}
