import { type MarketNaming, findMarket, noSuchMarket } from '../core/find-market.js'
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
  return findNamed(ctx, deps, { symbol, assetAddress: asset_address, subId: sub_id })
}

/**
 * The markets that a read of tickers is about, sorted: all enabled spot markets, or the one that `ticker_id` names.
 * Derivatives have no ticker.
 */
export function askedTickers(
  ctx: GatewayContext,
  deps: GatewayDeps,
): { readonly markets: readonly Market[] } | { readonly refusal: Refusal } {
  const { ticker_id } = ctx.query
  if (ticker_id === undefined) {
    const listed = deps.markets.filter(
      ({ enabled, contractType }) => enabled && isSpot(contractType),
    )
    return { markets: listed.toSorted((a, b) => (a.market < b.market ? -1 : 1)) }
  }
  const found = findNamed(ctx, deps, { symbol: ticker_id })
  if ('refusal' in found) return found
  return isSpot(found.market.contractType)
    ? { markets: [found.market] }
    : { refusal: noSuchMarket(deps.markets, found.market.market) }
}

const isSpot = (contractType: Market['contractType']): boolean => contractType === 'spot'

function findNamed(
  ctx: GatewayContext,
  deps: GatewayDeps,
  naming: MarketNaming,
): { readonly market: Market } | { readonly refusal: Refusal } {
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
