/** The order record built as an object, as the reference of the text that the venue writes. */
import { formatDecimal } from '../../core/decimal.js'
import type { Market } from '../../core/market.js'
import type { Order, OrderProgress } from '../../core/order.js'
import { readStatement } from '../../core/order-statement.js'
import { bookRecordJson } from '../../core/records/book-record.js'
import { isoTime } from '../../core/records/iso-time.js'
import { marketFields } from '../../core/records/market-entry.js'
import { spotContract } from '../../core/translation.js'

type Fields = Readonly<Record<string, unknown>>

/** What `orderRecordJson` says, field for field. */
export function orderFields(market: Market, order: Order, progress: OrderProgress): Fields {
  const stated = readStatement(order.statement)
  const { side, limitPrice: price, desiredAmount: amount } = order
  const fields = {
    order_id: order.orderId,
    owner_address: order.owner,
    signer_address: stated.signer,
    subaccount_id: order.subaccountId.toString(),
    recipient_id: stated.recipientId.toString(),
    nonce: order.nonce.toString(),
    side,
    asset_address: stated.assetAddress,
    sub_id: stated.subId.toString(),
    desired_amount: formatDecimal(amount, 18),
    limit_price: formatDecimal(price, 18),
    worst_fee: stated.worstFee.toString(),
    expiry: stated.expirySec,
    action_json: stated.action,
    signature: stated.signature,
    signature_status: order.signatureStatus,
    warnings: stated.warnings,
    ...progressFields(order, progress),
    ...marketFields(market),
    spot_contract: spotContract(market, { side, price, amount }, order.uiIntent),
  }
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present)
}

function progressFields(order: Order, progress: OrderProgress): Fields {
  const { cancelledAtMs } = progress
  return {
    status: progress.status,
    filled_amount: formatDecimal(progress.filled, 18),
    pending_amount: formatDecimal(progress.pending, 18),
    open_amount: formatDecimal(progress.open, 18),
    remaining_amount: formatDecimal(order.desiredAmount - progress.filled, 18),
    created_at: isoTime(progress.createdAtMs),
    updated_at: isoTime(progress.updatedAtMs),
    held_reason: progress.heldReason,
    cancel_reason: progress.cancelReason,
    cancelled_at: cancelledAtMs === undefined ? undefined : isoTime(cancelledAtMs),
  }
}

interface Shown {
  readonly order_id: string
  readonly limit_price: string
}

/** The book that the venue shows, read again. */
export const shownBook = (...args: Parameters<typeof bookRecordJson>) =>
  JSON.parse(bookRecordJson(...args)) as {
    readonly market_presentation: unknown
    readonly bids: readonly Shown[]
    readonly asks: readonly Shown[]
  }
