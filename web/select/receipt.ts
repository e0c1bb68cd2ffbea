import { E18, mulDivCeil, mulDivFloor } from '../../core/money.js'
import type { MarketArithmetic } from './market-terms.js'
import type { Plan } from './ticket.js'

/** What an exchange gives and receives when it fills whole: both hold for every way in which it may fill. */
export interface TicketExchange {
  /** At most, fee included: quote for an engine's buy, base for a sale. */
  readonly giveMostE18: bigint
  /** At least, after the fee: base for a buy, quote for a sale. */
  readonly receiveLeastE18: bigint
}

/** What an order would do now, and what it can do at most. */
export interface TicketReceipt {
  /** Base that fills at once. */
  readonly nowE18: bigint
  /** What that is in quote. */
  readonly nowQuoteE18: bigint
  /** Of what fills at once, rounded up. */
  readonly feeNowE18: bigint
  /** Base that would rest or be cancelled. */
  readonly restE18: bigint
  /** Whatever it meets; in quote, on a future in USDC. */
  readonly feeMostE18: bigint
  /** Absent where fills change a position alone. */
  readonly exchange?: TicketExchange
}

/**
 * The receipt of a plan. The bounds follow from what is signed alone: limit, amount and fee bound, never from the book. The chain rounds the
 * quote of each fill down, and a fill has one step at least, so that a sale may lose one unit of 1e-18 for each step.
 */
export function receiptOf(terms: MarketArithmetic, plan: Plan): TicketReceipt {
  const { walk, amountE18 } = plan
  const feeMostE18 = mostOfFee(terms, plan)
  return {
    nowE18: walk.amountE18,
    nowQuoteE18: walk.quoteE18,
    feeNowE18: mulDivCeil(feeBaseOf(terms, plan), terms.takerFeeBps, 10_000n),
    restE18: amountE18 - walk.amountE18,
    feeMostE18,
    ...(!terms.isMargined && { exchange: exchangeOf(terms, plan, feeMostE18) }),
  }
}

/** Of what the fee of the fills of now is a share. */
const feeBaseOf = ({ feeBaseE18, perSignedUnit }: MarketArithmetic, { walk }: Plan): bigint =>
  feeBaseE18 === undefined
    ? walk.quoteE18
    : mulDivCeil(feeBaseE18, walk.amountE18, perSignedUnit * E18)

/** The chain rounds the fee of a unit down before it compares: what is just below one more passes. */
const mostOfFee = ({ perSignedUnit }: MarketArithmetic, { amountE18, worstFeeE18 }: Plan): bigint =>
  mulDivCeil(worstFeeE18 + 1n, amountE18, perSignedUnit * E18)

function exchangeOf(
  { stepE18 }: MarketArithmetic,
  { side, limitE18, amountE18 }: Plan,
  feeMostE18: bigint,
): TicketExchange {
  const atLimit = mulDivFloor(limitE18, amountE18, E18)
  if (side === 'buy') return { giveMostE18: atLimit + feeMostE18, receiveLeastE18: amountE18 }
  const least = atLimit - feeMostE18 - amountE18 / stepE18
  return { giveMostE18: amountE18, receiveLeastE18: least > 0n ? least : 0n }
}
