import type { MarketEntry } from '../../client/index.js'
import { formatE18 } from './format.js'
import type { TicketGuard } from './guards.js'
import { MOST_RUNGS, type NoLadderPlan } from './ladder.js'
import { marketTerms } from './market-terms.js'
import { traderPrice, traderSize } from './book-rows.js'
import type { TicketReceipt } from './receipt.js'
import type { NoTicketPlan } from './planned.js'
import type { Plan } from './ticket.js'

/** The words of a ticket. Amounts are rounded against the trader: what is given up, what is received down. */

export const NO_PLAN_WORDS: Readonly<Record<NoTicketPlan, string>> = {
  no_live_book: 'The book is not live: a market order has no price to go by.',
  no_book: 'The other side of the book is empty.',
  below_step: 'The size is below the smallest that the market takes.',
  no_price: 'Enter a price, or click one in the book.',
  no_size: 'Enter a size to see what will be signed.',
  bad_price: 'The price is not a number above 0.',
  bad_size: 'The size is not a number above 0.',
}

export const NO_LADDER_WORDS: Readonly<Record<NoLadderPlan, string>> = {
  ...NO_PLAN_WORDS,
  no_price: 'Enter the prices of both ends.',
  no_live_book: 'The book is not live: whether the ladder rests is not known.',
  bad_count: `A ladder has 2 to ${MOST_RUNGS} orders.`,
  bad_range: 'The two prices are too near to each other for so many orders.',
}

export const GUARD_WORDS: Readonly<Record<TicketGuard['code'], string>> = {
  trading_ended: 'Trading in the series has ended: it takes no orders.',
  below_min_notional: 'The order is below the least worth that the market takes.',
  outside_band: 'The price is outside of what the chain fills now.',
  insufficient_balance: 'The account has less free than the order can take.',
  own_order_met: 'It would meet an order of your own.',
  no_live_book: 'The book is not live: what the order meets is not known.',
  far_from_book: 'The price is more than 5 % beyond the best of the book.',
  crosses: 'It crosses the book: it fills at once.',
  would_be_rejected: 'It crosses the book, and is post-only.',
  book_is_thin: 'The book within the price guard has less than that.',
  ladder_crosses: 'One of its orders would fill at once: a ladder rests.',
}

/** Decimals of token amounts, which their chain counts with six. */
const TOKEN_DECIMALS = 2

/** Rests or fills, and what is given and received at most and at least; on margin markets the fee. */
export function receiptWords(market: MarketEntry, plan: Plan, receipt: TicketReceipt): string {
  const terms = marketTerms(market)
  const { base_asset_symbol: base, quote_asset_symbol: quote } = market
  const price = traderPrice(terms, plan.limitE18)
  // Where sides are exchanged, the engine's base is the trader's quote.
  const [engineBase, engineQuote] = terms.isInverted ? [quote, base] : [base, quote]
  const isBuy = (plan.side === 'buy') !== terms.isInverted
  const rounding = isBuy ? 'up' : 'down'
  const at = `at ${formatE18(price, market.ui_price_decimals, rounding)} ${market.ui_price_unit} or better`
  const feeUnit = terms.feeBaseE18 === undefined ? engineQuote : base
  const fee = `a fee of at most ${amount(receipt.feeMostE18, 'up')} ${feeUnit}`
  const now = nowWords(market, plan, receipt)
  const { exchange } = receipt
  if (exchange === undefined) {
    const size = formatE18(plan.amountE18, market.ui_size_decimals)
    return `${isBuy ? 'buy' : 'sell'} ${size} ${base} ${at}, with ${fee}. ${now}`
  }
  const [gives, receives] =
    plan.side === 'buy' ? [engineQuote, engineBase] : [engineBase, engineQuote]
  return (
    `${isBuy ? 'buy' : 'sell'} ${base} ${at}: give at most ${amount(exchange.giveMostE18, 'up')} ${gives}, ` +
    `receive at least ${amount(exchange.receiveLeastE18, 'down')} ${receives} when it fills whole, after ${fee}. ${now}`
  )
}

/** What the book of now makes of it. */
function nowWords(market: MarketEntry, { walk }: Plan, receipt: TicketReceipt): string {
  if (receipt.nowE18 === 0n) return 'Nothing of it fills now: it rests'
  const terms = marketTerms(market)
  const size = traderSize(terms, {
    priceE18: (receipt.nowQuoteE18 * 10n ** 18n) / receipt.nowE18,
    amountE18: walk.amountE18,
  })
  const rest = receipt.restE18 === 0n ? 'nothing rests' : 'the rest rests'
  return `Now ${amount(size, 'down')} ${market.base_asset_symbol} of it fill, and ${rest}`
}

const amount = (value: bigint, rounding: 'up' | 'down'): string =>
  formatE18(value, TOKEN_DECIMALS, rounding)
