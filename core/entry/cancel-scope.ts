import type { Side } from '../engine/order.js'

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
