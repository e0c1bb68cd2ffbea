import type { ActionJson } from '../core/action.js'
import type { OrderStatus, Side } from '../core/order.js'

/** What the venue answers, as far as a client relies on it; every record carries more. Amounts are decimal strings. */

export interface MarketRecord {
  readonly market: string
  readonly contract_type: string
  readonly display_name: string
  readonly tick_size: string
  readonly min_size: string
  readonly asset_address: string
  readonly sub_id: string
  readonly order_entry_spec?: string
  readonly engine_side_policy: string
  readonly taker_fee_bps: number
  readonly maker_fee_bps: number
  readonly trade_module_address: string
}

/** An order or a trade as a trader says it: on spot, `buy` acquires USDC, price in cNGN per USDC, size in USDC. */
export interface TraderTermsRecord {
  readonly ui_intent: { readonly side: Side; readonly price: string; readonly size: string }
}

export interface OrderRecord {
  readonly order_id: string
  readonly owner_address: string
  readonly subaccount_id: string
  readonly nonce: string
  readonly side: Side
  readonly desired_amount: string
  readonly filled_amount: string
  /** What can be hit in the book now. */
  readonly open_amount: string
  /** Why it waits out of the book, for example `insufficient_balance`; absent when it does not. */
  readonly held_reason?: string
  readonly limit_price: string
  readonly expiry: number
  readonly status: OrderStatus
  readonly created_at: string
  readonly market: string
  readonly action_json: ActionJson
  readonly signature: string
  /** On markets with an order entry spec. */
  readonly spot_contract?: TraderTermsRecord
}

export interface BookSnapshot {
  readonly market_presentation: MarketRecord
  /** High to low, then time priority; engine sides. */
  readonly bids: readonly OrderRecord[]
  /** Low to high, then time priority. */
  readonly asks: readonly OrderRecord[]
}

export interface TradeRecord {
  /** Unique across the venue, increasing within a market. */
  readonly trade_id: number
  readonly price: string
  readonly size: string
  readonly aggressor_side: Side
  readonly taker_order_id: string
  readonly maker_order_id: string
  readonly created_at: string
  /** Transaction that settled it; read over REST, not part of the live frames. */
  readonly tx_hash?: string
  /** Present, and true, when the chain has lost the settlement for good: the trade counts no longer. */
  readonly reversed?: true
}

export interface TradesPage {
  readonly trades: readonly TradeRecord[]
  readonly stats_24h: Readonly<Record<string, string>>
  /** Where the next older page begins; absent on the last. */
  readonly next_before_trade_id?: number
}

/** One of the owner's orders, whatever became of it. */
export interface HistoryOrderRecord extends OrderRecord {
  /** Of cancelled orders. */
  readonly cancel_reason?: string
  readonly cancelled_at?: string
  /** USDC that changed hands at the prices of the fills; absent without fills. */
  readonly filled_quote?: string
}

export interface OrderHistoryPage {
  /** Newest first. */
  readonly orders: readonly HistoryOrderRecord[]
  /** Where the next older page begins; absent when nothing is older. */
  readonly next_before?: string
}

/** What one order of the owner's had of one trade. */
export interface FillRecord {
  /** Both rows of a trade between two of the owner's orders have it. */
  readonly trade_id: number
  readonly order_id: string
  readonly liquidity: 'maker' | 'taker'
  /** Engine values. */
  readonly side: Side
  readonly price: string
  readonly size: string
  readonly market: string
  readonly created_at: string
  /** USDC. */
  readonly fee?: string
  readonly tx_hash?: string
  /** On markets with an order entry spec: the fill in trader terms. */
  readonly spot_contract?: TraderTermsRecord
  /** Present, and true, when the chain has lost the settlement for good: the fill counts no longer. */
  readonly reversed?: true
}

export interface FillsPage {
  /** Newest first. */
  readonly fills: readonly FillRecord[]
  /** Where the next older page begins; absent when nothing is older. */
  readonly next_before?: string
}

export type CandleInterval = '1m' | '5m' | '15m' | '1h' | '4h' | '1d'

/** The trades of one interval, engine values. */
export interface CandleRecord {
  readonly bucket_start: string
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
  readonly quote_volume: string
  readonly trade_count: number
}

export interface CandlesPage {
  readonly interval: CandleInterval
  /** Oldest first; intervals without trades are absent. */
  readonly candles: readonly CandleRecord[]
}

/** A market as listings show it: on spot, USDC priced in cNGN. Prices that are unknown are empty text. */
export interface TickerRecord {
  readonly ticker_id: string
  readonly base_currency: string
  readonly target_currency: string
  readonly last_price: string
  readonly base_volume: string
  readonly target_volume: string
  readonly bid: string
  readonly ask: string
  readonly high: string
  readonly low: string
}

/** `data` of a `book` update: what one change did to one order. */
export interface BookDelta {
  readonly side: Side
  readonly price_ticks: string
  readonly limit_price: string
  readonly size_delta: string
  readonly order_open: string
  readonly order_id: string
}

/** `data` of an `orders` update: where one change left one of your orders. */
export interface OrderDelta {
  readonly order_id: string
  readonly status: OrderStatus
  readonly side: Side
  readonly filled_amount: string
  readonly desired_amount: string
  readonly limit_price: string
  readonly price_ticks: string
}

/** Body of `POST /v1/orders`. */
export interface OrderBody {
  readonly order_id: string
  readonly owner_address: string
  readonly signer_address: string
  readonly subaccount_id: string
  readonly recipient_id: string
  readonly nonce: string
  readonly asset_address: string
  readonly sub_id: string
  readonly worst_fee: string
  readonly expiry: number
  readonly action_json: ActionJson
  readonly signature: string
  readonly side: Side
  readonly desired_amount: string
  readonly limit_price: string
  readonly order_entry_spec?: string
  readonly ui_intent?: { readonly side: Side; readonly price: string; readonly size: string }
}
