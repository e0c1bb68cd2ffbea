import type { FillRecord, Stats24h, TradeRecord, TradesPage } from '../../interface/trade.js'
import type { Hex } from '../action.js'
import { contractOf } from '../contracts/registry.js'
import { spotContract } from '../contracts/translation.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { Fill } from '../model/match.js'
import type { Side } from '../model/order.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'
import { isoTime } from '../time.js'
import { marketEntry, type ShownOfMarket } from './market-entry.js'

/** A settled match as the public sees it: the taker's leg of the fill and when it was recorded. */
export interface Trade {
  /** The taker's leg. */
  readonly fill: Fill
  /** Sequence of the taker's change, which the `trades` channel carries as `seq`. */
  readonly seq: number
  readonly atMs: number
  /** The chain has lost it for good: it counts no longer. */
  readonly reversed?: boolean
}

/** Presents a trade (REA-016): engine values, and the taker's side of it in trader terms as `spot_contract`. */
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
    settlement_type: market.settlementType,
    ...(contract === undefined ? {} : { spot_contract: contract }),
    tx_hash: fill.txHash,
    ...markOf(fill),
    ...(trade.reversed === true ? { reversed: true } : {}),
  }
}

/** The mark of a trade, where its contract has one. */
export const markOf = ({ markPrice }: Pick<Fill, 'markPrice'>): { mark_price?: string } =>
  markPrice === undefined ? {} : { mark_price: formatDecimal(markPrice, 18) }

/** Trailing 24 hours of a market that traded, in engine values. */
export interface TradeStats {
  readonly first: PriceE18
  readonly last: PriceE18
  readonly high: PriceE18
  readonly low: PriceE18
  readonly volume: AmountE18
  readonly quoteVolume: QuoteE18
}

/** Presents one page of trades, newest first; `limit` is the page size that was asked for. */
export function tradesPage(
  market: Market,
  trades: readonly Trade[],
  page: ShownOfMarket & {
    readonly limit: number
    readonly stats?: TradeStats | undefined
  },
): TradesPage {
  const oldest = trades.at(-1)
  const full = trades.length >= page.limit && oldest !== undefined
  return {
    market_presentation: marketEntry(market, page),
    stats_24h: page.stats === undefined ? {} : statsRecord(page.stats),
    trades: trades.map((trade) => tradeRecord(market, trade)),
    ...(full ? { next_before_trade_id: oldest.fill.tradeId } : {}),
  }
}

/** Presents the statistics of a day that had trades. */
export function statsRecord(stats: TradeStats): Stats24h {
  return {
    change: formatDecimal(stats.last - stats.first, 18),
    high: formatDecimal(stats.high, 18),
    low: formatDecimal(stats.low, 18),
    last: formatDecimal(stats.last, 18),
    volume: formatDecimal(stats.volume, 18),
    quote_volume: formatDecimal(stats.quoteVolume, 18),
  }
}

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
  readonly markPrice?: PriceE18
  /** The chain has lost it for good: it counts no longer. */
  readonly reversed?: boolean
}

/** Presents a fill: engine values, and the owner's side of it in trader terms as `spot_contract`. */
export function fillRecord(market: Market, fill: OwnFill): FillRecord {
  const contract = spotContract(market, fill)
  const { markPrice } = fill
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
    ...(markPrice !== undefined && contractOf(market).present.fill?.({ ...fill, markPrice })),
    ...(fill.reversed === true ? { reversed: true } : {}),
  }
}
