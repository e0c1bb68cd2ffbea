import type { OwnAccount } from '../../interface/explanation.js'
import type { ActionJson } from '../action.js'
import type { Market } from '../model/market.js'
import { inTraderTerms, spotContract } from '../contracts/translation.js'
import { formatDecimal } from '../decimal.js'
import type { Order, OrderProgress, UiIntent } from '../model/order.js'
import { isFinal, ownFilled, type OrderSums } from '../engine/order-sums.js'
import { actionJsonOf } from '../entry/signed-action.js'
import { jsonText } from '../json.js'
import type { FillEvent } from '../model/match.js'
import { isoTime } from '../time.js'
import { marketEntry, marketFields, type ShownOfMarket } from './market-entry.js'
import { figureMembers } from './order-figures.js'

/** Members of a JSON object, each with the comma that parts it from the next. */
type Members = string

/**
 * The order record with its additive fields (`open_amount`, `pending_amount`, ...) as JSON text. Written by
 * hand: V8 takes several times as long to build such an object and to turn it into text.
 */
export function orderRecordJson(market: Market, { order, progress, sums }: ShownOrder): string {
  return `{${recordMembers(market, order, progress, sums)}${signedMembers(market, order)}}`
}

/** An order as a record shows it. Sums of fills that are not known are left out. */
export interface ShownOrder {
  readonly order: Order
  readonly progress: OrderProgress
  /** Shown only where they are those of the fills that `progress` counts. Absent before its first fill, and where none is known. */
  readonly sums?: OrderSums | undefined
}

/** The body of `GET /v1/orders/{order_id}`: the record flat, and once more as `order` (ORD-078). */
export function orderLookupJson(market: Market, shown: ShownOrder): string {
  const record = orderRecordJson(market, shown)
  const reason = shown.progress.cancelReason === undefined ? '"cancel_reason":"",' : ''
  return `{${reason}"order":${record},${record.slice(1)}`
}

/** What was signed, and by whom. */
function signedMembers(market: Market, order: Order): Members {
  const { signer, subaccountId, worstFee, expirySec, signature, warnings } = order
  const action = actionJsonOf(market, order)
  // The canonical texts are digits and hex, which need no escape.
  const actionText = order.ownTexts === undefined ? plainAction(action) : JSON.stringify(action)
  const warned = warnings === undefined ? '' : `,"warnings":${JSON.stringify(warnings)}`
  return `"signer_address":"${signer}","recipient_id":"${subaccountId}","worst_fee":"${worstFee}","expiry":${expirySec},"action_json":${actionText},"signature":"${signature}"${warned}`
}

const plainAction = (action: ActionJson): string =>
  `{"subaccount_id":"${action.subaccount_id}","nonce":"${action.nonce}","module":"${action.module}","data":"${action.data}","expiry":"${action.expiry}","owner":"${action.owner}","signer":"${action.signer}"}`

function recordMembers(
  market: Market,
  order: Order,
  progress: OrderProgress,
  sums: OrderSums | undefined,
): Members {
  const desired = formatDecimal(order.desiredAmount, 18)
  const limit = formatDecimal(order.limitPrice, 18)
  const terms = `"order_id":${jsonText(order.orderId)},"owner_address":"${order.owner}","subaccount_id":"${order.subaccountId}","nonce":"${order.nonce}","side":"${order.side}","desired_amount":"${desired}","limit_price":"${limit}","signature_status":"${order.signatureStatus}",`
  const reduces = order.reduceOnly === true ? '"reduce_only":true,' : ''
  return `${terms}${reduces}${controlMembers(order)}${progressMembers(order, progress, desired)}${figureMembers(ownFilled(order, progress), sums)}${marketMembers(market)}${presentedTerms(market, order)}`
}

/** Usually empty. */
function controlMembers(order: Order): Members {
  const { timeInForce, postOnly, stp, stpScope, leaseId } = order
  const inForce = timeInForce === undefined ? '' : `"time_in_force":"${timeInForce}",`
  const only = postOnly === undefined ? '' : `"post_only":"${postOnly}",`
  const own = stp === undefined ? '' : `"stp":"${stp}",`
  const scope = stpScope === undefined ? '' : `"stp_scope":"${stpScope}",`
  const lease = leaseId === undefined ? '' : `"lease_id":${jsonText(leaseId)},`
  return inForce + only + own + scope + lease + originMembers(order)
}

/** What was signed where it is not what stands, and what the order has replaced. Usually empty. */
function originMembers({ signedLimitPrice, signedDesiredAmount, replaces }: Order): Members {
  const price =
    signedLimitPrice === undefined
      ? ''
      : `"signed_limit_price":"${formatDecimal(signedLimitPrice, 18)}",`
  const amount =
    signedDesiredAmount === undefined
      ? ''
      : `"signed_desired_amount":"${formatDecimal(signedDesiredAmount, 18)}",`
  const before = replaces === undefined ? '' : `"replaces_order_id":${jsonText(replaces)},`
  return price + amount + before
}

function progressMembers(order: Order, progress: OrderProgress, desired: string): Members {
  const { filled, createdAtMs, updatedAtMs } = progress
  // Most amounts are zero or the whole order.
  const amount = (value: bigint): string =>
    value === order.desiredAmount ? desired : formatDecimal(value, 18)
  const createdAt = isoTime(createdAtMs)
  const updatedAt = updatedAtMs === createdAtMs ? createdAt : isoTime(updatedAtMs)
  const remaining = amount(order.desiredAmount - filled)
  const inherited = amount(order.initialFilled)
  return `"status":"${progress.status}","final":${isFinal(progress)},"filled_amount":"${amount(ownFilled(order, progress))}","inherited_filled_amount":"${inherited}","pending_amount":"${amount(progress.pending)}","open_amount":"${amount(progress.open)}","remaining_amount":"${remaining}","created_at":"${createdAt}","updated_at":"${updatedAt}",${reasonMembers(progress)}`
}

