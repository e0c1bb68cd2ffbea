import type { MarketEntry } from '../../client/index.js'
import { PRICINGS, type Pricing } from './pricings.js'
import type { Around } from './quotes.js'
import { walkPpm } from './price-walk.js'

/**
 * A market is quoted once it could be for so long: what the venue shows may be a second newer than what it checks new orders
 * with.
 */
const STEADY_FOR_MS = 3_000

export interface VenueMarkets {
  /** Takes the newest list. */
  show(all: readonly MarketEntry[], nowMs: number): void
  /** Listed markets that take orders and whose contract type has a pricing. */
  quotable(): readonly Quotable[]
  /** What to quote a market around; undefined while it would refuse orders, and a little longer. */
  around(market: string, nowMs: number): Around | undefined
}

export interface Quotable {
  readonly market: MarketEntry
  readonly pricing: Pricing
}

/** What the venue's list of markets says about quoting them. */
export function followMarkets(seed: number): VenueMarkets {
  let all: readonly MarketEntry[] = []
  const openSinceMs = new Map<string, number>()

  const listed = (name: string) => all.find(({ market }) => market === name)
  const now = (market: MarketEntry, nowMs: number): Around | undefined =>
    market.trading_status === 'paused'
      ? undefined
      : pricingOf(market)?.around({ market, all, walkPpm: walkPpm(seed, nowMs), nowMs })

  return {
    show(entries, nowMs) {
      all = entries
      for (const market of all) {
        if (now(market, nowMs) === undefined) openSinceMs.delete(market.market)
        else if (!openSinceMs.has(market.market)) openSinceMs.set(market.market, nowMs)
      }
      for (const name of openSinceMs.keys())
        if (listed(name) === undefined) openSinceMs.delete(name)
    },
    quotable: () =>
      all.flatMap((market) => {
        const pricing = pricingOf(market)
        return pricing === undefined || market.accepts_orders === false ? [] : [{ market, pricing }]
      }),
    around(name, nowMs) {
      const market = listed(name)
      const sinceMs = openSinceMs.get(name)
      if (market === undefined || sinceMs === undefined) return undefined
      return nowMs - sinceMs < STEADY_FOR_MS ? undefined : now(market, nowMs)
    },
  }
}

const pricingOf = ({ contract_type: type }: MarketEntry): Pricing | undefined =>
  (PRICINGS as Readonly<Partial<Record<string, Pricing>>>)[type]
