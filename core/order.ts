import type { Address } from './action.js'
import type { HoldReason } from './change.js'
import type { AmountE18, FeePerUnitE18, PriceE18 } from './money.js'
import type { OrderStatement } from './order-statement.js'

export type Side = 'buy' | 'sell'
export type OrderStatus = 'active' | 'matching' | 'filled' | 'cancelled' | 'expired'

/** The trader-facing statement of an order as it was sent (interface 4.4), side derived when it was absent. */
export interface UiIntent {
  readonly side: Side
  readonly price: string
  readonly size: string
}

/**
 * What a trader signed and the venue accepted: the terms that decide what becomes of it as fields, everything else as the
 * statement that is only passed on. It never changes; progress is kept beside it.
 */
export interface Order {
  readonly orderId: string
  readonly market: string
  readonly owner: Address
  readonly subaccountId: bigint
  readonly nonce: bigint
  readonly side: Side
  readonly desiredAmount: AmountE18
  /** What the client declared as filled before the order came here; counts as filled, was never a trade (B10). */
  readonly initialFilled: AmountE18
  readonly limitPrice: PriceE18
  readonly worstFee: FeePerUnitE18
  /** min(body expiry, signed action expiry), unix seconds: when the venue lets the order go (B8). */
  readonly goodUntilSec: number
  /** Present when the order was entered with `order_entry_spec`. */
  readonly uiIntent?: UiIntent
  /** `unchecked`: the chain could not be asked, so the order rests hidden until it has been (C9). */
  readonly signatureStatus: 'checked' | 'unchecked'
  /** What was signed and by whom, and the rest of what the order record shows of the order as it was sent. */
  readonly statement: OrderStatement
}

/** Where an order stands. `filled` counts settled amounts only; `pending` is matched and awaiting settlement. */
export interface OrderProgress {
  readonly status: OrderStatus
  readonly filled: AmountE18
  readonly pending: AmountE18
  /** What can be hit in the book now; zero while the order is held, and when it is gone. */
  readonly open: AmountE18
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** Why it is not open although it is not wholly pending; absent when it is open, and when it has ended. */
  readonly heldReason?: HoldReason
  readonly cancelReason?: string
  readonly cancelledAtMs?: number
}
