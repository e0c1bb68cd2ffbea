import { readRefusals } from '../core/entry/read-refusals.js'
import type { OrRefusal, Refusal } from '../core/entry/refusals.js'
import type { Market } from '../core/model/market.js'
import type { PricePage, PriceRow } from '../data/history/read-prices.js'
import type { GatewayContext, GatewayDeps } from './context.js'
import { askedPast, nextBefore, readHistoryPage } from './read-request.js'

/** A page of a market's price history, as the endpoints of marks and of funding read it. */
export interface AskedPrices {
  readonly market: Market
  readonly page: PricePage
  /** `next_before` of a page of these rows. */
  readonly next: (rows: readonly PriceRow[]) => { readonly next_before?: string }
}

/**
 * Reads the market, `limit` and `before` of a request; `lacks` refuses a market that does not have the history. A cursor is
 * valid for one market.
 */
export function askedPrices(
  ctx: GatewayContext,
  deps: GatewayDeps,
  { kind, lacks }: { kind: 'marks' | 'funding'; lacks: (market: Market) => Refusal | undefined },
): OrRefusal<AskedPrices> {
  const found = askedPast(ctx, deps)
  if ('refusal' in found) return found
  const { market } = found
  const refusal = lacks(market)
  if (refusal !== undefined) return { refusal }
  const page = readHistoryPage(ctx, kind)
  if ('refusal' in page) return page
  const { limit, before, fromMs, endMs } = page
  if (before !== undefined && before.key !== market.ordinal) {
    return { refusal: readRefusals.historyBefore }
  }
  const positionOf = ({ startSec }: PriceRow) => ({ atMs: startSec * 1000, key: market.ordinal })
  return {
    market,
    page: {
      limit,
      beforeSec: Math.min(
        before ? before.atMs / 1000 : Infinity,
        Math.ceil((endMs ?? Infinity) / 1000),
        Number.MAX_SAFE_INTEGER,
      ),
      ...(fromMs !== undefined && { fromSec: Math.ceil(fromMs / 1000) }),
    },
    next: (rows) =>
      nextBefore(
        kind,
        rows.map((row) => ({ position: positionOf(row) })),
        page,
      ),
  }
}
