import type { MarketEntry } from '../../client/index.js'
import type { Side } from '../../core/model/order.js'
import type { MarketArithmetic } from './market-terms.js'
import { engineSide } from './market-terms.js'

/** The trader's side of an engine's: exchanging twice is nothing. */
export const traderSide = (terms: MarketArithmetic, side: Side): Side => engineSide(terms, side)

/** What a side does: `Buy USDC`, `Long cNGN`. */
export function sideWords({ base_asset_symbol: base, perp }: MarketEntry, side: Side): string {
  if (perp !== undefined) return `${side === 'buy' ? 'Long' : 'Short'} ${base}`
  return `${side === 'buy' ? 'Buy' : 'Sell'} ${base}`
}
