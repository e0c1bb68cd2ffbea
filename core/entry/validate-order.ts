import type { OrderOptions } from '../../interface/order-options.js'
import type { Action, ActionJson, Address, TradeData } from '../action.js'
import type { Market } from '../model/market.js'
import { tradingOf } from '../contracts/registry.js'
import { exactNumber, formatDecimal } from '../decimal.js'
import type { Order, Side, UiIntent } from '../model/order.js'
import { parseAddress } from '../json.js'
import { amountE18, feePerUnitE18, type PriceE18 } from '../money.js'
import { LAST_DATE_SEC } from '../time.js'
import { belowMinNotional } from './order-refusals.js'
import { type OrRefusal, notAligned, refusals, wrongModule, type Refusal } from './refusals.js'
import { decodeTradeData, readAction, signedOrderText, type ReadAction } from './read-action.js'
import { readOrderTerms, signedAmount, type OrderTerms } from './order-terms.js'
import { findInstrument } from './find-market.js'
import { readOptions, readOrderBody, USUAL_OPTIONS, type OrderRequestBody } from './order-body.js'
import { ownTextsOf } from './signed-action.js'

/** What the checks need to know besides the body. */
export interface ValidationContext {
  readonly markets: readonly Market[]
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** Identity of a body whose required fields are there: what the duplicate check asks for first (ORD-022). */
export interface ClaimedIdentity {
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  /**
   * The signed content and the signature as one text, equal for a repeat of the same signed order; undefined when the
   * body's action cannot be read, and then it is not a repeat of any order.
   */
  readonly signedText: string | undefined
}

/** An order of which the intake still has to say how its signature stands, and whether code has signed it. */
export type UnjudgedOrder = Order & {
  signatureStatus: Order['signatureStatus']
  signedByCode?: true
}

/** An order that passed every check a body alone can fail. */
export interface ValidOrder {
  /** Not shared yet; its `signatureStatus` is `unchecked` until the intake has checked the signature. */
  readonly order: UnjudgedOrder
  readonly market: Market
  /** The signed action with its numbers read, as the signature check takes it. */
  readonly action: Action
}

/** A body whose required fields are there and well-formed, and its action as far as it can be read. */
export interface SubmittedOrder {
  readonly identity: ClaimedIdentity
  readonly fields: OrderRequestBody
  readonly signed: OrRefusal<ReadAction>
}

/** Reads the identity that a body claims; refuses missing or malformed required fields. Pure. */
export function readSubmittedOrder(body: unknown): OrRefusal<SubmittedOrder> {
  const fields = readOrderBody(body)
  if ('refusal' in fields) return fields
  const { orderId, owner, nonce, signature } = fields
  const signed = readAction(fields.actionJson)
  const signedText = 'refusal' in signed ? undefined : signedOrderText(signed, signature)
  return { identity: { orderId, owner, nonce, signedText }, fields, signed }
}

/** readSubmittedOrder and judgeOrder in one. Pure. */
export function validateOrder(body: unknown, context: ValidationContext): OrRefusal<ValidOrder> {
  const submitted = readSubmittedOrder(body)
  return 'refusal' in submitted ? submitted : judgeOrder(submitted, context)
}

/**
 * Checks a submitted order against its market, in the order of ORD-027, up to and including the decoded data;
 * custody, signature and uniqueness are checked by the intake. Pure.
 */
export function judgeOrder(
  { fields, signed }: SubmittedOrder,
  context: ValidationContext,
): OrRefusal<ValidOrder> {
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
  const { options, refusal } = readOptions(fields.options)
  const unaccepted = refuseByContract(market, options) ?? refusal
  if (unaccepted !== undefined) return { refusal: unaccepted }
  const dust = findDust(market, terms, decoded.data.limitPrice as PriceE18)
  if (dust !== undefined) return { refusal: dust }

  const limitPrice = decoded.data.limitPrice as PriceE18
  const expirySec = expiry.value
  const { nowMs } = context
  const checked = { terms, signed, options, limitPrice, expirySec, nowMs }
  const order = buildOrder(market, fields, checked)
  return { order, market, action }
}

function readExpiry(value: unknown, nowMs: number): OrRefusal<{ readonly value: number }> {
  if (value === undefined) return { refusal: refusals.expiryPast }
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    return { refusal: refusals.expiryInteger }
  }
  return isPast(BigInt(value), nowMs) ? { refusal: refusals.expiryPast } : { value }
}

/** The second of expiry counts as past: no block can carry the order in time. */
const isPast = (expirySec: bigint, nowMs: number): boolean =>
  expirySec * 1000n <= BigInt(Math.floor(nowMs))

function readSide(value: unknown): OrRefusal<{ readonly value: Side | undefined }> {
  return value === undefined || value === 'buy' || value === 'sell'
    ? { value }
    : { refusal: refusals.side }
}

function readInstrument(
  fields: OrderRequestBody,
  markets: readonly Market[],
): OrRefusal<{ readonly market: Market }> {
  const asset = parseAddress(fields.assetAddress)
  const market = asset === undefined ? undefined : findInstrument(markets, asset, fields.subId)
  if (market === undefined) return { refusal: refusals.instrument }
  return market.enabled ? { market } : { refusal: refusals.marketDisabled }
}

