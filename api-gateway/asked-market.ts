import { findMarket } from '../core/find-market.js'
import type { Market } from '../core/market.js'
import type { Refusal } from '../core/refusals.js'
import type { GatewayContext, GatewayDeps } from './context.js'

/**
 * The market that a read's `symbol`, or `asset_address` and `sub_id`, name, or why none does. An answer to a deprecated
 * identifier says so in its headers.
 */
export function askedMarket(
  ctx: GatewayContext,
  deps: GatewayDeps,
): { readonly market: Market } | { readonly refusal: Refusal } {
  const { symbol, asset_address, sub_id } = ctx.query
  const naming = { symbol, assetAddress: asset_address, subId: sub_id }
  const clock = { nowMs: deps.nowMs(), aliasesUntilMs: deps.aliasCutoffMs }
  const found = findMarket(deps.markets, naming, clock)
  if ('refusal' in found) return found
  if (found.deprecated) {
    ctx.set('Deprecation', 'true')
    ctx.set('Sunset', new Date(deps.aliasCutoffMs).toUTCString())
    ctx.set('X-Canonical-Market', found.market.market)
  }
  return found
}
