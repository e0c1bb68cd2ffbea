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
}

export interface TradesPage {
  readonly trades: readonly TradeRecord[]
  readonly stats_24h: Readonly<Record<string, string>>
  /** Where the next older page begins; absent on the last. */
  readonly next_before_trade_id?: number
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
