import { mulDivFloor, E18 } from '../../core/money.js'
import type { MarketArithmetic } from './market-terms.js'
import { otherSide, type TicketBook, type Plan } from './ticket.js'

/**
 * What stands between a ticket and its signature, from the book and the account of this moment. `block`: it is not sent. `ask`: a second
 * press says that it is meant. `warn`: words next to the button.
 */
export interface TicketGuard {
  readonly level: 'block' | 'ask' | 'warn'
  readonly code:
    | 'trading_ended'
    | 'below_min_notional'
    | 'outside_band'
    | 'insufficient_balance'
    | 'own_order_met'
    | 'no_live_book'
    | 'far_from_book'
    | 'crosses'
    | 'would_be_rejected'
    | 'book_is_thin'
    | 'ladder_crosses'
  /** The nearest price or size that passes, in engine terms at 1e18, for a button. */
  readonly nearestE18?: bigint
}

/** What is known besides the book. */
export interface Surroundings {
  /** Whether the book is known to be the venue's of now. */
  readonly isLive: boolean
  readonly isMarketOrder: boolean
  readonly isPostOnly: boolean
  /** Whether the last trade of a series is over. */
  readonly isEnded?: boolean | undefined
  /** Prices between which the chain fills, in engine terms at 1e18. */
  readonly band?: { readonly lowE18: bigint; readonly highE18: bigint } | undefined
  /** What the account can give, in the unit of the bound; undefined where margin decides. */
  readonly freeE18?: bigint | undefined
  /** The most that the plan gives. */
  readonly giveMostE18: bigint
  /** The best own order on the other side; undefined without one. */
  readonly ownOtherE18?: bigint | undefined
}

/** So far from the best price, in basis points, an order is asked about. */
const FAR_BPS = 500n

/** All that apply, those that block first. */
export function guardsOf(
  terms: MarketArithmetic,
  plan: Plan,
  book: TicketBook,
  around: Surroundings,
): readonly TicketGuard[] {
  const found = [
    ...blocks(terms, plan, around),
    ...questions(plan, book, around),
    ...warnings(plan, around),
  ]
  return found
}

function blocks(
  { minNotionalE18, stepE18 }: MarketArithmetic,
  { side, limitE18, amountE18 }: Plan,
  { band, freeE18, giveMostE18, ownOtherE18, isEnded }: Surroundings,
): readonly TicketGuard[] {
  const guards: TicketGuard[] = []
  if (isEnded === true) guards.push({ level: 'block', code: 'trading_ended' })
  if (mulDivFloor(limitE18, amountE18, E18) < minNotionalE18) {
    const least = (minNotionalE18 * E18 + limitE18 - 1n) / limitE18
    const nearestE18 = ((least + stepE18 - 1n) / stepE18) * stepE18
    guards.push({ level: 'block', code: 'below_min_notional', nearestE18 })
  }
  if (band !== undefined && limitE18 < band.lowE18)
    guards.push({ level: 'block', code: 'outside_band', nearestE18: band.lowE18 })
  if (band !== undefined && limitE18 > band.highE18)
    guards.push({ level: 'block', code: 'outside_band', nearestE18: band.highE18 })
  if (freeE18 !== undefined && giveMostE18 > freeE18)
    guards.push({ level: 'block', code: 'insufficient_balance', nearestE18: freeE18 })
  const meetsOwn =
    ownOtherE18 !== undefined &&
    (side === 'buy' ? limitE18 >= ownOtherE18 : limitE18 <= ownOtherE18)
  if (meetsOwn) guards.push({ level: 'block', code: 'own_order_met', nearestE18: ownOtherE18 })
  return guards
}

function questions(
  plan: Plan,
  book: TicketBook,
  { isLive, isMarketOrder }: Surroundings,
): readonly TicketGuard[] {
  if (!isLive) return [{ level: 'ask', code: 'no_live_book' }]
  const best = otherSide(book, plan.side)[0]?.priceE18
  if (best === undefined || isMarketOrder) return []
  const { side, limitE18 } = plan
  const beyond = side === 'buy' ? limitE18 - best : best - limitE18
  const isFar = beyond * 10_000n > best * FAR_BPS
  return isFar ? [{ level: 'ask', code: 'far_from_book', nearestE18: best }] : []
}

function warnings(
  { walk, amountE18 }: Plan,
  { isPostOnly, isMarketOrder }: Surroundings,
): readonly TicketGuard[] {
  const crosses = walk.amountE18 > 0n
  if (crosses && isPostOnly) return [{ level: 'warn', code: 'would_be_rejected' }]
  if (isMarketOrder && walk.amountE18 < amountE18) return [{ level: 'warn', code: 'book_is_thin' }]
  return crosses && !isMarketOrder ? [{ level: 'warn', code: 'crosses' }] : []
}
