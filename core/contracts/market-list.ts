import type { Market } from './market.js'
import { withTerms, type MarketTerms } from './market-terms.js'

/** The markets that a process knows: rows of the market file, each with the terms that its feed last stated. */
export interface MarketList {
  /** Always the same array, which holds every market as it is now, in the order in which they were added. */
  readonly markets: readonly Market[]
  /** Adds a market, or takes the texts of its row anew; its terms stay those of its feed. */
  readonly add: (row: Market) => void
  /** States the terms of a market that was added. */
  state(market: string, terms: MarketTerms): void
}

/** A market whose feed has stated nothing yet is as its row says. */
export function createMarketList(rows: readonly Market[]): MarketList {
  const markets: Market[] = [...rows]
  const stated = new Map<string, MarketTerms>()
  const put = (row: Market): void => {
    const terms = stated.get(row.market)
    const at = markets.findIndex(({ market }) => market === row.market)
    const market = terms === undefined ? row : withTerms(row, terms)
    if (at < 0) markets.push(market)
    else markets[at] = market
  }
  return {
    markets,
    add: put,
    state(name, terms) {
      if (stated.get(name) === terms) return
      stated.set(name, terms)
      const row = markets.find(({ market }) => market === name)
      if (row !== undefined) put(row)
    },
  }
}
