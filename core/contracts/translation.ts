import type { SpotContract } from '../../interface/order.js'
import { divHalfUp, formatDecimal } from '../decimal.js'
import type { Market, OrderEntrySpec } from '../model/market.js'
import type { Side, UiIntent } from '../model/order.js'
import {
  amountE18,
  E18,
  mulDivCeil,
  mulDivFloor,
  priceE18,
  type AmountE18,
  type PriceE18,
} from '../money.js'

/** Decimals of a trader-facing price that the venue computes itself. */
export const UI_PRICE_DECIMALS = 10
/** Decimals of a trader-facing size: the token's own. */
const UI_SIZE_DECIMALS = 6

/** A trader's intent with its numbers read, both at 1e18. */
export interface IntentNumbers {
  readonly side: Side
  readonly priceE18: bigint
  readonly sizeE18: bigint
}

/** What an intent means to the engine. On identity markets nothing is rounded: the numbers may be off the grid. */
export interface TranslatedTerms {
  readonly side: Side
  /** The exact price rounded half up to the tick. */
  readonly price: PriceE18
  /** The ticks on both sides of the exact price; equal when it lies on a tick. */
  readonly priceFloor: PriceE18
  readonly priceCeil: PriceE18
  /** The exact amount rounded down to the step. */
  readonly amount: AmountE18
}

export const oppositeSide = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy')

/** Translates an intent with positive numbers into engine terms, by the market's orientation (ORD-055 to ORD-059). */
export function intentToEngine(
  orientation: OrderEntrySpec['orientation'],
  intent: IntentNumbers,
  grid: { readonly tickSize: PriceE18; readonly minSize: AmountE18 },
): TranslatedTerms {
  if (orientation === 'identity') {
    const price = priceE18(intent.priceE18)
    const amount = amountE18(intent.sizeE18)
    return { side: intent.side, price, priceFloor: price, priceCeil: price, amount }
  }
  const tick = grid.tickSize
  // 1 / price in ticks is oneE36 / (priceE18 × tick), rounded each way.
  const oneE36 = E18 * E18
  const divisor = intent.priceE18 * tick
  const exactAmount = mulDivFloor(intent.sizeE18, intent.priceE18, E18)
  return {
    side: oppositeSide(intent.side),
    price: priceE18(divHalfUp(oneE36, divisor) * tick),
    priceFloor: priceE18(mulDivFloor(oneE36, 1n, divisor) * tick),
    priceCeil: priceE18(mulDivCeil(oneE36, 1n, divisor) * tick),
    amount: amountE18(exactAmount - (exactAmount % grid.minSize)),
  }
}

/** Whether an engine price is one of the ticks next to the exact translation. */
export function isNeighbour(terms: TranslatedTerms, price: bigint): boolean {
  return price === terms.priceFloor || price === terms.priceCeil
}

/** An engine order or fill in the terms that `spot_contract.engine_order` states. */
export interface EngineOrder {
  readonly side: Side
  readonly price: PriceE18
  readonly amount: AmountE18
}

/**
 * `spot_contract` of an order, a fill or a trade: the engine order in trader terms; a sent intent is echoed. Undefined on markets without an order entry spec.
 * Computed texts: price at 10 decimals and size and USDC at 6, half up.
 */
export function spotContract(
  market: Market,
  order: EngineOrder,
  sent?: UiIntent,
): SpotContract | undefined {
  if (market.orderEntry === undefined) return undefined
  const { name, orientation } = market.orderEntry
  const price = formatDecimal(order.price, 18)
  const amount = formatDecimal(order.amount, 18)
  const usdc = usdcOf(order)
  const bought = order.side === 'buy'
  return {
    spec: name,
    ui_intent: sent ?? engineToIntent(orientation, order),
    engine_order: { side: order.side, price, amount },
    balance_delta: { usdc: signed(usdc, !bought), cngn: signed(amount, bought) },
  }
}

const E30 = 10n ** 30n
/** What price × amount is in USDC: at 1e36, so that dividing by 1e30 leaves the token's six decimals, half up. */
const usdcOf = ({ price, amount }: EngineOrder): string =>
  formatDecimal(divHalfUp(price * amount, E30), UI_SIZE_DECIMALS)

/** Over a price at 1e18 it gives the inverse price at UI_PRICE_DECIMALS. */
const UI_PRICE_INVERSE = 10n ** 28n

/** The text of an amount that is not negative, with the sign of gaining or losing it. */
function signed(amount: string, gained: boolean): string {
  if (amount === '0') return amount
  return gained ? `+${amount}` : `-${amount}`
}

/** Price and size of the engine in a trader's terms, rounded as `engineToIntent` does; the same where there is no translation. */
export function inTraderTerms(
  { orderEntry }: Pick<Market, 'orderEntry'>,
  order: Pick<EngineOrder, 'price' | 'amount'>,
): Pick<UiIntent, 'price' | 'size'> {
  return engineToIntent(orderEntry?.orientation ?? 'identity', { side: 'buy', ...order })
}

/**
 * An engine order in a trader's terms. On inverted markets the price is rounded half up at UI_PRICE_DECIMALS and the size at
 * UI_SIZE_DECIMALS; on identity markets nothing is rounded.
 */
export function engineToIntent(
  orientation: OrderEntrySpec['orientation'],
  order: EngineOrder,
): UiIntent {
  if (orientation === 'identity') {
    const price = formatDecimal(order.price, 18)
    const size = formatDecimal(order.amount, 18)
    return { side: order.side, price, size }
  }
  const uiPrice = divHalfUp(UI_PRICE_INVERSE, order.price)
  return {
    side: oppositeSide(order.side),
    price: formatDecimal(uiPrice, UI_PRICE_DECIMALS),
    size: usdcOf(order),
  }
}
