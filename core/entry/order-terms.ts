import { assert } from '../assert.js'
import type { Market } from '../model/market.js'
import {
  intentToEngine,
  isNeighbour,
  oppositeSide,
  type TranslatedTerms,
} from '../contracts/translation.js'
import { formatDecimal, isNegativeDecimal, parseDecimal } from '../decimal.js'
import type { Side, UiIntent } from '../model/order.js'
import { asJsonObject, fieldOf, type JsonFields } from '../json.js'
import { INT256_MAX, MAX_NUMBER_DIGITS } from '../limits.js'
import { amountE18, E18, priceE18, type AmountE18, type PriceE18 } from '../money.js'
import {
  type OrRefusal,
  belowMinSize,
  fieldRequired,
  invalidDecimal,
  notPositive,
  offStep,
  offTick,
  type Refusal,
  refusals,
  translationMismatch,
  wrongOrderEntrySpec,
  type NearestValues,
} from './refusals.js'
import type { OrderRequestBody } from './order-body.js'

/** What the body asks for in engine terms, before the signed words are compared with it. */
export interface OrderTerms {
  readonly side: Side
  /** Prices that the signed word may state: the sent one, or the ticks next to the exact translation. */
  readonly prices: readonly PriceE18[]
  readonly desired: AmountE18
  readonly initialFilled: AmountE18
  readonly uiIntent?: UiIntent
}

/** Reads side, price and amounts: translation first, then price, then amounts. `side` is the flat one, if sent. */
export function readOrderTerms(
  market: Market,
  body: OrderRequestBody,
  side: Side | undefined,
): OrRefusal<OrderTerms> {
  const translated = translateIntent(market, body, side)
  if ('refusal' in translated) return translated
  const { engine, intent } = translated
  const engineSide = side ?? engine?.side
  assert(engineSide !== undefined, 'a body without side and intent passed the check of its fields')

  const prices = readPrices(market, body.limitPrice, engine)
  if ('refusal' in prices) return prices
  const desired = readDesired(market, body.desiredAmount, engine?.amount)
  if ('refusal' in desired) return desired
  const filled = readFilled(market, body.filledAmount, desired.value)
  if ('refusal' in filled) return filled
  const amounts = [desired.value, signedAmount(market, desired.value)]
  if (prices.value.some((price) => amounts.some((amount) => !fitsChain(price, amount)))) {
    return { refusal: refusals.notionalRange }
  }
  const terms = {
    side: engineSide,
    prices: prices.value,
    desired: desired.value,
    initialFilled: filled.value,
  }
  return intent === undefined ? terms : { ...terms, uiIntent: intent }
}

/** The amount as the signed word carries it; exact, since steps are whole units of the market's scale. */
export const signedAmount = (market: Market, amount: AmountE18): bigint =>
  (amount * market.amountScale) / E18

/** The size of which the chain has this amount; rounded down, exact for what signedAmount gives. */
export const sizeOfSigned = (
  { amountScale }: Pick<Market, 'amountScale'>,
  amount: bigint,
): AmountE18 => amountE18((amount * E18) / amountScale)

/** The trade module multiplies the two words before it divides by 1e18, and the engine stores the product. */
const fitsChain = (price: PriceE18, amount: bigint): boolean => price * amount <= INT256_MAX

type DerivedPrices = {
  readonly price: PriceE18
  readonly priceFloor: PriceE18
  readonly priceCeil: PriceE18
}

function readPrices(
  market: Market,
  sent: unknown,
  derived: DerivedPrices | undefined,
): OrRefusal<{ readonly value: readonly PriceE18[] }> {
  const read =
    sent === undefined && derived !== undefined
      ? derivedPrices(derived)
      : readPrice(sent, market.tickSize)
  if ('refusal' in read) return read
  const prices = typeof read.value === 'bigint' ? [priceE18(read.value)] : read.value
  const tick = market.tickSize
  const off = prices.find((price) => price % tick !== 0n)
  return off === undefined
    ? { value: prices }
    : { refusal: offTick(formatDecimal(tick, 18), nearest(off, tick)) }
}

/** A price with more decimals than any tick is off the tick, not malformed. */
function readPrice(sent: unknown, tick: bigint): OrRefusal<{ readonly value: bigint }> {
  const read = readPositive('limit_price', sent)
  if (!('refusal' in read)) return read
  const exact = parseDecimal(sent, MAX_NUMBER_DIGITS)
  if (exact === undefined) return read
  if (exact === 0n) return { refusal: notPositive('limit_price') }
  const floor = exact / 10n ** BigInt(MAX_NUMBER_DIGITS - 18)
  return { refusal: offTick(formatDecimal(tick, 18), nearest(floor, tick)) }
}

/**
 * A price so high that its reciprocal is below half a tick has no engine price. From there up to one tick the lower
 * neighbour is 0, which no signed word states: that is refused first.
 */
function derivedPrices(derived: DerivedPrices): OrRefusal<{ readonly value: readonly PriceE18[] }> {
  const { price, priceFloor, priceCeil } = derived
  if (price === 0n) return { refusal: notPositive('limit_price') }
  return { value: [price, priceFloor, priceCeil] }
}

function readDesired(
  market: Market,
  sent: unknown,
  derived: AmountE18 | undefined,
): OrRefusal<{ readonly value: AmountE18 }> {
  const read =
    sent === undefined && derived !== undefined
      ? { value: derived }
      : readPositive('desired_amount', sent)
  if ('refusal' in read) return read
  const value = amountE18(read.value)
  const refusal = refuseDesired(market, value)
  return refusal === undefined ? { value } : { refusal }
}

