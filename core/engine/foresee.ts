import { rulesOf, type MarketOpening } from '../model/market-terms.js'
import { tradingOf } from '../contracts/registry.js'
import { EXPIRY_MARGIN_MS, SWEEP_MAX_MATCHES } from '../model/limits.js'
import { amountE18, type AmountE18, type PriceE18 } from '../money.js'
import { deadlineMs } from '../time.js'
import { applyCommand, type AppliedCommand } from './apply-command.js'
import type { Change } from '../model/change.js'
import type { Command } from '../model/command.js'
import type { RefusedCommand, StandingOrder } from '../model/command-answer.js'
import type { MarketStanding } from '../model/market.js'
import type { Match } from '../model/match.js'
import type { MarketObservation, AccountObservation } from '../model/observation.js'
import type { Order, OrderProgress } from '../model/order.js'
import { emptyMatcherState } from './empty-state.js'

/** A market as it stands, of which the book is given apart. */
export interface ForeseenMarket {
  readonly opening: MarketOpening
  readonly standing: MarketStanding
  /** What the chain shows of it; absent where its contract asks for nothing. */
  readonly observed?: MarketObservation | undefined
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** An open order of the book, with its place in time. */
export type RestingOrder = StandingOrder & { readonly rank: number }

/** An order that a placement would cancel at once, and how much of it. */
export interface ForeseenCancel {
  readonly orderId: string
  readonly amount: AmountE18
  readonly reason: string
}

/** The prices of the other side at which an order that comes would match, both included; absent: no bound. */
export function pricesMet(
  { opening, observed, nowMs }: Omit<ForeseenMarket, 'standing'>,
  { side, limitPrice: limit }: Pick<Order, 'side' | 'limitPrice'>,
): { readonly low?: PriceE18 | undefined; readonly high?: PriceE18 | undefined } {
  const { fillRange } = tradingOf(opening.identity)
  const range = fillRange?.(observed, momentOf({ observed, nowMs }))
  if (range === undefined) return side === 'buy' ? { high: limit } : { low: limit }
  const { low, high } = range
  return side === 'buy'
    ? { low, high: limit < high ? limit : high }
    : { low: limit > low ? limit : low, high }
}

/** As many orders as one step of the market matches, and one more, so that a sweep that goes on is seen as one. */
const MET_MAX = SWEEP_MAX_MATCHES + 1

/**
 * Of orders at such prices, best first, those that decide what becomes of an order that comes, and how many are late: about to
 * expire, which leave the book instead.
 */
export function metOf<Each extends Pick<RestingOrder, 'order'>>(
  resting: Iterable<Each>,
  market: Pick<ForeseenMarket, 'observed' | 'nowMs'>,
): { readonly met: readonly Each[]; readonly late: number } {
  const atMs = momentOf(market)
  const met: Each[] = []
  let late = 0
  for (const each of resting) {
    if (atMs < deadlineMs(each.order.goodUntilSec) - EXPIRY_MARGIN_MS) met.push(each)
    else late += 1
    if (met.length === MET_MAX) break
  }
  return { met, late }
}

/** The facts are judged at the moment at which they were read. */
const momentOf = ({ observed, nowMs }: Pick<ForeseenMarket, 'observed' | 'nowMs'>): number =>
  observed?.readAtMs ?? nowMs

/** What would become of an order. */
export type Foreseen =
  | { readonly kind: 'refused'; readonly code: RefusedCommand['code'] }
  | {
      readonly kind: 'order'
      /** As it would be booked. */
      readonly order: Order
      readonly progress: OrderProgress
      /** The order is the taker of each. */
      readonly matches: readonly Match[]
      /** Orders of its owner, itself included. */
      readonly cancelled: readonly ForeseenCancel[]
    }

/**
 * What placing an order would do now: the market's own step, applied to a market with nothing but the orders that it could meet.
 * `resting` are orders of the other side: those of `metOf` suffice. Of a sweep that goes on only the first step is told; the order
 * is held `continuing` then. The means of their accounts, what awaits settlement, the windows of signers that are
 * code, leases and limits of live orders are not known, and count for nothing.
 */
export function foresee(
  { opening, standing, observed, nowMs }: ForeseenMarket,
  resting: readonly RestingOrder[],
  placement: { readonly order: Order; readonly account?: AccountObservation | undefined },
): Foreseen {
  const rules = rulesOf({ ...opening.rules, openOrderLimit: 0 })
  const state = emptyMatcherState({ ...opening, rules })
  const atMs = momentOf({ observed, nowMs })
  let sourceNo = 0
  const apply = (command: Command): AppliedCommand => {
    sourceNo += 1
    return applyCommand(state, { source: SOURCE, sourceNo, atMs, command })
  }
  if (observed !== undefined) apply({ kind: 'MarketObserved', observation: observed })
  if (standing.status !== 'open' && !state.closed) {
    apply({ kind: 'MarketPaused', by: SOURCE, reason: standing.reason ?? standing.status })
  }
  const byRank = [...resting].sort((a, b) => a.rank - b.rank)
  for (const each of byRank) apply({ kind: 'PlaceOrder', order: asMaker(each) })
  const { order, account } = placement
  const { changes, answer } = apply({
    kind: 'PlaceOrder',
    order: without(order, NOT_KNOWN),
    ...(account !== undefined && { account }),
  })
  if (answer?.kind === 'refused') return answer
  if (answer?.kind !== 'order') return { kind: 'refused', code: 'command_refused' }
  return {
    kind: 'order',
    order: answer.order,
    progress: answer.progress,
    matches: changes.flatMap((change) => (change.kind === 'OrderMatched' ? [change.match] : [])),
    cancelled: changes.flatMap((change) => cancelledOf(change, order)),
  }
}

const SOURCE = 'foresee'

/** What is open of an order, as a maker that meets nothing by itself. */
function asMaker({ order, progress }: RestingOrder): Order {
  const initialFilled = amountE18(order.desiredAmount - progress.open)
  return { ...without(order, OF_MAKERS), initialFilled, signatureStatus: 'checked' }
}

/** What depends on what is not known here. */
const NOT_KNOWN: ReadonlySet<string> = new Set<keyof Order>(['signedByCode', 'leaseId'])
const OF_MAKERS: ReadonlySet<string> = new Set<keyof Order>([
  ...(['reduceOnly', 'leaseId', 'postOnly', 'signedByCode'] as const),
])

/** The order without optional fields. */
const without = (order: Order, names: ReadonlySet<string>): Order =>
  Object.fromEntries(Object.entries(order).filter(([name]) => !names.has(name))) as unknown as Order

function cancelledOf(change: Change, { owner, orderId }: Order): readonly ForeseenCancel[] {
  const isEnd = change.kind === 'OrderCancelled' || change.kind === 'OrderPlaced'
  if (!isEnd || change.owner !== owner || change.cancelReason === undefined) return []
  const { desired, filled, pending, openDelta, cancelReason: reason } = change
  const amount = change.orderId === orderId ? desired - filled - pending : -openDelta
  return [{ orderId: change.orderId, amount: amountE18(amount), reason }]
}
