import type { MarketEntry } from '../../client/index.js'
import type { Side } from '../../core/model/order.js'
import { traderPrice, traderSize } from './book-rows.js'
import { formatE18, type DisplayRounding } from './format.js'
import type { MarketArithmetic } from './market-terms.js'
import type { TicketPlan } from './planned.js'
import type { TicketReceipt } from './receipt.js'
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
  const { base_asset_symbol: base } = entry
  const isBuy = (plan.side === 'buy') !== terms.isInverted
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
  const bounds = boundLines(entry, terms, {
    side: plan.side,
    exchange: receipt.exchange,
    amountE18: plan.amountE18,
    worthE18: (plan.amountE18 * plan.limitE18) / 10n ** 18n,
    feeMostE18: receipt.feeMostE18,
    feeNowE18: receipt.feeNowE18,
  })
  return [...lines, ...bounds]
}

interface OrderBounds extends Pick<TicketReceipt, 'feeMostE18'> {
  /** The engine's. */
  readonly side: Side
  readonly exchange: TicketReceipt['exchange']
  readonly amountE18: bigint
  /** At the limits, in quote. */
  readonly worthE18: bigint
  /** Of what fills at once; absent where nothing may. */
  readonly feeNowE18?: bigint
}

/** What is given at most and received at least, or the size and its worth on a market with positions, and the fee. */
export function boundLines(
  entry: MarketEntry,
  terms: MarketArithmetic,
  { side, exchange, amountE18, worthE18, feeMostE18, feeNowE18 }: OrderBounds,
): readonly ReceiptLine[] {
  const { base_asset_symbol: base, quote_asset_symbol: quote } = entry
  const [engineBase, engineQuote] = terms.isInverted ? [quote, base] : [base, quote]
  const [gives, receives] = side === 'buy' ? [engineQuote, engineBase] : [engineBase, engineQuote]
  const feeUnit = terms.feeBaseE18 === undefined ? engineQuote : base
  const most = `at most ${formatE18(feeMostE18, FEE_DECIMALS, 'up')} ${feeUnit}`
  const fee =
    feeNowE18 === undefined ? most : `${formatE18(feeNowE18, FEE_DECIMALS, 'up')} now, ${most}`
  return [
    ...(exchange === undefined
      ? [
          { name: 'Size', value: `${formatE18(amountE18, entry.ui_size_decimals)} ${base}` },
          { name: 'Worth at the limit', value: `${money(worthE18, 'up')} ${quote}` },
        ]
      : [
          { name: 'You give at most', value: `${money(exchange.giveMostE18, 'up')} ${gives}` },
          {
            name: 'You receive at least',
            value: `${money(exchange.receiveLeastE18, 'down')} ${receives}`,
          },
        ]),
    { name: 'Fee', value: fee },
  ]
}

const money = (value: bigint, rounding: DisplayRounding): string =>
  formatE18(value, MONEY_DECIMALS, rounding)

const toward = (isBuy: boolean): DisplayRounding => (isBuy ? 'up' : 'down')
