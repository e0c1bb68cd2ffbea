import type { Database } from 'better-sqlite3'
import { assert } from '../../core/assert.js'
import type { HoldReason } from '../../core/model/hold.js'
import type { Order } from '../../core/model/order.js'
import { amountE18, priceE18, type AmountE18, type PriceE18 } from '../../core/money.js'
import type { Hex } from '../../core/action.js'
import { blobOf, hexOf } from '../row-values.js'
import { ORDER_EVENTS_MAX } from './write-events.js'

/** What happened to an order besides its placement, its fills and its end. */
export interface OrderEvent {
  readonly atMs: number
  readonly kind: 'held' | 'released' | 'refused' | 'reversed'
  readonly hold?: HoldReason
  readonly settlementId?: string
  readonly revert?: string
  readonly tradeId?: number
}

/** A settled match of an order. */
export interface LifeFill {
  readonly atMs: number
  readonly tradeId: number
  readonly settlementId: string
  readonly counterpartId: string
  readonly liquidity: 'maker' | 'taker'
  readonly price: PriceE18
  readonly amount: AmountE18
  readonly txHash: Hex
  readonly blockNumber: bigint
}

/** The newest events and fills of an order, oldest first; `isWhole` says whether they are all. */
export interface OrderLife {
  readonly events: readonly OrderEvent[]
  readonly fills: readonly LifeFill[]
  readonly isWhole: boolean
}

/** Most fills of one answer. */
const FILLS_MAX = 100
/** Most fills of the owner that are searched for those of the order. */
const SEARCHED_MAX = 10_000

/** SQL of the events of one order. */
export const ORDER_EVENTS_SQL = `
  SELECT at_ms AS atMs, kind, held_reason AS hold, settlement_id AS settlementId, revert, trade_id AS tradeId
  FROM order_events WHERE order_key = (SELECT order_key FROM orders WHERE order_id = ?)
  ORDER BY event_key`

/** SQL of the legs of one owner since the order was placed, of which those of the order are taken, the newest first. */
export const ORDER_LEGS_SQL = `
  SELECT at_ms AS atMs, trade_id AS tradeId, order_id AS orderId, liquidity, price, amount, tx_hash AS txHash
  FROM fills WHERE owner = ? AND at_ms >= ?
  ORDER BY at_ms DESC, fill_key DESC
  LIMIT ${SEARCHED_MAX}`

const TRADE_SQL = `
  SELECT settlement_id AS settlementId, block_number AS blockNumber, other.order_id AS counterpartId
  FROM trades JOIN orders AS other
    ON other.order_key = CASE WHEN ? = 'maker' THEN taker_order_key ELSE maker_order_key END
  WHERE trade_id = ?`

interface EventRow {
  readonly atMs: number
  readonly kind: OrderEvent['kind']
  readonly hold: HoldReason | null
  readonly settlementId: string | null
  readonly revert: string | null
  readonly tradeId: number | null
}

interface LegRow {
  readonly atMs: number
  readonly tradeId: number
  readonly orderId: string
  readonly liquidity: 'maker' | 'taker'
  readonly price: string
  readonly amount: string
  readonly txHash: Buffer
}

interface LifeTradeRow {
  readonly settlementId: string
  readonly blockNumber: number
  readonly counterpartId: string
}

/** What happened to an order. The cost is bounded, however long its owner's history is. */
export function createReadLife(
  db: Database,
): (order: Pick<Order, 'orderId' | 'owner'>, placedAtMs: number) => OrderLife {
  const events = db.prepare<[string], EventRow>(ORDER_EVENTS_SQL).safeIntegers(false)
  const legs = db.prepare<[Buffer, number], LegRow>(ORDER_LEGS_SQL).safeIntegers(false)
  const trade = db.prepare<[string, number], LifeTradeRow>(TRADE_SQL).safeIntegers(false)
  return ({ orderId, owner }, placedAtMs) => {
    const happened = events.all(orderId).map(eventOf)
    const searched = legs.all(blobOf(owner), placedAtMs)
    const own = searched.filter((leg) => leg.orderId === orderId)
    const fills = own
      .slice(0, FILLS_MAX)
      .map((leg) => fillOf(leg, trade.get(leg.liquidity, leg.tradeId)))
    const isWhole =
      searched.length < SEARCHED_MAX &&
      own.length <= FILLS_MAX &&
      happened.length < ORDER_EVENTS_MAX
    return { events: happened, fills: fills.reverse(), isWhole }
  }
}

const eventOf = ({ atMs, kind, hold, settlementId, revert, tradeId }: EventRow): OrderEvent => ({
  atMs,
  kind,
  ...(hold !== null && { hold }),
  ...(settlementId !== null && { settlementId }),
  ...(revert !== null && { revert }),
  ...(tradeId !== null && { tradeId }),
})

/** A trade is written in the transaction of its legs, and its orders stay as long as it does. */
function fillOf(leg: LegRow, trade: LifeTradeRow | undefined): LifeFill {
  assert(trade !== undefined, `trade ${leg.tradeId} has a leg and no row`)
  return {
    atMs: leg.atMs,
    tradeId: leg.tradeId,
    liquidity: leg.liquidity,
    settlementId: trade.settlementId,
    counterpartId: trade.counterpartId,
    price: priceE18(BigInt(leg.price)),
    amount: amountE18(BigInt(leg.amount)),
    txHash: hexOf(leg.txHash),
    blockNumber: BigInt(trade.blockNumber),
  }
}
