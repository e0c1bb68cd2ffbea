import type { MarketEntry } from '../../client/index.js'
import { traderPrice, traderSize } from './book-rows.js'
import { formatE18, type DisplayRounding } from './format.js'
import type { MarketArithmetic } from './market-terms.js'
import type { TicketPlan } from './planned.js'
import { averageOf } from './walk-book.js'

/** A line of the receipt: what it is, and its numbers with their units. */
export interface ReceiptLine {
  readonly name: string
  readonly value: string
}

const MONEY_DECIMALS = 2
const FEE_DECIMALS = 4

/** What an order does now and can do at most, line by line. Amounts are rounded against the trader. */
export function receiptLines(
  entry: MarketEntry,
  terms: MarketArithmetic,
  { plan, receipt }: TicketPlan,
): readonly ReceiptLine[] {
  const { base_asset_symbol: base, quote_asset_symbol: quote } = entry
  const isBuy = (plan.side === 'buy') !== terms.isInverted
  const [engineBase, engineQuote] = terms.isInverted ? [quote, base] : [base, quote]
  const average = averageOf(plan.walk)
  const lines: ReceiptLine[] = []
  const add = (name: string, value: string): void => void lines.push({ name, value })
  if (average === undefined) add('Fills now', 'nothing: it rests')
  else {
    const size = traderSize(terms, { priceE18: average, amountE18: plan.walk.amountE18 })
    add('Fills now', `${formatE18(size, entry.ui_size_decimals, 'down')} ${base}`)
    const price = formatE18(traderPrice(terms, average), entry.ui_price_decimals, toward(isBuy))
    add('Average price', `${price} ${entry.ui_price_unit}`)
  }
  const { exchange } = receipt
  if (exchange !== undefined) {
    const [gives, receives] =
      plan.side === 'buy' ? [engineQuote, engineBase] : [engineBase, engineQuote]
    add('You give at most', `${money(exchange.giveMostE18, 'up')} ${gives}`)
    add('You receive at least', `${money(exchange.receiveLeastE18, 'down')} ${receives}`)
  } else {
    add('Size', `${formatE18(plan.amountE18, entry.ui_size_decimals)} ${base}`)
    const worth = (plan.amountE18 * plan.limitE18) / 10n ** 18n
    add('Worth at the limit', `${money(worth, 'up')} ${quote}`)
  }
  const feeUnit = terms.feeBaseE18 === undefined ? engineQuote : base
  const [now, most] = [receipt.feeNowE18, receipt.feeMostE18].map((fee) =>
    formatE18(fee, FEE_DECIMALS, 'up'),
  )
  add('Fee', `${now} now, at most ${most} ${feeUnit}`)
  return lines
}

const money = (value: bigint, rounding: DisplayRounding): string =>
  formatE18(value, MONEY_DECIMALS, rounding)

const toward = (isBuy: boolean): DisplayRounding => (isBuy ? 'up' : 'down')
