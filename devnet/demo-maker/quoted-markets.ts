import type { QuotedMarket } from './quoted-market.js'
import type { Quotable } from './venue-markets.js'

export interface QuotedMarkets {
  /** Begins with markets that are new in the list, and stops those that have left it. */
  update(listed: readonly Quotable[]): void
  all(): readonly QuotedMarket[]
}

export interface QuotedMarketsParts {
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