/** Why no order of the market may ask for an amount above zero; undefined when one may. */
export function refuseDesired(
  { minSize: step }: Pick<Market, 'minSize'>,
  value: AmountE18,
): Refusal | undefined {
  if (value < step) return belowMinSize(formatDecimal(step, 18))
  if (value % step === 0n) return undefined
  return offStep('desired_amount', formatDecimal(step, 18), nearest(value, step))
}

function readFilled(
  market: Market,
  sent: unknown,
  desired: AmountE18,
): OrRefusal<{ readonly value: AmountE18 }> {
  if (sent === undefined) return { value: amountE18(0n) }
  const step = market.minSize
  if (isNegativeDecimal(sent)) return { refusal: refusals.filledNegative }
  const value = parseDecimal(sent, 18)
  if (value === undefined) return { refusal: invalidDecimal('filled_amount', sent, 18) }
  if (value > desired) return { refusal: refusals.filledExceeds }
  if (value % step !== 0n) {
    const values = nearest(value, step)
    return { refusal: offStep('filled_amount', formatDecimal(step, 18), values) }
  }
  return { value: amountE18(value) }
}

/** The multiples of a grid on both sides of a value that is none. */
function nearest(value: bigint, grid: bigint): NearestValues {
  const below = value - (value % grid)
  const above = formatDecimal(below + grid, 18)
  return below > 0n ? { below: formatDecimal(below, 18), above } : { above }
}

/** A body's intent and what it means to the engine; both absent when the body is in engine terms. */
export interface TranslatedIntent {
  readonly intent?: UiIntent
  readonly engine?: TranslatedTerms
}

/** Translates `ui_intent` when it was sent and compares the flat fields with it, as far as they are numbers. */
export function translateIntent(
  market: Market,
  body: OrderRequestBody,
  flatSide: Side | undefined,
): OrRefusal<TranslatedIntent> {
  const { orderEntrySpec, uiIntent } = body
  if (orderEntrySpec === undefined && uiIntent === undefined) return {}
  if (market.orderEntry === undefined) return { refusal: refusals.translationUnsupported }
  if (uiIntent === undefined) return { refusal: refusals.uiIntentMissing }
  if (orderEntrySpec === undefined) return { refusal: refusals.orderEntrySpecMissing }
  const { name, orientation } = market.orderEntry
  if (orderEntrySpec !== name) return { refusal: wrongOrderEntrySpec(name) }

  const fields = asJsonObject(uiIntent)
  if (fields === undefined) return { refusal: refusals.uiIntentForm }
  const impliedSide =
    flatSide === undefined || orientation === 'identity' ? flatSide : oppositeSide(flatSide)
  const read = readIntent(fields, impliedSide)
  if ('refusal' in read) return read
  const engine = intentToEngine(orientation, read.numbers, market)
  return compare(body, flatSide, { intent: read.intent, engine }, market.minSize)
}

type ReadIntent = {
  readonly intent: UiIntent
  readonly numbers: { readonly side: Side; readonly priceE18: bigint; readonly sizeE18: bigint }
}

function readIntent(fields: JsonFields, impliedSide: Side | undefined): OrRefusal<ReadIntent> {
  const side = fieldOf(fields, 'side') ?? impliedSide
  if (side !== 'buy' && side !== 'sell') return { refusal: refusals.uiIntentSide }
  const price = readNumber(fields, 'price')
  if ('refusal' in price) return price
  const size = readNumber(fields, 'size')
  if ('refusal' in size) return size
  return {
    intent: { side, price: price.text, size: size.text },
    numbers: { side, priceE18: price.value, sizeE18: size.value },
  }
}

function readNumber(
  fields: JsonFields,
  name: 'price' | 'size',
): OrRefusal<{ readonly text: string; readonly value: bigint }> {
  const sent = fieldOf(fields, name)
  if (sent === undefined) return { refusal: fieldRequired(`ui_intent.${name}`) }
  const read = readPositive(`ui_intent.${name}`, sent)
  return 'refusal' in read ? read : { text: sent as string, value: read.value }
}

/** Flat numbers that cannot be read are left to the checks of price and amount. */
function compare(
  body: OrderRequestBody,
  flatSide: Side | undefined,
  translated: Required<TranslatedIntent>,
  step: bigint,
): OrRefusal<TranslatedIntent> {
  const { engine } = translated
  if (flatSide !== undefined && flatSide !== engine.side) {
    return { refusal: refusals.sideTranslation }
  }
  const price = parseDecimal(body.limitPrice, 18)
  if (price !== undefined && !isNeighbour(engine, price)) {
    return { refusal: translationMismatch('limit_price', formatDecimal(engine.price, 18)) }
  }
  const amount = parseDecimal(body.desiredAmount, 18)
  const floor = (value: bigint): bigint => value - (value % step)
  if (amount !== undefined && floor(amount) !== floor(engine.amount)) {
    return { refusal: translationMismatch('desired_amount', formatDecimal(engine.amount, 18)) }
  }
  return translated
}

/** Reads a decimal above zero at 1e18, the scale of every number of an order. */
export function readPositive(field: string, sent: unknown): OrRefusal<{ readonly value: bigint }> {
  if (isNegativeDecimal(sent)) return { refusal: notPositive(field) }
  const value = parseDecimal(sent, 18)
  if (value === undefined) return { refusal: invalidDecimal(field, sent, 18) }
  return value > 0n ? { value } : { refusal: notPositive(field) }
}
