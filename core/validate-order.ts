import { readAction, signedOrderText } from './action-json.js'
import type { ReadAction } from './action-json.js'
import type { Action, Address, Hex, TradeData } from './action.js'
import type { Checked } from './checked.js'
import { exactNumber } from './decimal.js'
import { findInstrument } from './find-market.js'
import { parseAddress } from './json-fields.js'
import type { Market } from './market.js'
import { feePerUnitE18, feePerUnitFloor, takerFeeFloor } from './money.js'
import type { AmountE18, PriceE18 } from './money.js'
import { readOrderBody } from './order-body.js'
import type { OrderBody } from './order-body.js'
import { readOrderTerms, signedAmount } from './order-terms.js'
import type { OrderTerms } from './order-terms.js'
import { writeStatement } from './order-statement.js'
import type { OrderStatement } from './order-statement.js'
import type { Order, Side, UiIntent } from './order.js'
import { notAligned, refusals, wrongModule } from './refusals.js'
import type { Refusal } from './refusals.js'
import { decodeTradeData } from './trade-data.js'

/** What the checks need to know besides the body. */
export interface ValidationContext {
  readonly markets: readonly Market[]
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** Identity of a body whose required fields are there: what the duplicate check asks for first (decision C8). */
export interface ClaimedIdentity {
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  /**
   * The signed content and the signature as one text, equal for a repeat of the same signed order; undefined when the
   * body's action cannot be read, and then it is no repeat of any order.
   */
  readonly signedText: string | undefined
}

/** An order whose `signatureStatus` is still to be set. */
export type UnjudgedOrder = Order & { signatureStatus: Order['signatureStatus'] }

/** An order that passed every check a body alone can fail. */
export interface ValidOrder {
  /** Nobody else holds it; its `signatureStatus` is `unchecked` until the intake has asked the chain. */
  readonly order: UnjudgedOrder
  readonly market: Market
  /** The signed action with its numbers read, and its signature, as the signature check takes them. */
  readonly action: Action
  readonly signature: Hex
}

/** A body whose required fields are there and well-formed, and its action as far as it can be read. */
export interface SubmittedOrder {
  readonly identity: ClaimedIdentity
  readonly fields: OrderBody
  readonly signed: Checked<ReadAction>
}

/** Reads who an order claims to be; refuses a body whose required fields are missing or malformed. Pure. */
export function readSubmittedOrder(body: unknown): Checked<SubmittedOrder> {
  const fields = readOrderBody(body)
  if ('refusal' in fields) return fields
  const { orderId, owner, nonce, signature } = fields
  const signed = readAction(fields.actionJson)
  const signedText = 'refusal' in signed ? undefined : signedOrderText(signed, signature)
  return { identity: { orderId, owner, nonce, signedText }, fields, signed }
}

/** Checks an order body as judgeOrder does what was read of it. Pure. */
export function validateOrder(body: unknown, context: ValidationContext): Checked<ValidOrder> {
  const submitted = readSubmittedOrder(body)
  return 'refusal' in submitted ? submitted : judgeOrder(submitted, context)
}

/**
 * Checks a submitted order against its market, in the order of decision C8, up to and including the decoded data;
 * custody, signature and uniqueness are asked of the world by the intake. Pure.
 */
export function judgeOrder(
  { fields, signed }: SubmittedOrder,
  context: ValidationContext,
): Checked<ValidOrder> {
  const expiry = readExpiry(fields.expiry, context.nowMs)
  if ('refusal' in expiry) return expiry
  if ('refusal' in signed) return signed
  const { action } = signed
  if (isPast(action.expiry, context.nowMs)) return { refusal: refusals.actionExpiryPast }
  const side = readSide(fields.side)
  if ('refusal' in side) return side
  const instrument = readInstrument(fields, context.markets)
  if ('refusal' in instrument) return instrument
  const { market } = instrument
  const terms = readOrderTerms(market, fields, side.value)
  if ('refusal' in terms) return terms

  const disagreement = findDisagreement(market, fields, action)
  if (disagreement !== undefined) return { refusal: disagreement }
  const decoded = decodeTradeData(signed.json.data)
  if ('refusal' in decoded) return decoded
  const wrongWord = findWrongWord(market, fields, terms, decoded.data)
  if (wrongWord !== undefined) return { refusal: wrongWord }
  const reduceOnly = refuseReduceOnly(market, fields.reduceOnly)
  if (reduceOnly !== undefined) return { refusal: reduceOnly }

  const limitPrice = decoded.data.limitPrice as PriceE18
  const expirySec = expiry.value
  const order = buildOrder(market, fields, { terms, signed, limitPrice, expirySec })
  return { order, market, action, signature: fields.signature }
}

function readExpiry(value: unknown, nowMs: number): Checked<{ readonly value: number }> {
  if (value === undefined) return { refusal: refusals.expiryPast }
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    return { refusal: refusals.expiryInteger }
  }
  return isPast(BigInt(value), nowMs) ? { refusal: refusals.expiryPast } : { value }
}

/** The second itself counts as past: no block can still carry the order in time. */
const isPast = (expirySec: bigint, nowMs: number): boolean =>
  expirySec * 1000n <= BigInt(Math.floor(nowMs))

