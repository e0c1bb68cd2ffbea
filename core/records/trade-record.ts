import type { Fill } from '../change.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../market.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'
import { spotContract } from '../translation.js'
import { isoTime } from './iso-time.js'
import { marketEntry } from './market-entry.js'
import type { MarketEntry } from './market-entry.js'

/** A settled match as everybody sees it: the taker's leg of the fill and when it was recorded. */
export interface Trade {
  /** The taker's leg. */
  readonly fill: Fill
  /** Sequence of the taker's change, which the `trades` channel carries as `seq`. */
  readonly seq: number
  readonly atMs: number
  /** The chain has lost it for good: it counts no longer. */
  readonly reversed?: boolean
}

/** The trade record of decision D3. */
export type TradeRecord = Readonly<Record<string, unknown>> & { readonly trade_id: number }

/** Presents a trade: engine values, and the taker's side of it in trader terms as `spot_contract`. */
export function tradeRecord(market: Market, trade: Trade): TradeRecord {
  const { fill } = trade
  const contract = spotContract(market, {
    side: fill.takerSide,
    price: fill.price,
    amount: fill.amount,
  })
  return {
    trade_id: fill.tradeId,
    market: market.market,
    asset_address: market.assetAddress,
    sub_id: market.subId.toString(),
    price: formatDecimal(fill.price, 18),
    size: formatDecimal(fill.amount, 18),
    aggressor_side: fill.takerSide,
    taker_order_id: fill.takerOrderId,
    maker_order_id: fill.makerOrderId,
    created_at: isoTime(trade.atMs),
    contract_type: market.contractType,
    ...(market.settlementType === undefined ? {} : { settlement_type: market.settlementType }),
    ...(contract === undefined ? {} : { spot_contract: contract }),
    tx_hash: fill.txHash,
    ...(trade.reversed === true ? { reversed: true } : {}),
  }
}

/** Trailing 24 hours of a market that traded, in engine values. */
export interface TradeStats {
  readonly first: PriceE18
  readonly last: PriceE18
  readonly high: PriceE18
  readonly low: PriceE18
  readonly volume: AmountE18
  readonly quoteVolume: QuoteE18
}

/** The body of `GET /v1/trades`. */
export interface TradesRecord {
  readonly market_presentation: MarketEntry
  readonly stats_24h: Readonly<Record<string, string>>
  readonly trades: readonly TradeRecord[]
  /** Absent on the last page. */
  readonly next_before_trade_id?: number
}

/** Presents one page of trades, newest first; `limit` is the page size that was asked for. */
export function tradesRecord(
  market: Market,
  trades: readonly Trade[],
  page: {
    readonly limit: number
    readonly stats?: TradeStats | undefined
    readonly lastTradeSec?: number | undefined
  },
): TradesRecord {
  const oldest = trades.at(-1)
  const full = trades.length >= page.limit && oldest !== undefined
  return {
    market_presentation: marketEntry(market, page.lastTradeSec),
    stats_24h: page.stats === undefined ? {} : statsRecord(page.stats),
    trades: trades.map((trade) => tradeRecord(market, trade)),
    ...(full ? { next_before_trade_id: oldest.fill.tradeId } : {}),
  }
}

function statsRecord(stats: TradeStats): Record<string, string> {
  return {
    change: formatDecimal(stats.last - stats.first, 18),
    high: formatDecimal(stats.high, 18),
    low: formatDecimal(stats.low, 18),
    last: formatDecimal(stats.last, 18),
    volume: formatDecimal(stats.volume, 18),
    quote_volume: formatDecimal(stats.quoteVolume, 18),
  }
}