/** Usually empty. */
function reasonMembers({ heldReason, cancelReason, cancelledAtMs }: OrderProgress): Members {
  const held = heldReason === undefined ? '' : `"held_reason":"${heldReason}",`
  const reason = cancelReason === undefined ? '' : `"cancel_reason":${jsonText(cancelReason)},`
  const at = cancelledAtMs === undefined ? '' : `"cancelled_at":"${isoTime(cancelledAtMs)}",`
  return held + reason + at
}

const membersOfMarkets = new WeakMap<Market, Members>()

/** Equal for every order of a market, so it is written once. */
function marketMembers(market: Market): Members {
  const known = membersOfMarkets.get(market)
  if (known !== undefined) return known
  const instrument = { asset_address: market.assetAddress, sub_id: String(market.subId) }
  const members = `${JSON.stringify({ ...instrument, ...marketFields(market) }).slice(1, -1)},`
  membersOfMarkets.set(market, members)
  return members
}

function presentedTerms(market: Market, order: Order): Members {
  const contract = spotContract(
    market,
    { side: order.side, price: order.limitPrice, amount: order.desiredAmount },
    standingIntent(market, order),
  )
  if (contract === undefined) return ''
  const { spec, ui_intent: intent, engine_order: engine, balance_delta: delta } = contract
  return `"spot_contract":{"spec":${jsonText(spec)},"ui_intent":{"side":"${intent.side}","price":${jsonText(intent.price)},"size":${jsonText(intent.size)}},"engine_order":{"side":"${engine.side}","price":"${engine.price}","amount":"${engine.amount}"},"balance_delta":{"usdc":"${delta.usdc}","cngn":"${delta.cngn}"}},`
}

/**
 * The sent intent of an order as it stands now: with the present size if the order was reduced, and undefined if it is booked at
 * another price. Otherwise a book that is read by intents would show prices and sizes that cannot be hit.
 */
function standingIntent(market: Market, order: Order): UiIntent | undefined {
  const { uiIntent, signedLimitPrice, signedDesiredAmount } = order
  if (uiIntent === undefined || signedLimitPrice !== undefined) return undefined
  if (signedDesiredAmount === undefined) return uiIntent
  const { limitPrice: price, desiredAmount: amount } = order
  return { ...uiIntent, size: inTraderTerms(market, { price, amount }).size }
}

/** An order that can be hit, with its rank. */
export interface OpenOrder extends ShownOrder {
  /** Time priority within a price: number of placement in the market's log. */
  readonly rank: number
}

/**
 * The body of `GET /v1/book`, which is also the `book` channel's snapshot (REA-011), as JSON text: bids
 * high to low, asks low to high, then time priority. `depth` keeps that many orders of each side. The open orders may
 * come in any order.
 */
export const bookRecordJson = (
  market: Market,
  openOrders: Iterable<OpenOrder>,
  { depth, ...shown }: ShownOfMarket & { readonly depth?: number | undefined },
): string => bookHeadJson(market, shown) + bookOrdersJson(market, openOrders, depth)

/** The book's text in two parts, since the market may change while its orders stay: up to the orders, and from there on. */
export const bookHeadJson = (market: Market, shown: ShownOfMarket): string =>
  `{"market_presentation":${JSON.stringify(marketEntry(market, shown))},`

export function bookOrdersJson(
  market: Market,
  openOrders: Iterable<OpenOrder>,
  depth?: number,
): string {
  const { bids, asks } = sidesOf(openOrders)
  const json = (side: readonly OpenOrder[]): string =>
    side
      .slice(0, depth)
      .map((open) => orderRecordJson(market, open))
      .join(',')
  return `"bids":[${json(bids)}],"asks":[${json(asks)}]}`
}

/** The two sides of a book, each with its best price first, then its earlier order. The orders may come in any order. */
export function sidesOf(openOrders: Iterable<OpenOrder>): Record<'bids' | 'asks', OpenOrder[]> {
  const bids = new Map<bigint, OpenOrder[]>()
  const asks = new Map<bigint, OpenOrder[]>()
  for (const open of openOrders) {
    const levels = open.order.side === 'buy' ? bids : asks
    const level = levels.get(open.order.limitPrice)
    if (level === undefined) levels.set(open.order.limitPrice, [open])
    else level.push(open)
  }
  const inOrder = (levels: Map<bigint, OpenOrder[]>, sign: 1 | -1): OpenOrder[] =>
    [...levels]
      .sort(([a], [b]) => (a < b ? -sign : sign))
      .flatMap(([, level]) => level.sort((a, b) => a.rank - b.rank))
  return { bids: inOrder(bids, -1), asks: inOrder(asks, 1) }
}

/** A match of an order that awaits settlement. */
export interface PendingMatch {
  readonly settlement_id: string
  /** When it was proposed. */
  readonly at: string
  readonly liquidity: 'maker' | 'taker'
  readonly price: string
  readonly size: string
}

/** What the fan-out knows of an order besides the read model; `account` only for its owner, while the order is live. */
export interface OrderFacts {
  readonly matches: readonly PendingMatch[]
  readonly account?: OwnAccount
}

/** Presents a pending leg: nothing of the other order of the match. */
export const pendingMatch = ({
  settlementId,
  liquidity,
  price,
  amount,
  atMs,
}: FillEvent): PendingMatch => ({
  settlement_id: settlementId,
  at: isoTime(atMs),
  liquidity,
  price: formatDecimal(price, 18),
  size: formatDecimal(amount, 18),
})
