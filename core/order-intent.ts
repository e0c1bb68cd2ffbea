import type { Checked } from './checked.js'
import { formatDecimal, parseDecimal } from './decimal.js'
import { asJsonObject, fieldOf } from './json-fields.js'
import type { JsonFields } from './json-fields.js'
import type { Market } from './market.js'
import type { OrderBody } from './order-body.js'
import type { Side, UiIntent } from './order.js'
import { readPositive } from './read-positive.js'
import { fieldRequired, refusals, translationMismatch, wrongOrderEntrySpec } from './refusals.js'
import { intentToEngine, isNeighbour, oppositeSide } from './translation.js'
import type { EngineTerms } from './translation.js'

/** A body's intent and what it means to the engine; both absent when the body is in engine terms. */
export interface TranslatedIntent {
  readonly intent?: UiIntent
  readonly engine?: EngineTerms
}

/** Translates `ui_intent` when it was sent and compares the flat fields with it, as far as they are numbers. */
export function translateIntent(
  market: Market,
  body: OrderBody,
  flatSide: Side | undefined,
): Checked<TranslatedIntent> {
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

function readIntent(fields: JsonFields, impliedSide: Side | undefined): Checked<ReadIntent> {
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
): Checked<{ readonly text: string; readonly value: bigint }> {
  const sent = fieldOf(fields, name)
  if (sent === undefined) return { refusal: fieldRequired(`ui_intent.${name}`) }
  const read = readPositive(`ui_intent.${name}`, sent)
  return 'refusal' in read ? read : { text: sent as string, value: read.value }
}

/** Flat numbers that cannot be read are left to the checks of price and amount. */
function compare(
  body: OrderBody,
  flatSide: Side | undefined,
  translated: Required<TranslatedIntent>,
  step: bigint,
): Checked<TranslatedIntent> {
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
