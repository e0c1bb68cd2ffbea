import { wordAmount, wordPrice, wordQuote } from '../../core/contracts/amount-words.js'
import { formatDecimal } from '../../core/decimal.js'
import type { Market } from '../../core/model/market.js'
import { deadlineMs, isoTime, LAST_DATE_SEC } from '../../core/time.js'
import type { StoredOrder } from '../../data/history/read-orders.js'
import type { TradeTrail } from '../../data/inspect-stores.js'
import type { InspectionResult } from './inspect.js'

/**
 * What was found as a person reads it: amounts and prices of the engine as decimal text with their units, times in UTC.
 * `markets` may lack a market; its amounts are without a unit then.
 */
export function wordFound(found: InspectionResult, markets: readonly Market[]): object {
  const wordsOf = (name: string): Words => {
    const market = markets.find((each) => each.market === name)
    return market === undefined ? PLAIN : wordsIn(market)
  }
  return {
    ...found,
    orders: found.orders.map((stored) => wordOrder(stored, wordsOf(stored.order.market))),
    trades: found.trades.map((trade) => wordTrade(trade, wordsOf(trade.market))),
  }
}

/** How the amounts of one market are written, all at 1e18. */
interface Words {
  readonly amount: (e18: bigint) => string
  readonly price: (e18: bigint) => string
  readonly quote: (e18: bigint) => string
  /** A fee for each 1.0 of the signed amount. */
  readonly feePerUnit: (e18: bigint) => string
  readonly uiPrice: string
  readonly uiSize: string
}

const plain = (e18: bigint): string => formatDecimal(e18, 18)
const PLAIN: Words = {
  amount: plain,
  price: plain,
  quote: plain,
  feePerUnit: plain,
  uiPrice: '',
  uiSize: '',
}

const wordsIn = (market: Market): Words => ({
  amount: (e18) => wordAmount(market, e18),
  price: (e18) => wordPrice(market, e18),
  quote: (e18) => wordQuote(market, e18),
  feePerUnit: (e18) => `${wordQuote(market, e18)} per 1.0 signed`,
  uiPrice: ` ${market.presentation.uiPriceUnit}`,
  uiSize: ` ${market.presentation.uiSizeUnit}`,
})

/** A signed expiry may be any uint256. */
const secTime = (sec: bigint): string =>
  sec > LAST_DATE_SEC ? String(sec) : isoTime(deadlineMs(Number(sec)))

/** Without a field that is undefined. */
const when = <T>(name: string, value: T | undefined, word: (value: T) => unknown) =>
  value === undefined ? {} : { [name]: word(value) }

function wordOrder({ order, progress, sums }: StoredOrder, words: Words): object {
  const { expirySec, actionExpirySec, goodUntilSec, ...rest } = order
  const { createdAtMs, updatedAtMs, cancelledAtMs, ...state } = progress
  const { amount, price } = words
  return {
    order: {
      ...rest,
      desiredAmount: amount(order.desiredAmount),
      initialFilled: amount(order.initialFilled),
      limitPrice: price(order.limitPrice),
      worstFee: words.feePerUnit(order.worstFee),
      ...when('signedLimitPrice', order.signedLimitPrice, price),
      ...when('signedDesiredAmount', order.signedDesiredAmount, amount),
      ...when('uiIntent', order.uiIntent, (intent) => ({
        side: intent.side,
        price: intent.price + words.uiPrice,
        size: intent.size + words.uiSize,
      })),
      expiry: secTime(BigInt(expirySec)),
      actionExpiry: secTime(actionExpirySec),
      goodUntil: secTime(BigInt(goodUntilSec)),
    },
    progress: {
      ...state,
      filled: amount(progress.filled),
      pending: amount(progress.pending),
      open: amount(progress.open),
      createdAt: isoTime(createdAtMs),
      updatedAt: isoTime(updatedAtMs),
      ...when('cancelledAt', cancelledAtMs, isoTime),
    },
    ...when('filledQuote', sums?.quote, words.quote),
  }
}

const wordTrade = (trade: TradeTrail, { amount, price }: Words): object => ({
  ...trade,
  price: price(BigInt(trade.price)),
  amount: amount(BigInt(trade.amount)),
})
