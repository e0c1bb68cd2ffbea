import type { CancelledOrder } from '../../interface/cancels.js'
import { formatDecimal } from '../decimal.js'
import { cancelsRefusals } from '../entry/order-refusals.js'
import { refusals, type Refusal } from '../entry/refusals.js'
import type { CancelOutcome } from '../model/command-answer.js'

/** What a cancel of many orders shows of the markets that it asked. */

/** What became of one order, as a client is shown it; amounts are decimal text at 18 decimals. */
export function cancelledOrder(market: string, outcome: CancelOutcome): CancelledOrder {
  if (outcome.kind === 'not_cancelled') return notCancelled(outcome.orderId, outcome.code, market)
  const { kind, orderId, nonce, filled, pending } = outcome
  return {
    order_id: orderId,
    market,
    outcome: kind,
    nonce: nonce.toString(),
    filled_amount: formatDecimal(filled, 18),
    pending_amount: formatDecimal(pending, 18),
  }
}

const ERROR_OF = {
  active_order_not_found: refusals.activeOrderNotFound.message,
  order_of_another_owner: cancelsRefusals.otherOwner.message,
}

/** An order that stays as it is; without `market` where none knows it. */
export const notCancelled = (
  orderId: string,
  code: keyof typeof ERROR_OF,
  market?: string,
): CancelledOrder => ({
  order_id: orderId,
  ...(market !== undefined && { market }),
  outcome: 'not_cancelled',
  code,
  error: ERROR_OF[code],
})

/** A market that has refused its part of a request. */
export interface RefusedMarket {
  readonly market: string
  readonly refusal: Refusal
}

/** The refusal of a request to several markets. */
export interface RefusedInSome {
  readonly refusal: Refusal
  /** Absent where every market has refused. */
  readonly failedMarkets?: readonly object[]
}

/**
 * What the refusals of some markets come to: the first of them, and with 500 where the other markets have carried the request out.
 * Undefined without one.
 */
export function refusalOfMarkets(
  refused: readonly RefusedMarket[],
  answered: number,
): RefusedInSome | undefined {
  const [first] = refused
  if (first === undefined) return undefined
  if (answered === 0) return { refusal: first.refusal }
  const failedMarkets = refused.map(({ market, refusal: { code, message } }) => ({
    market,
    code,
    error: message,
  }))
  return { refusal: { ...first.refusal, status: 500 }, failedMarkets }
}
