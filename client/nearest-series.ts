import { isSeries } from '../core/contracts/entry-terms.js'
import type { MarketEntry } from '../interface/market.js'

/**
 * The series of dated futures that expires first among those of `GET /v1/markets` that trade now; undefined when none does.
 * A series that has ended stays in the list until it is closed out, and the next one stands beside it by then.
 */
export const nearestSeries = (markets: readonly MarketEntry[]): MarketEntry | undefined =>
  markets
    .filter((market) => isSeries(market) && market.trading_status === 'open')
    .toSorted((a, b) => (a.expiry_timestamp ?? 0) - (b.expiry_timestamp ?? 0))[0]
