import {
  type FoundMarket,
  type MarketNaming,
  findMarket,
  noSuchMarket,
} from '../core/find-market.js'
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
  const found = find(deps, { symbol, assetAddress: asset_address, subId: sub_id })
  if (!('refusal' in found)) markDeprecated(ctx, deps, found)
  return found
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
    const listed = deps.markets.filter((market) => market.enabled && isSpot(market))
    return { markets: listed.toSorted((a, b) => (a.market < b.market ? -1 : 1)) }
  }
  const found = find(deps, { symbol: ticker_id })
  if ('refusal' in found) return found
  if (!isSpot(found.market)) return { refusal: noSuchMarket(deps.markets, ticker_id.toString()) }
  markDeprecated(ctx, deps, found)
  return { markets: [found.market] }
}

const isSpot = ({ contractType }: Market): boolean => contractType === 'spot'

const find = (deps: GatewayDeps, naming: MarketNaming) =>
  findMarket(deps.markets, naming, { nowMs: deps.nowMs(), aliasesUntilMs: deps.aliasCutoffMs })

function markDeprecated(
  ctx: GatewayContext,
  { aliasCutoffMs }: GatewayDeps,
  { market, deprecated }: FoundMarket,
): void {
  if (!deprecated) return
  ctx.set('Deprecation', 'true')
  ctx.set('Sunset', new Date(aliasCutoffMs).toUTCString())
  ctx.set('X-Canonical-Market', market.market)
}
