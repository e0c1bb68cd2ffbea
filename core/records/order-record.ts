import type { OwnAccount } from '../../interface/explanation.js'
import type { MarketFields } from '../../interface/market.js'
import type { ActionJson, OrderRecord, SpotContract } from '../../interface/order.js'
import { ORDER_OPTIONS, type KeptOption, type OptionName } from '../../interface/order-options.js'
import { inTraderTerms, spotContract } from '../contracts/translation.js'
import { formatDecimal } from '../decimal.js'
import { isFinal, ownFilled, type OrderSums } from '../engine/order-sums.js'
import { actionJsonOf } from '../entry/signed-action.js'
import type { Market } from '../model/market.js'
import type { LegEvent } from '../model/match.js'
import type { Order, OrderProgress, UiIntent } from '../model/order.js'
import { isoTime } from '../time.js'
import { membersFrom, objectWriter, type Members, type OptionalMember } from './json-members.js'
import { marketEntry, marketFields, type ShownOfMarket } from './market-entry.js'
import { averageText, countedSums, feePaidText } from './order-figures.js'

/** An order as a record shows it. Sums of fills that are not known are left out. */
export interface ShownOrder {
  readonly order: Order
  readonly progress: OrderProgress
  /** Shown only where they are those of the fills that `progress` counts. Absent before its first fill, and where none is known. */
  readonly sums?: OrderSums | undefined
}

const { quoted, escaped, bare, written, ofMarket, ifAny } = membersFrom<ShownOrder, Market>()

/** The last amount and its text: most amounts of an order are the one that it asks for. */
let lastAmount = 0n
let lastText = '0'

function amountText(amount: bigint): string {
  if (amount === 0n) return '0'
  if (amount !== lastAmount) {
    lastText = formatDecimal(amount, 18)
    lastAmount = amount
  }
  return lastText
}

const textIfAny = (value: bigint | undefined): string | undefined =>
  value === undefined ? undefined : formatDecimal(value, 18)

/** Its sums, where they are those of the fills that it shows. */
const countedOf = ({ order, progress, sums }: ShownOrder): OrderSums | undefined =>
  countedSums(ownFilled(order, progress), sums)

type OptionMembers = {
  readonly [Name in OptionName]: OptionalMember<KeptOption<Name>, ShownOrder, Market>
}

/** Each in its own form: a word and `true` need no escape. */
const optionMembers = Object.fromEntries(
  ORDER_OPTIONS.map(({ name, key, declared }) => {
    const write =
      'flag' in declared ? ifAny.bare : 'lease' in declared ? ifAny.escaped : ifAny.quoted
    return [name, write(({ order }) => order[key])]
  }),
) as unknown as OptionMembers

/** The signed action in its canonical texts, which are digits and hex. */
const ofAction = membersFrom<ActionJson>()
const canonicalActionJson = objectWriter<ActionJson, ActionJson>({
  subaccount_id: ofAction.quoted((action) => action.subaccount_id),
  nonce: ofAction.quoted((action) => action.nonce),
  module: ofAction.quoted((action) => action.module),
  data: ofAction.quoted((action) => action.data),
  expiry: ofAction.quoted((action) => action.expiry),
  owner: ofAction.quoted((action) => action.owner),
  signer: ofAction.quoted((action) => action.signer),
})

/** The order in trader terms; texts of a sent intent are the client's. */
const ofTerms = membersFrom<SpotContract>()
const ofIntent = membersFrom<SpotContract['ui_intent']>()
const ofEngine = membersFrom<SpotContract['engine_order']>()
const ofDelta = membersFrom<SpotContract['balance_delta']>()
const spotContractJson = objectWriter<SpotContract, SpotContract>({
  spec: ofTerms.escaped((terms) => terms.spec),
  ui_intent: ofTerms.written(
    (terms) => terms.ui_intent,
    objectWriter<SpotContract['ui_intent'], SpotContract['ui_intent']>({
      side: ofIntent.quoted((intent) => intent.side),
      price: ofIntent.escaped((intent) => intent.price),
      size: ofIntent.escaped((intent) => intent.size),
    }),
  ),
  engine_order: ofTerms.written(
    (terms) => terms.engine_order,
    objectWriter<SpotContract['engine_order'], SpotContract['engine_order']>({
      side: ofEngine.quoted((engine) => engine.side),
      price: ofEngine.quoted((engine) => engine.price),
      amount: ofEngine.quoted((engine) => engine.amount),
    }),
  ),
  balance_delta: ofTerms.written(
    (terms) => terms.balance_delta,
    objectWriter<SpotContract['balance_delta'], SpotContract['balance_delta']>({
      usdc: ofDelta.quoted((moved) => moved.usdc),
      cngn: ofDelta.quoted((moved) => moved.cngn),
    }),
  ),
})

/** What the record repeats of its market. */
type MarketMembers = MarketFields & Pick<OrderRecord, 'asset_address' | 'sub_id'>

