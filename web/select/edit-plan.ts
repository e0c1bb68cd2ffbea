import type { OrderRecord } from '../../client/index.js'
import { E18, mulDivFloor } from '../../core/money.js'
import { traderPrice, traderSize } from './book-rows.js'
import { guardsOf, type TicketGuard } from './guards.js'
import type { MarketArithmetic } from './market-terms.js'
import { readOrZero } from './numbers.js'
import { bandOf, type TicketSetting } from './planned.js'
import { plainText } from './price-text.js'
import { traderSide } from './side-words.js'
import { otherSide, planOf, type NoPlan, type Plan } from './ticket.js'
import { walkBook } from './walk-book.js'

/** What an order becomes, in trader terms at 1e18. */
export interface OrderEdit {
  /** Undefined: its own, which its row rounds. */
  readonly priceE18: bigint | undefined
  /** In all, with what has matched. Undefined: its own, which its row rounds. */
  readonly sizeE18: bigint | undefined
}

/** What an edit comes to. */
export interface EditPlan {
  /** Of what is left at another price, of the whole order at its own. */
  readonly plan: Plan
  /** What the order asks for in all. */
  readonly amountE18: bigint
  /** Less at the same price keeps its place; anything else is another order. */
  readonly isReduction: boolean
}

/** The order as far as an edit looks at it. */
export type EditedRecord = Pick<
  OrderRecord,
  'side' | 'limit_price' | 'desired_amount' | 'post_only'
> &
  Partial<Pick<OrderRecord, 'inherited_filled_amount' | 'filled_amount' | 'pending_amount'>>

/** What has matched keeps its price: only what is left moves to another one. The book is left out: all counts at the limit. */
export function editPlan(
  terms: MarketArithmetic,
  record: EditedRecord,
  { priceE18, sizeE18 }: OrderEdit,
): EditPlan | NoPlan {
  const limitE18 = readOrZero(record.limit_price)
  const wholeE18 = readOrZero(record.desired_amount)
  const done = [record.inherited_filled_amount, record.filled_amount, record.pending_amount]
  const doneE18 = priceE18 === undefined ? 0n : done.reduce((sum, one) => sum + readOrZero(one), 0n)
  const sizeOf = (amountE18: bigint): bigint => traderSize(terms, { priceE18: limitE18, amountE18 })
  const leftE18 = sizeE18 === undefined ? sizeOf(wholeE18 - doneE18) : sizeE18 - sizeOf(doneE18)
  const ticket = {
    side: traderSide(terms, record.side),
    sizeE18: leftE18 > 0n ? leftE18 : 0n,
    guardBps: 0n,
    priceE18: priceE18 ?? traderPrice(terms, limitE18),
  }
  const planned = planOf(terms, ticket, { bids: [], asks: [] })
  if (typeof planned === 'string') return planned
  const plan = priceE18 === undefined ? { ...planned, limitE18 } : planned
  const isSamePrice = plan.limitE18 === limitE18
  const amountE18 = isSamePrice && sizeE18 === undefined ? wholeE18 : plan.amountE18 + doneE18
  return { plan, amountE18, isReduction: isSamePrice && amountE18 < wholeE18 }
}

/**
 * What stands between an edit and its signature. What the order itself reserves is not counted against it. The venue holds its least
 * worth against all that a new order asks for, with what has matched; a reduction it takes at any worth, and that meets nothing.
 */
export function editGuards(
  record: EditedRecord,
  edit: OrderEdit,
  { entry, terms, book, isLive }: Pick<TicketSetting, 'entry' | 'terms' | 'book' | 'isLive'>,
): readonly TicketGuard[] {
  const edited = editPlan(terms, record, edit)
  if (typeof edited === 'string' || edited.isReduction) return []
  const { plan, amountE18 } = edited
  const { side, limitE18 } = plan
  const within = { stepE18: terms.stepE18, limitE18 }
  const walk = walkBook(otherSide(book, side), side, plan, within)
  return guardsOf(terms, { ...plan, amountE18, walk }, book, {
    isLive,
    isMarketOrder: false,
    isPostOnly: record.post_only === 'reject',
    giveMostE18: 0n,
    band: bandOf(entry),
  })
}

/** The price of an order in trader terms at 1e18. */
export const pricedAt = (
  terms: MarketArithmetic,
  { limit_price: limit }: Pick<OrderRecord, 'limit_price'>,
): bigint => traderPrice(terms, readOrZero(limit))

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
