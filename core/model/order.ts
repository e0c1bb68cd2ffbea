import type { OrderStatus } from '../../interface/order.js'
import type { OrderOptions } from '../../interface/order-options.js'
import type { HoldReason } from '../../interface/reasons.js'
import type { Side } from '../../interface/values.js'
import type { ActionJson, Address, Hex } from '../action.js'
import type { AmountE18, FeePerUnitE18, PriceE18 } from '../money.js'

export {
  ORDER_OPTIONS,
  type OrderOption,
  type OrderOptions,
} from '../../interface/order-options.js'

export type { OrderStatus, Side }

/** The trader-facing statement of an order as it was sent, side derived when it was absent. */
export interface UiIntent {
  readonly side: Side
  readonly price: string
  readonly size: string
}

export type TimeInForce = NonNullable<OrderOptions['timeInForce']>
export type PostOnly = NonNullable<OrderOptions['postOnly']>
export type SelfTradePrevention = NonNullable<OrderOptions['stp']>

/**
 * What a trader signed and the venue accepted. It never changes; progress is kept apart from it. The signed action is not here:
 * it follows from these terms and the market (core/entry/signed-action.ts). Options are declared in interface/order-options.ts.
 */
export interface Order extends OrderOptions {
  readonly orderId: string
  readonly market: string
  readonly owner: Address
  readonly subaccountId: bigint
  readonly nonce: bigint
  readonly side: Side
  /** As it was signed, or as much as it was reduced to. */
  readonly desiredAmount: AmountE18
  /** Amount that the client declared as filled before submission; counts as filled, was never a trade (ORD-013). */
  readonly initialFilled: AmountE18
  readonly limitPrice: PriceE18
  readonly worstFee: FeePerUnitE18
  /** The earliest of body expiry, signed action expiry and the market's last trade, unix seconds (MAT-033, FUT-004). */
  readonly goodUntilSec: number
  /** Present when the order was entered with `order_entry_spec`. */
  readonly uiIntent?: UiIntent
  /** What was signed as limit, where the market has booked the order at another `limitPrice`. */
  readonly signedLimitPrice?: PriceE18
  /** What was signed as amount, where the order was reduced to another `desiredAmount`. */
  readonly signedDesiredAmount?: AmountE18
  /** Id of the order that it has replaced, whose settled and matched amounts `initialFilled` counts. */
  readonly replaces?: string
  /** `unchecked`: the chain could not be asked, so the order rests hidden until it has been (AUT-011). */
  readonly signatureStatus: 'checked' | 'unchecked'
  /** Who signed: the owner, or a session key of the owner. */
  readonly signer: Address
  /** Present when the signer is code: a contract, or a key that delegates to one. Its matches have a window (code-windows.ts). */
  readonly signedByCode?: true
  /** Unix seconds of the body's `expiry`. */
  readonly expirySec: number
  /** Unix seconds of the signed action's `expiry`, any uint256. */
  readonly actionExpirySec: bigint
  /** As it was sent. */
  readonly signature: Hex
  /** Texts of `action_json` as they were sent, of those fields that do not have the canonical spelling. */
  readonly ownTexts?: Partial<ActionJson>
  readonly warnings?: readonly string[]
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
  /** Why the unmatched part is not open; absent when it is open, and when the order has ended. */
  readonly heldReason?: HoldReason
  readonly cancelReason?: string
  readonly cancelledAtMs?: number
}

/** Whether an order with this status can still be open later. */
export const isLiving = (status: OrderStatus): boolean =>
  status === 'active' || status === 'matching'
