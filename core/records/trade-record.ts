import type { Fill } from '../change.js'
import type { Market } from '../market.js'

/** A settled match as everybody sees it: the taker's leg of the fill and when it was recorded. */
export interface Trade {
  /** The taker's leg. */
  readonly fill: Fill
  /** Sequence of the taker's change, which the `trades` channel carries as `seq`. */
  readonly seq: number
  readonly atMs: number
}

/** The trade record of decision D3. */
export type TradeRecord = Readonly<Record<string, unknown>> & { readonly trade_id: number }

export function tradeRecord(market: Market, trade: Trade): TradeRecord {
  throw new Error(`tradeRecord ${market.market} ${trade.fill.tradeId}`)
}
