import type { MarketEntry } from '../../client/index.js'
import type { Side } from '../../core/model/order.js'
import { E18, mulDivFloor } from '../../core/money.js'
import { guardsOf, type TicketGuard, type Surroundings } from './guards.js'
import { parseInput, type DecimalComma } from './format.js'
import { traderPrice } from './book-rows.js'
import { engineSide, type MarketArithmetic } from './market-terms.js'
import { readSigned } from './numbers.js'
import { receiptOf, type TicketReceipt } from './receipt.js'
import { otherSide, planOf, type TicketBook, type NoPlan, type Plan } from './ticket.js'

/** What stands in a ticket, as it was typed. */
export interface TicketInput {
  readonly kind: 'limit' | 'market'
  readonly side: Side
  readonly price: string
  readonly size: string
  /** In which of the two the size is typed. */
  readonly unit: 'base' | 'quote'
  readonly guardBps: bigint
  readonly force: 'GTC' | 'IOC' | 'FOK'
  readonly post: 'off' | 'reject' | 'slide'
  readonly reduceOnly: boolean
}

/** What the ticket stands in. */
export interface TicketSetting extends Pick<
  Surroundings,
  'isLive' | 'isEnded' | 'freeE18' | 'ownOtherE18'
> {
  readonly entry: MarketEntry
  readonly terms: MarketArithmetic
  /** Empty sides where it is not known. */
  readonly book: TicketBook
  /** How a reader of this browser writes one and a half. */
  readonly isDecimalComma: DecimalComma
}

export interface TicketPlan {
  readonly plan: Plan
  readonly receipt: TicketReceipt
  readonly guards: readonly TicketGuard[]
}

/** Why there is nothing to sign. */
export type NoTicketPlan =
  NoPlan | 'no_live_book' | 'no_price' | 'no_size' | 'bad_price' | 'bad_size'

/** What a ticket would sign now, what that can cost, and what stands in the way. */
export function plannedOf(typed: TicketInput, setting: TicketSetting): TicketPlan | NoTicketPlan {
  const { terms, book, isDecimalComma } = setting
  const isMarketOrder = typed.kind === 'market'
  const priceE18 = isMarketOrder ? undefined : parseInput(typed.price, isDecimalComma)
  if (!isMarketOrder && typed.price.trim() === '') return 'no_price'
  if (!isMarketOrder && (priceE18 === undefined || priceE18 === 0n)) return 'bad_price'
  if (typed.size.trim() === '') return 'no_size'
  const typedE18 = parseInput(typed.size, isDecimalComma)
  if (typedE18 === undefined || typedE18 === 0n) return 'bad_size'
  if (isMarketOrder && !setting.isLive) return 'no_live_book'
  const countedAt = priceE18 ?? bestPrice(terms, book, typed.side)
  if (countedAt === undefined) return 'no_book'
  const sizeE18 = typed.unit === 'base' ? typedE18 : mulDivFloor(typedE18, E18, countedAt)
  if (sizeE18 === 0n) return 'below_step'
  const ticket = { side: typed.side, priceE18, sizeE18, guardBps: typed.guardBps }
  const plan = planOf(terms, ticket, book)
  if (typeof plan === 'string') return plan
  const receipt = receiptOf(terms, plan)
  const { isLive, isEnded, freeE18, ownOtherE18 } = setting
  const around: Surroundings = {
    isLive,
    isEnded,
    freeE18,
    ownOtherE18,
    isMarketOrder,
    isPostOnly: typed.post === 'reject',
    giveMostE18: receipt.exchange?.giveMostE18 ?? receipt.feeMostE18,
    band: bandOf(setting.entry),
  }
  return { plan, receipt, guards: guardsOf(terms, plan, book, around) }
}

/** The best price that the side would meet, in trader terms; undefined without one. */
export function bestPrice(
  terms: MarketArithmetic,
  book: TicketBook,
  side: Side,
): bigint | undefined {
  const best = otherSide(book, engineSide(terms, side))[0]
  return best === undefined ? undefined : traderPrice(terms, best.priceE18)
}

/** Between which prices the chain fills; undefined where it fills at any. */
export function bandOf({ future }: MarketEntry): Surroundings['band'] {
  const lowE18 = readSigned(future?.fill_band_low)
  const highE18 = readSigned(future?.fill_band_high)
  return lowE18 === undefined || highE18 === undefined ? undefined : { lowE18, highE18 }
}

/** What is free of what pays for an order. */
export interface Free {
  /** Of what the trader's buy gives: quote in trader terms, at 1e18. */
  readonly quoteE18: bigint
  /** Of what the trader's sale gives. */
  readonly baseE18: bigint
  /** Free margin in USDC on markets with positions; it decides there. */
  readonly marginE18: bigint | undefined
}

/** Of what is free, so much stays for fees and for a price that moves meanwhile, in basis points. */
const KEPT_BPS = 60n

/**
 * So many per cent of what is free as a size in the trader's base, rounded down; on markets with positions at the initial margin rate.
 * `priceE18` is in trader terms. Undefined where what decides is not known.
 */
export function shareOfFree(
  { terms, entry }: Pick<TicketSetting, 'terms' | 'entry'>,
  free: Free,
  {
    side,
    percent,
    priceE18,
  }: { readonly side: Side; readonly percent: bigint; readonly priceE18: bigint },
): bigint | undefined {
  if (priceE18 === 0n) return undefined
  const kept = (value: bigint): bigint => (value * (10_000n - KEPT_BPS) * percent) / 1_000_000n
  if (!terms.isMargined)
    return side === 'buy' ? mulDivFloor(kept(free.quoteE18), E18, priceE18) : kept(free.baseE18)
  const { perp, future } = entry
  const rateE18 = readSigned(perp?.initial_margin_rate ?? future?.initial_margin_rate)
  if (rateE18 === undefined || rateE18 === 0n || free.marginE18 === undefined) return undefined
  const worth = mulDivFloor(kept(free.marginE18), E18, rateE18)
  // The size of a future is in USDC, of which margin is a share.
  return future === undefined ? mulDivFloor(worth, E18, priceE18) : worth
}
