import type { MarketEntry } from '../../client/index.js'
import { MAX_BATCH_ORDERS } from '../../core/limits.js'
import { E18, mulDivFloor } from '../../core/money.js'
import { traderPrice } from './book-rows.js'
import { formatE18, noDecimalComma, parseInput } from './format.js'
import type { TicketGuard } from './guards.js'
import type { MarketArithmetic } from './market-terms.js'
import {
  plannedOf,
  type NoTicketPlan,
  type TicketInput,
  type TicketPlan,
  type TicketSetting,
} from './planned.js'
import { plainText } from './price-text.js'
import { boundLines, type ReceiptLine } from './receipt-lines.js'
import type { TicketReceipt } from './receipt.js'

/** What stands in a ticket for a ladder: a limit order whose size is shared by orders at prices between its own and another. */
export interface LadderInput extends TicketInput {
  /** The price at the other end. */
  readonly last: string
  readonly count: string
}

/** Orders at even distances, of even sizes in base; the first is at the price that was typed first. */
export interface LadderPlan {
  readonly rungs: readonly TicketPlan[]
  /** Each once; those that block come first. None is a question. */
  readonly guards: readonly TicketGuard[]
}

/** Why there is no ladder to sign. */
export type NoLadderPlan = NoTicketPlan | 'bad_count' | 'bad_range'

const LEAST_RUNGS = 2
/** One request takes so many. */
export const MOST_RUNGS: number = MAX_BATCH_ORDERS

/**
 * The orders of a ladder. Prices are rounded to the tick that is better for the trader, and sizes down to whole steps. A ladder rests: where
 * one of its orders would cross the book it is blocked, so that no level is counted for two of them.
 */
export function ladderOf(typed: LadderInput, setting: TicketSetting): LadderPlan | NoLadderPlan {
  const { isDecimalComma, terms } = setting
  const read = (text: string): bigint | undefined => parseInput(text, isDecimalComma)
  if (typed.price.trim() === '' || typed.last.trim() === '') return 'no_price'
  const [first, last] = [read(typed.price), read(typed.last)]
  if (first === undefined || last === undefined || first === 0n || last === 0n) return 'bad_price'
  if (typed.size.trim() === '') return 'no_size'
  const sizeE18 = read(typed.size)
  if (sizeE18 === undefined || sizeE18 === 0n) return 'bad_size'
  const count = /^\s*\d{1,2}\s*$/.test(typed.count) ? Number(typed.count) : 0
  if (count < LEAST_RUNGS || count > MOST_RUNGS) return 'bad_count'
  if (!setting.isLive) return 'no_live_book'
  const prices = Array.from(
    { length: count },
    (_, at) => first + ((last - first) * BigInt(at)) / BigInt(count - 1),
  )
  // In quote each gets as much base as the others: the sum of their worths is what was typed.
  const sum = prices.reduce((all, price) => all + price, 0n)
  const eachE18 = typed.unit === 'base' ? sizeE18 / BigInt(count) : mulDivFloor(sizeE18, E18, sum)
  const text = (value: bigint): string => plainText(value, 18, 'down')
  const rungs: TicketPlan[] = []
  const { freeE18, ...around } = setting
  for (const price of prices) {
    const rung: TicketInput = { ...typed, price: text(price), size: text(eachE18), unit: 'base' }
    const planned = plannedOf(rung, { ...around, isDecimalComma: noDecimalComma })
    if (typeof planned === 'string') return planned
    rungs.push(planned)
  }
  const limits = new Set(rungs.map(({ plan }) => plan.limitE18))
  if (limits.size < count) return 'bad_range'
  return { rungs, guards: guardsOf(terms, rungs, freeE18) }
}

/** The price at which the size of a ladder is worth what all its even orders are, rounded up; the one that is known without the other. */
export const middleOf = (
  first: bigint | undefined,
  last: bigint | undefined,
): bigint | undefined => (first && last ? (first + last + 1n) / 2n : (first ?? last))

function guardsOf(
  { isMargined }: MarketArithmetic,
  rungs: readonly TicketPlan[],
  freeE18: bigint | undefined,
): readonly TicketGuard[] {
  const codes = new Map<TicketGuard['code'], TicketGuard>()
  const { exchange, feeMostE18 } = ladderReceipt(rungs)
  const gives = exchange?.giveMostE18 ?? feeMostE18
  if (!isMargined && freeE18 !== undefined && gives > freeE18)
    codes.set('insufficient_balance', { level: 'block', code: 'insufficient_balance' })
  if (rungs.some(({ plan }) => plan.walk.amountE18 > 0n))
    codes.set('ladder_crosses', { level: 'block', code: 'ladder_crosses' })
  // What would block one of them blocks all; that one crosses is said already.
  for (const { level, code } of rungs.flatMap(({ guards }) => guards))
    if (level === 'block') codes.set(code, { level, code })
  return [...codes.values()]
}

/** What all of them give at most and receive at least. */
function ladderReceipt(
  rungs: readonly TicketPlan[],
): Pick<TicketReceipt, 'exchange' | 'feeMostE18'> {
  const sum = (of: (receipt: TicketReceipt) => bigint): bigint =>
    rungs.reduce((all, { receipt }) => all + of(receipt), 0n)
  const feeMostE18 = sum((receipt) => receipt.feeMostE18)
  if (rungs[0]?.receipt.exchange === undefined) return { feeMostE18 }
  const giveMostE18 = sum(({ exchange }) => exchange?.giveMostE18 ?? 0n)
  const receiveLeastE18 = sum(({ exchange }) => exchange?.receiveLeastE18 ?? 0n)
  return { feeMostE18, exchange: { giveMostE18, receiveLeastE18 } }
}

/** What a ladder signs, line by line. Amounts are rounded against the trader. */
export function ladderLines(
  entry: MarketEntry,
  terms: MarketArithmetic,
  { rungs }: LadderPlan,
): readonly ReceiptLine[] {
  const [first, last] = [rungs[0], rungs.at(-1)].map((rung) =>
    formatE18(traderPrice(terms, rung?.plan.limitE18 ?? 0n), entry.ui_price_decimals),
  )
  const worthE18 = rungs.reduce(
    (all, { plan }) => all + mulDivFloor(plan.amountE18, plan.limitE18, E18),
    0n,
  )
  const amountE18 = rungs.reduce((all, { plan }) => all + plan.amountE18, 0n)
  const side = rungs[0]?.plan.side ?? 'buy'
  const { exchange, feeMostE18 } = ladderReceipt(rungs)
  return [
    { name: 'Orders', value: `${rungs.length}, all of which rest` },
    { name: 'Prices', value: `${first ?? ''} to ${last ?? ''} ${entry.ui_price_unit}` },
    ...boundLines(entry, terms, { side, exchange, amountE18, worthE18, feeMostE18 }),
  ]
}
