import type { Side } from '../model/order.js'

/**
 * The structs that clients sign as EIP-712 typed data (AUT-001, CAN-011; permits as EIP-2612). Client,
 * verifier and published vectors take them from here.
 */
export const SIGNED_STRUCTS = {
  Action: [
    { name: 'subaccountId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'module', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'expiry', type: 'uint256' },
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
  ],
  Cancel: [
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
  ],
  CancelAll: [
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'scope', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
  ],
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

export type SignedStruct = keyof typeof SIGNED_STRUCTS

/** The type string of a struct, as EIP-712 writes it. */
export const typeString = (struct: SignedStruct): string =>
  `${struct}(${SIGNED_STRUCTS[struct].map(({ name, type }) => `${type} ${name}`).join(',')})`

/** What a signed cancel of many orders is for. */
export type ScopeTerms =
  | {
      readonly kind: 'cancel_all'
      /** Canonical identifier; absent: every market. */
      readonly market?: string | undefined
      readonly side?: Side | undefined
      readonly subaccountId?: bigint | undefined
    }
  | { readonly kind: 'cancel_orders'; readonly orderIds: readonly string[] }
  | {
      readonly kind: 'cancel_all_after'
      readonly seconds: number
      readonly market?: string | undefined
    }

/**
 * The `scope` of EIP-712 `CancelAll`: `all`, or what narrows it, as `market=cNGN-USDC;side=buy;subaccount_id=7`;
 * `order_ids=["a","b"]`; `cancel_all_after=60`, with `;market=…` for one market.
 */
export function scopeOf(terms: ScopeTerms): string {
  switch (terms.kind) {
    case 'cancel_all': {
      const { market, side, subaccountId } = terms
      return parts({ market, side, subaccount_id: subaccountId?.toString() }) || 'all'
    }
    case 'cancel_orders':
      return `order_ids=${JSON.stringify(terms.orderIds)}`
    case 'cancel_all_after':
      return parts({ cancel_all_after: String(terms.seconds), market: terms.market })
  }
}

const parts = (named: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(named)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .join(';')