function readSide(value: unknown): Checked<{ readonly value: Side | undefined }> {
  return value === undefined || value === 'buy' || value === 'sell'
    ? { value }
    : { refusal: refusals.side }
}

function readInstrument(
  fields: OrderBody,
  markets: readonly Market[],
): Checked<{ readonly market: Market }> {
  const asset = parseAddress(fields.assetAddress)
  const market = asset === undefined ? undefined : findInstrument(markets, asset, fields.subId)
  if (market === undefined) return { refusal: refusals.instrument }
  return market.enabled ? { market } : { refusal: refusals.marketDisabled }
}

/** The flat fields and the signed action must say the same, and name the module that settles this market. */
function findDisagreement(market: Market, fields: OrderBody, action: Action): Refusal | undefined {
  if (action.subaccountId !== fields.subaccountId) return refusals.actionSubaccount
  if (action.nonce !== fields.nonce) return refusals.actionNonce
  if (action.owner !== fields.owner) return refusals.actionOwner
  if (action.signer !== fields.signer) return refusals.actionSigner
  if (fields.recipientId !== fields.subaccountId) return refusals.recipient
  const { tradeModuleAddress } = market
  return action.module === tradeModuleAddress ? undefined : wrongModule(tradeModuleAddress)
}

/** The seven signed words must be exactly the body's numbers at the chain's scale (decision C2). */
function findWrongWord(
  market: Market,
  fields: OrderBody,
  { side, prices, desired }: OrderTerms,
  data: TradeData,
): Refusal | undefined {
  if (data.asset !== market.assetAddress) return refusals.dataAsset
  if (data.subId !== fields.subId) return refusals.dataSubId
  if (data.isBid !== (side === 'buy')) return refusals.dataIsBid
  if (data.recipientId !== fields.recipientId) return refusals.dataRecipient
  if (data.worstFee !== fields.worstFee) return refusals.dataWorstFee
  const { limitPrice, desiredAmount } = data
  if (limitPrice <= 0n) return refusals.dataPricePositive
  if (!prices.some((price) => price === limitPrice)) {
    const [expected = 0n] = prices
    return notAligned('limitPrice', 'limit_price', texts(expected, limitPrice))
  }
  if (desiredAmount <= 0n) return refusals.dataAmountPositive
  const amount = signedAmount(market, desired)
  if (desiredAmount === amount) return undefined
  return notAligned('desiredAmount', 'desired_amount', texts(amount, desiredAmount))
}

const texts = (expected: bigint, signed: bigint) => ({
  expected: expected.toString(),
  signed: signed.toString(),
})

/** Contracts on which an order may be told to only shrink a position; the others hold balances, not positions. */
const reduceOnlyContracts: ReadonlySet<Market['contractType']> = new Set([
  'perpetual',
  'future',
  'deliverable_fx_future',
])

function refuseReduceOnly(market: Market, value: unknown): Refusal | undefined {
  if (value === undefined || value === false) return undefined
  if (value !== true) return refusals.reduceOnlyForm
  return reduceOnlyContracts.has(market.contractType) ? undefined : refusals.reduceOnlyUnsupported
}

interface CheckedTerms {
  readonly terms: OrderTerms
  readonly signed: ReadAction
  readonly limitPrice: PriceE18
  readonly expirySec: number
}

/** An intent is set afterwards: spreading it in costs as much as all the rest. */
function buildOrder(market: Market, fields: OrderBody, checked: CheckedTerms): UnjudgedOrder {
  const { terms, expirySec } = checked
  const actionExpiry = checked.signed.action.expiry
  const order: UnjudgedOrder & { uiIntent?: UiIntent } = {
    orderId: fields.orderId,
    market: market.market,
    owner: fields.owner,
    subaccountId: fields.subaccountId,
    nonce: fields.nonce,
    side: terms.side,
    desiredAmount: terms.desired,
    initialFilled: terms.initialFilled,
    limitPrice: checked.limitPrice,
    worstFee: feePerUnitE18(fields.worstFee),
    goodUntilSec: actionExpiry < BigInt(expirySec) ? exactNumber(actionExpiry) : expirySec,
    signatureStatus: 'unchecked',
    statement: stateOrder(market, fields, checked),
  }
  if (terms.uiIntent !== undefined) order.uiIntent = terms.uiIntent
  return order
}

function stateOrder(market: Market, fields: OrderBody, checked: CheckedTerms): OrderStatement {
  const warnings = feeWarnings(market, fields, checked.limitPrice, checked.terms.desired)
  return writeStatement({
    signer: fields.signer,
    recipientId: fields.recipientId,
    assetAddress: market.assetAddress,
    subId: market.subId,
    worstFee: feePerUnitE18(fields.worstFee),
    expirySec: checked.expirySec,
    action: checked.signed.json,
    signature: fields.signature,
    ...(warnings.length === 0 ? {} : { warnings }),
  })
}

/** An order that could not pay the schedule at its own limit may still trade as a maker (decision C12). */
function feeWarnings(
  market: Market,
  fields: OrderBody,
  price: PriceE18,
  amount: AmountE18,
): readonly string[] {
  const schedule = feePerUnitFloor(takerFeeFloor(price, amount, market.takerFeeBps), amount)
  return fields.worstFee < schedule ? ['worst_fee_below_taker_schedule'] : []
}
