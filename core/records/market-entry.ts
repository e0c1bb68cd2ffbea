import type { Market } from '../market.js'

/** The market entry of interface 2.2 as it is sent. */
export type MarketEntry = Readonly<Record<string, unknown>> & { readonly market: string }

/** Presents a market; `lastTradeSec` is the unix second of its newest fill, absent before the first. */
export function marketEntry(market: Market, lastTradeSec?: number): MarketEntry {
  throw new Error(`marketEntry ${market.market} ${String(lastTradeSec)}`)
}