/** The flat fields and the signed action must say the same, and name the module that settles this market. */
function findDisagreement(
  market: Market,
  fields: OrderRequestBody,
  action: Action,
): Refusal | undefined {
  if (action.subaccountId !== fields.subaccountId) return refusals.actionSubaccount
  if (action.nonce !== fields.nonce) return refusals.actionNonce
  if (action.owner !== fields.owner) return refusals.actionOwner
  if (action.signer !== fields.signer) return refusals.actionSigner
  if (fields.recipientId !== fields.subaccountId) return refusals.recipient
  const { tradeModuleAddress } = market
  return action.module === tradeModuleAddress ? undefined : wrongModule(tradeModuleAddress)
}

/** The seven signed words must be exactly the body's numbers at the chain's scale (ORD-039 to ORD-042). */
function findWrongWord(
  market: Market,
  fields: OrderRequestBody,
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

/** Checks what only some contract types accept, in the order of ORD-027. */
function refuseByContract(market: Market, { reduceOnly }: OrderOptions): Refusal | undefined {
  const stated = { reduceOnly: reduceOnly === true }
  for (const check of tradingOf(market).restChecks) {
    const refusal = check(market, stated)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** What may still trade of an order must be worth the market's `min_notional` at its limit, rounded down. */
function findDust(market: Market, terms: OrderTerms, limit: PriceE18): Refusal | undefined {
  const { minNotional } = market
  if (minNotional === undefined) return undefined
  const { quoteOf, quoteSymbol } = tradingOf(market)
  const notional = quoteOf(market, limit, amountE18(terms.desired - terms.initialFilled))
  if (notional >= minNotional) return undefined
  const stated = formatDecimal(notional, 18)
  const least = formatDecimal(minNotional, 18)
  return belowMinNotional(stated, least, quoteSymbol(market))
}

interface CheckedTerms {
  readonly terms: OrderTerms
  readonly signed: ReadAction
  readonly options: OrderOptions
  readonly limitPrice: PriceE18
  readonly expirySec: number
  readonly nowMs: number
}

/** The earliest of both expiries and the market's last trade time (MAT-033, FUT-004). */
function goodUntil(market: Market, actionExpiry: bigint, expirySec: number): number {
  const signed = actionExpiry < BigInt(expirySec) ? exactNumber(actionExpiry) : expirySec
  const lastTradeSec = tradingOf(market).lastTradeSec?.(market)
  return lastTradeSec === undefined || signed < lastTradeSec ? signed : lastTradeSec
}

/** Rare fields are set afterwards: spreading them in costs as much as everything else. */
function buildOrder(
  market: Market,
  fields: OrderRequestBody,
  checked: CheckedTerms,
): UnjudgedOrder {
  const { terms, expirySec } = checked
  const actionExpiry = checked.signed.action.expiry
  const order: UnjudgedOrder & OptionalFields = {
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
    goodUntilSec: goodUntil(market, actionExpiry, expirySec),
    signatureStatus: 'unchecked',
    signer: fields.signer,
    expirySec,
    actionExpirySec: actionExpiry,
    signature: fields.signature,
  }
  const ownTexts = ownTextsOf(checked.signed)
  const warnings = warningsOf(market, fields, checked)
  const { options } = checked
  if (terms.uiIntent !== undefined) order.uiIntent = terms.uiIntent
  if (ownTexts !== undefined) order.ownTexts = ownTexts
  if (options !== USUAL_OPTIONS) Object.assign(order, options)
  if (warnings.length > 0) order.warnings = warnings
  return order
}

/** Fields that most orders do not have. */
interface OptionalFields {
  uiIntent?: UiIntent
  ownTexts?: Partial<ActionJson>
  warnings?: readonly string[]
}

/**
 * An order whose bound is below the schedule at its own limit may still trade as a maker (ORD-067). An expiry that is
 * more than ten years ahead is taken as it was sent, and is rarely meant (ORD-068). A field that looks like a trading
 * instruction but is not one was ignored.
 */
function warningsOf(
  market: Market,
  fields: OrderRequestBody,
  { terms, limitPrice, expirySec, nowMs }: CheckedTerms,
): readonly string[] {
  const { takerFee, feePerUnit } = tradingOf(market)
  const { desired } = terms
  const schedule = feePerUnit(takerFee(market, limitPrice, desired), desired)
  const warnings = fields.ignored.map((name) => `ignored_field:${name}`)
  const unit = farExpiryUnit(expirySec, nowMs / MS_PER_SEC)
  if (unit !== undefined) warnings.unshift(`expiry_far_ahead:${unit}`)
  if (fields.worstFee < schedule) warnings.unshift('worst_fee_below_taker_schedule')
  return warnings
}

const MS_PER_SEC = 1_000
const TEN_YEARS_SEC = 315_576_000

/** What an expiry more than ten years ahead is likely to be: another unit of a time within ten years, or no time at all. */
function farExpiryUnit(expirySec: number, nowSec: number): string | undefined {
  if (expirySec - nowSec <= TEN_YEARS_SEC) return undefined
  const isNear = (sec: number): boolean => Math.abs(sec - nowSec) <= TEN_YEARS_SEC
  if (isNear(expirySec / 1e3)) return 'milliseconds'
  if (isNear(expirySec / 1e6)) return 'microseconds'
  return expirySec > LAST_DATE_SEC ? 'never' : 'seconds'
}
