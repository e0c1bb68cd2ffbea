import type { Hex } from '../action.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../market.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'
import type { Side } from '../order.js'
import { spotContract } from '../translation.js'
import { isoTime } from './iso-time.js'

/** One order's leg of a settled match, as its owner sees it. */
export interface OwnFill {
  /** The same on both legs. */
  readonly tradeId: number
  readonly orderId: string
  readonly liquidity: 'maker' | 'taker'
  /** Engine side of the owner's order. */
  readonly side: Side
  readonly price: PriceE18
  readonly amount: AmountE18
  /** What this order paid. */
  readonly fee: QuoteE18
  readonly atMs: number
  readonly txHash: Hex
  /** The chain has lost it for good: it counts no longer. */
  readonly reversed?: boolean
}

/** The fill record of interface 2.6. */
export type FillRecord = Readonly<Record<string, unknown>> & {
  readonly trade_id: number
  readonly order_id: string
}

/** Presents a fill: engine values, and the owner's side of it in trader terms as `spot_contract`. */
export function fillRecord(market: Market, fill: OwnFill): FillRecord {
  const contract = spotContract(market, fill)
  return {
    trade_id: fill.tradeId,
    order_id: fill.orderId,
    liquidity: fill.liquidity,
    side: fill.side,
    price: formatDecimal(fill.price, 18),
    size: formatDecimal(fill.amount, 18),
    asset_address: market.assetAddress,
    sub_id: market.subId.toString(),
    market: market.market,
    display_name: market.presentation.displayName,
    created_at: isoTime(fill.atMs),
    fee: formatDecimal(fill.fee, 18),
    tx_hash: fill.txHash,
    ...(contract === undefined ? {} : { spot_contract: contract }),
    ...(fill.reversed === true ? { reversed: true } : {}),
  }
}