const marketMembers = (market: Market): MarketMembers => ({
  asset_address: market.assetAddress,
  sub_id: String(market.subId),
  ...marketFields(market),
})

/**
 * The order record with its additive fields (`open_amount`, `pending_amount`, ...), in the order in which it is written.
 */
const ORDER_MEMBERS: Members<OrderRecord, ShownOrder, Market> = {
  order_id: escaped(({ order }) => order.orderId),
  owner_address: quoted(({ order }) => order.owner),
  subaccount_id: quoted(({ order }) => `${order.subaccountId}`),
  nonce: quoted(({ order }) => `${order.nonce}`),
  side: quoted(({ order }) => order.side),
  desired_amount: quoted(({ order }) => amountText(order.desiredAmount)),
  limit_price: quoted(({ order }) => formatDecimal(order.limitPrice, 18)),
  signature_status: quoted(({ order }) => order.signatureStatus),
  ...optionMembers,
  signed_limit_price: ifAny.quoted(({ order }) => textIfAny(order.signedLimitPrice)),
  signed_desired_amount: ifAny.quoted(({ order }) => textIfAny(order.signedDesiredAmount)),
  replaces_order_id: ifAny.escaped(({ order }) => order.replaces),
  status: quoted(({ progress }) => progress.status),
  final: bare(({ progress }) => isFinal(progress)),
  filled_amount: quoted(({ order, progress }) => amountText(ownFilled(order, progress))),
  inherited_filled_amount: quoted(({ order }) => amountText(order.initialFilled)),
  pending_amount: quoted(({ progress }) => amountText(progress.pending)),
  open_amount: quoted(({ progress }) => amountText(progress.open)),
  remaining_amount: quoted(({ order, progress }) =>
    amountText(order.desiredAmount - progress.filled),
  ),
  created_at: quoted(({ progress }) => isoTime(progress.createdAtMs)),
  updated_at: quoted(({ progress }) => isoTime(progress.updatedAtMs)),
  held_reason: ifAny.quoted(({ progress }) => progress.heldReason),
  cancel_reason: ifAny.escaped(({ progress }) => progress.cancelReason),
  cancelled_at: ifAny.quoted(({ progress: { cancelledAtMs } }) =>
    cancelledAtMs === undefined ? undefined : isoTime(cancelledAtMs),
  ),
  filled_quote: ifAny.quoted((shown) => textIfAny(countedOf(shown)?.quote)),
  average_price: ifAny.quoted((shown) => averageText(countedOf(shown))),
  fee_paid: ifAny.quoted(({ order, progress, sums }) =>
    feePaidText(ownFilled(order, progress), sums),
  ),
  ...ofMarket<MarketMembers>(
    {
      asset_address: true,
      sub_id: true,
      market: true,
      contract_type: true,
      settlement_type: true,
      base_asset_symbol: true,
      quote_asset_symbol: true,
      display_name: true,
      display_label: true,
      tick_size: true,
      price_semantics: true,
      display_semantics: true,
    },
    marketMembers,
  ),
  spot_contract: ifAny.written(presentedTerms, (terms) => spotContractJson(terms)),
  signer_address: quoted(({ order }) => order.signer),
  recipient_id: quoted(({ order }) => `${order.subaccountId}`),
  worst_fee: quoted(({ order }) => `${order.worstFee}`),
  expiry: bare(({ order }) => order.expirySec),
  action_json: written(
    ({ order }, market) => actionJsonOf(market, order),
    (action, { order }) =>
      order.ownTexts === undefined ? canonicalActionJson(action) : JSON.stringify(action),
  ),
  signature: quoted(({ order }) => order.signature),
  warnings: ifAny.written(
    ({ order }) => order.warnings,
    (warnings) => JSON.stringify(warnings),
  ),
}

const orderJson = objectWriter<OrderRecord, ShownOrder, Market>(ORDER_MEMBERS)

/** The order record as JSON text. */
export const orderRecordJson = (market: Market, shown: ShownOrder): string =>
  orderJson(shown, market)

/** The body of `GET /v1/orders/{order_id}`: the record flat, and once more as `order` (ORD-078). */
export function orderLookupJson(market: Market, shown: ShownOrder): string {
  const record = orderRecordJson(market, shown)
  const reason = shown.progress.cancelReason === undefined ? '"cancel_reason":"",' : ''
  return `{${reason}"order":${record},${record.slice(1)}`
}

function presentedTerms({ order }: ShownOrder, market: Market): SpotContract | undefined {
  const { side, limitPrice: price, desiredAmount: amount } = order
  return spotContract(market, { side, price, amount }, standingIntent(market, order))
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
}: LegEvent): PendingMatch => ({
  settlement_id: settlementId,
  at: isoTime(atMs),
  liquidity,
  price: formatDecimal(price, 18),
  size: formatDecimal(amount, 18),
})
