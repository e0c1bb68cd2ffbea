import type { OrderRecord } from '../../client/index.js'
import { E18, mulDivFloor } from '../../core/money.js'
import { traderPrice, traderSize } from './book-rows.js'
import type { TicketGuard } from './guards.js'
import type { MarketArithmetic } from './market-terms.js'
import { readOrZero } from './numbers.js'
import { plannedOf, type TicketSetting } from './planned.js'
import { plainText } from './price-text.js'
import { traderSide } from './side-words.js'

/** What an order is moved to, as it was typed. */
export interface EditInput {
  readonly price: string
  readonly size: string
}

type EditSetting = Pick<TicketSetting, 'entry' | 'terms' | 'book' | 'isLive' | 'isDecimalComma'>

/** What stands between an edit and its signature. What the order itself reserves is not counted against it. */
export function editGuards(
  record: Pick<OrderRecord, 'side' | 'post_only'>,
  to: EditInput,
  setting: EditSetting,
): readonly TicketGuard[] {
  const planned = plannedOf(
    {
      ...to,
      kind: 'limit',
      side: traderSide(setting.terms, record.side),
      unit: 'base',
      guardBps: 0n,
      force: 'GTC',
      post: record.post_only ?? 'off',
      reduceOnly: false,
    },
    setting,
  )
  return typeof planned === 'string' ? [] : planned.guards
}

/** What an order has now, in trader terms at 1e18. */
export function editedFrom(
  terms: MarketArithmetic,
  record: Pick<OrderRecord, 'limit_price' | 'desired_amount'>,
): { readonly priceE18: bigint; readonly sizeE18: bigint } {
  const limitE18 = readOrZero(record.limit_price)
  const amountE18 = readOrZero(record.desired_amount)
  return {
    priceE18: traderPrice(terms, limitE18),
    sizeE18: traderSize(terms, { priceE18: limitE18, amountE18 }),
  }
}

/** A price that was drawn, as the input of a price takes it; undefined for one that is not above 0. */
export function drawnText(price: number | undefined, decimals: number): string | undefined {
  if (price === undefined || !Number.isFinite(price) || price <= 0) return undefined
  const text = price.toFixed(decimals)
  return Number(text) === 0 ? undefined : text
}

/** A price moved by so many basis points of it, at least one unit of its last decimal each; never to 0. */
export function steppedText(priceE18: bigint, by: number, decimals: number): string {
  const unit = 10n ** BigInt(18 - decimals)
  const basisPoint = mulDivFloor(priceE18, E18 / 10_000n, E18)
  const step = basisPoint < unit ? unit : basisPoint
  const moved = priceE18 + step * BigInt(by)
  return plainText(moved < unit ? unit : moved, decimals, 'nearest')
}
