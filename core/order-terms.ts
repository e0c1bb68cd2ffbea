import type { Checked } from './checked.js'
import { formatDecimal, isNegativeDecimal, parseDecimal } from './decimal.js'
import { INT256_MAX } from './limits.js'
import type { Market } from './market.js'
import { amountE18, E18, priceE18 } from './money.js'
import type { AmountE18, PriceE18 } from './money.js'
import type { OrderBody } from './order-body.js'
import { translateIntent } from './order-intent.js'
import type { Side, UiIntent } from './order.js'
import { readPositive } from './read-positive.js'
import {
  belowMinSize,
  invalidDecimal,
  notPositive,
  offStep,
  offTick,
  refusals,
} from './refusals.js'
import type { NearestValues } from './refusals.js'

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
  body: OrderBody,
  side: Side | undefined,
): Checked<OrderTerms> {
  const translated = translateIntent(market, body, side)
  if ('refusal' in translated) return translated
  const { engine, intent } = translated
  const engineSide = side ?? engine?.side
  if (engineSide === undefined) return { refusal: refusals.side }

  const prices = readPrices(market, body.limitPrice, engine)
  if ('refusal' in prices) return prices
  const desired = readDesired(market, body.desiredAmount, engine?.amount)
  if ('refusal' in desired) return desired
  const filled = readFilled(market, body.filledAmount, desired.value)
  if ('refusal' in filled) return filled
  if (prices.value.some((price) => !fitsChain(price, signedAmount(market, desired.value)))) {
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

/** The trade module multiplies the two words before it divides by 1e18. */
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
): Checked<{ readonly value: readonly PriceE18[] }> {
  const read =
    sent === undefined && derived !== undefined
      ? positivePrices(derived)
      : readPositive('limit_price', sent)
  if ('refusal' in read) return read
  const prices = typeof read.value === 'bigint' ? [priceE18(read.value)] : read.value
  const tick = market.tickSize
  const off = prices.find((price) => price % tick !== 0n)
  return off === undefined
    ? { value: prices }
    : { refusal: offTick(formatDecimal(tick, 18), nearest(off, tick)) }
}

/** A price so high that its reciprocal is below half a tick has no engine price. */
function positivePrices(derived: DerivedPrices): Checked<{ readonly value: readonly PriceE18[] }> {
  const { price, priceFloor, priceCeil } = derived
  const positive = [price, priceFloor, priceCeil].filter((each) => each > 0n)
  return price > 0n ? { value: positive } : { refusal: notPositive('limit_price') }
}

function readDesired(
  market: Market,
  sent: unknown,
  derived: AmountE18 | undefined,
): Checked<{ readonly value: AmountE18 }> {
  const step = market.minSize
  const read =
    sent === undefined && derived !== undefined
      ? { value: derived }
      : readPositive('desired_amount', sent)
  if ('refusal' in read) return read
  if (read.value < step) return { refusal: belowMinSize(formatDecimal(step, 18)) }
  if (read.value % step !== 0n) {
    const values = nearest(read.value, step)
    return { refusal: offStep('desired_amount', formatDecimal(step, 18), values) }
  }
  return { value: amountE18(read.value) }
}

function readFilled(
  market: Market,
  sent: unknown,
  desired: AmountE18,
): Checked<{ readonly value: AmountE18 }> {
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
