import type { MarketEntry } from '../../client/index.js'
import { walkPpm } from './price-walk.js'
import { PRICINGS, type QuotePricing } from './pricings.js'
import type { QuotedMarket } from './quoted-market.js'
import type { QuoteCentre } from './quotes.js'

/**
 * A market is quoted once it could be for so long: what the venue shows may be a second newer than what it checks new orders
 * with.
 */
const STEADY_FOR_MS = 3_000

interface VenueMarkets {
  /** Takes the newest list. */
  show(all: readonly MarketEntry[], nowMs: number): void
  /** Listed markets that take orders and whose contract type has a pricing. */
  quotable(): readonly Quotable[]
  /** What to quote a market around; undefined while it would refuse orders, and a little longer. */
  around(market: string, nowMs: number): QuoteCentre | undefined
}

interface Quotable {
  readonly market: MarketEntry
  readonly pricing: QuotePricing
}

/** What the venue's list of markets says about quoting them. */
export function followMarkets(seed: number): VenueMarkets {
  let all: readonly MarketEntry[] = []
  const openSinceMs = new Map<string, number>()

  const listed = (name: string) => all.find(({ market }) => market === name)
  const now = (market: MarketEntry, nowMs: number): QuoteCentre | undefined =>
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

const pricingOf = ({ contract_type: type }: MarketEntry): QuotePricing | undefined =>
  (PRICINGS as Readonly<Partial<Record<string, QuotePricing>>>)[type]

interface QuotedMarkets {
  /** Begins with markets that are new in the list, and stops those that have left it. */
  update(listed: readonly Quotable[]): void
  all(): readonly QuotedMarket[]
}

interface QuotedMarketsParts {
  /** Undefined for a market that is not quoted. */
  readonly open: (market: Quotable) => QuotedMarket | undefined
  readonly onStopped: (market: string, stopped: Promise<void>) => void
}

/** The markets that are quoted now, by what the venue lists. */
export function keepQuoted({ open, onStopped }: QuotedMarketsParts): QuotedMarkets {
  const quoted = new Map<string, QuotedMarket>()
  return {
    update(listed) {
      for (const quotable of listed) {
        const { market } = quotable.market
        const opened = quoted.has(market) ? undefined : open(quotable)
        if (opened !== undefined) quoted.set(market, opened)
      }
      for (const [name, one] of quoted) {
        if (listed.some(({ market }) => market.market === name)) continue
        quoted.delete(name)
        onStopped(name, one.stop())
      }
    },
    all: () => [...quoted.values()],
  }
}
