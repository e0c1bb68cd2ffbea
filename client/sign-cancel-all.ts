import type { TypedDataDomain } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { scopeOf, SIGNED_STRUCTS, type ScopeTerms } from '../core/entry/signed-structs.js'
import type { CancelAll, CancelAllAfter, CancelList } from '../interface/cancels.js'
import { signingDomain, type SigningDomain } from './sign-order.js'

const cancelAllTypes = { CancelAll: SIGNED_STRUCTS.CancelAll } as const

/** A cancel of many orders as EIP-712 typed data on the matching contract's domain. */
export interface CancelAllTypedData {
  readonly domain: TypedDataDomain
  readonly types: typeof cancelAllTypes
  readonly primaryType: 'CancelAll'
  readonly message: {
    readonly owner: Address
    readonly signer: Address
    readonly scope: string
    readonly issuedAt: bigint
    readonly expiry: bigint
  }
}

/** The holder of the key, for example a viem local account. */
export interface CancelAllSigner {
  readonly address: Address
  signTypedData(typedData: CancelAllTypedData): Promise<Hex>
}

/** Validity of the proof, at most 60 seconds; it counts once, so two cancels of one second differ in `expirySec`. */
export interface ProofTimes {
  /** Unix seconds. */
  readonly issuedAtSec: number
  readonly expirySec: number
  /** Differs from the signer's address when a session key signs. */
  readonly owner?: Address
}

/** All orders, or those of one market (its canonical identifier), side or subaccount. */
export interface CancelAllTerms extends ProofTimes {
  readonly market?: string
  readonly side?: 'buy' | 'sell'
  /** In decimal digits. */
  readonly subaccountId?: string
  /** Becomes the orders' `cancel_reason`; not signed. */
  readonly reason?: string
}

export interface CancelListTerms extends ProofTimes {
  readonly orderIds: readonly string[]
  readonly reason?: string
}

export interface CancelAllAfterTerms extends ProofTimes {
  /** 10 to 86,400; 0 disarms. */
  readonly seconds: number
  readonly market?: string
}

/** Signs a cancel of all orders and returns its body. */
export async function signCancelAll(
  signer: CancelAllSigner,
  domain: SigningDomain,
  terms: CancelAllTerms,
): Promise<CancelAll> {
  const { market, side, subaccountId, reason } = terms
  const proof = await signProof(signer, domain, terms, {
    kind: 'cancel_all',
    market,
    side,
    subaccountId: subaccountId === undefined ? undefined : BigInt(subaccountId),
  })
  return {
    ...proof,
    ...(market !== undefined && { market }),
    ...(side !== undefined && { side }),
    ...(subaccountId !== undefined && { subaccount_id: subaccountId }),
    ...(reason !== undefined && { reason }),
  }
}

/** The same for a list of order ids. */
export async function signCancelList(
  signer: CancelAllSigner,
  domain: SigningDomain,
  terms: CancelListTerms,
): Promise<CancelList> {
  const { orderIds, reason } = terms
  const proof = await signProof(signer, domain, terms, { kind: 'cancel_orders', orderIds })
  return { ...proof, order_ids: orderIds, ...(reason !== undefined && { reason }) }
}

/** The same for a dead-man switch. */
export async function signCancelAllAfter(
  signer: CancelAllSigner,
  domain: SigningDomain,
  terms: CancelAllAfterTerms,
): Promise<CancelAllAfter> {
  const { seconds, market } = terms
  const proof = await signProof(signer, domain, terms, {
    kind: 'cancel_all_after',
    seconds,
    market,
  })
  return { ...proof, seconds, ...(market !== undefined && { market }) }
}

async function signProof(
  signer: CancelAllSigner,
  domain: SigningDomain,
  { issuedAtSec, expirySec, owner = signer.address }: ProofTimes,
  scoped: ScopeTerms,
) {
  const signature = await signer.signTypedData({
    domain: signingDomain(domain),
    types: cancelAllTypes,
    primaryType: 'CancelAll',
    message: {
      owner,
      signer: signer.address,
      scope: scopeOf(scoped),
      issuedAt: BigInt(issuedAtSec),
      expiry: BigInt(expirySec),
    },
  })
  return {
    owner_address: owner,
    signer_address: signer.address,
    issued_at: issuedAtSec,
    expiry: expirySec,
    signature,
  }
}
