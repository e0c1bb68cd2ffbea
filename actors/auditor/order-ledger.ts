import type { Change, Match } from '../../core/change.js'
import type { Market } from '../../core/market.js'
import { takerFeeFloor } from '../../core/money.js'
import type { OrderStatus } from '../../core/order.js'
import type { Check } from './verdicts.js'

/** What the changes of one market add up to, checked change by change. Memory: the live orders and pending matches. */
export interface OrderLedger {
  apply(change: Change): void
  /** Matches whose outcome the feed has not told. */
  pending(): readonly Match[]
  totals(): LedgerTotals
}

export interface LedgerTotals {
  readonly seq: number
  readonly orders: number
  readonly trades: number
  /** Base amounts at 1e18. */
  readonly bought: bigint
  readonly sold: bigint
  /** Quote at 1e18. */
  readonly fees: bigint
}

export type Find = (check: Check, what: string) => void

interface Known {
  status: OrderStatus
  filled: bigint
  open: bigint
  /** What is matched and has no outcome, by the matches themselves. */
  pending: bigint
}

interface Proposed {
  readonly match: Match
  /** Legs that have had their outcome. */
  legs: number
}

interface Ledger {
  readonly market: Market
  readonly find: Find
  readonly known: Map<string, Known>
  readonly proposed: Map<string, Proposed>
  seq: number
  orders: number
  trades: number
  bought: bigint
  sold: bigint
  fees: bigint
}

const NEXT: Record<OrderStatus, readonly OrderStatus[]> = {
  active: ['active', 'matching', 'filled', 'cancelled', 'expired'],
  matching: ['active', 'matching', 'filled', 'cancelled', 'expired'],
  filled: ['filled'],
  cancelled: ['cancelled'],
  expired: ['expired'],
}

export function createOrderLedger(market: Market, find: Find): OrderLedger {
  const ledger: Ledger = {
    ...{ market, find, known: new Map(), proposed: new Map() },
    ...{ seq: 0, orders: 0, trades: 0, bought: 0n, sold: 0n, fees: 0n },
  }
  return {
    apply: (change) => applyToLedger(ledger, change),
    pending: () => [...ledger.proposed.values()].map(({ match }) => match),
    totals: () => {
      const { seq, orders, trades, bought, sold, fees } = ledger
      return { seq, orders, trades, bought, sold, fees }
    },
  }
}

function applyToLedger(ledger: Ledger, change: Change): void {
  const { find, known } = ledger
  if (change.seq !== ledger.seq + 1) find('sequence', `change ${change.seq} after ${ledger.seq}`)
  ledger.seq = change.seq
  const before = knownBefore(ledger, change)
  if (before === undefined) return
  const filledNow = applyMatches(ledger, change, before)
  checkAmounts(ledger, change, { before, filledNow })
  Object.assign(before, { status: change.status, filled: change.filled, open: change.open })
  // Nothing follows for an order that is over and has nothing pending.
  if (NEXT[change.status].length === 1 && before.pending === 0n) known.delete(change.orderId)
}

function knownBefore(ledger: Ledger, change: Change): Known | undefined {
  const { find, known } = ledger
  const { orderId, seq } = change
  const before = known.get(orderId)
  if (change.kind !== 'OrderPlaced') {
    if (before === undefined) find('orders', `change ${seq} is of ${orderId}, which is not live`)
    return before
  }
  if (before !== undefined) find('orders', `${orderId} is placed again by change ${seq}`)
  const { initialFilled } = change.order
  // What the order hit on its way in was proposed by the changes before its own.
  const pending = [...ledger.proposed.values()]
    .filter(({ match }) => match.takerOrderId === orderId)
    .reduce((sum, { match }) => sum + match.amount, 0n)
  const placed: Known = { status: 'active', filled: initialFilled, open: 0n, pending }
  known.set(orderId, placed)
  ledger.orders += 1
  return placed
}

/** Follows the change's match, and answers how much of the order the change has settled. */
function applyMatches(ledger: Ledger, change: Change, before: Known): bigint {
  switch (change.kind) {
    case 'OrderMatched':
      propose(ledger, change, before)
      return 0n
    case 'OrderFilled':
      closeLeg(ledger, change.fill.settlementId, change.seq)
      countFill(ledger, change)
      return change.fill.amount
    case 'MatchReverted':
      closeLeg(ledger, change.settlementId, change.seq)
      return 0n
    default:
      return 0n
  }
}

type Matched = Extract<Change, { kind: 'OrderMatched' }>
type Filled = Extract<Change, { kind: 'OrderFilled' }>

function propose({ find, known, proposed, market }: Ledger, change: Matched, maker: Known): void {
  const { match, seq, orderId } = change
  const id = `${market.market}:${seq}`
  if (match.settlementId !== id) find('fills', `change ${seq} proposes ${match.settlementId}`)
  if (match.makerOrderId !== orderId) find('fills', `${id} names another maker than its change`)
  if (match.price !== change.limitPrice) find('fills', `${id} is not at its maker's price`)
  proposed.set(match.settlementId, { match, legs: 0 })
  maker.pending += match.amount
  const taker = known.get(match.takerOrderId)
  if (taker !== undefined) taker.pending += match.amount
}

/** The first leg takes the match from both orders: what follows of either is after the outcome. */
function closeLeg({ find, known, proposed }: Ledger, settlementId: string, seq: number): void {
  const entry = proposed.get(settlementId)
  if (entry === undefined) {
    find('fills', `change ${seq} is an outcome of ${settlementId}, which is not pending`)
    return
  }
  entry.legs += 1
  if (entry.legs === 2) proposed.delete(settlementId)
  if (entry.legs > 1) return
  for (const orderId of [entry.match.makerOrderId, entry.match.takerOrderId]) {
    const order = known.get(orderId)
    if (order !== undefined) order.pending -= entry.match.amount
  }
}

function countFill(ledger: Ledger, change: Filled): void {
  const { find, market } = ledger
  const { fill, side, seq } = change
  const isTaker = fill.liquidity === 'taker'
  const { settlementId, price, amount } = fill
  if ((side === fill.takerSide) !== isTaker) find('fills', `${settlementId}: legs of one side`)
  const limit = change.limitPrice
  if (side === 'buy' ? price > limit : price < limit)
    find('fills', `${settlementId}: ${change.orderId} is filled beyond its limit by change ${seq}`)
  const fee = isTaker ? fill.takerFee : 0n
  if (fill.fee !== fee) find('fills', `${settlementId}: the ${fill.liquidity} pays ${fill.fee}`)
  if (side === 'buy') ledger.bought += amount
  else ledger.sold += amount
  if (!isTaker) return
  ledger.trades += 1
  ledger.fees += fill.fee
  const isSpot = market.contractType === 'spot'
  if (isSpot && fill.fee !== takerFeeFloor(price, amount, market.takerFeeBps))
    find('fills', `${settlementId}: a fee of ${fill.fee} is not the schedule's`)
}

function checkAmounts(
  { find }: Ledger,
  change: Change,
  { before, filledNow }: { readonly before: Known; readonly filledNow: bigint },
): void {
  const { orderId, seq, status, filled, pending, open, desired, openDelta } = change
  const wrong = (what: string) => find('orders', `${orderId} at change ${seq}: ${what}`)
  if (!NEXT[before.status].includes(status)) wrong(`${before.status} became ${status}`)
  if (filled !== before.filled + filledNow)
    wrong(`filled went from ${before.filled} to ${filled}, by fills of ${filledNow}`)
  if (pending !== before.pending) wrong(`pending is ${pending}, its matches say ${before.pending}`)
  if (open !== before.open + openDelta)
    wrong(`open went from ${before.open} to ${open}, said to be by ${openDelta}`)
  if (open < 0n || filled + pending + open > desired)
    wrong(`filled ${filled} + pending ${pending} + open ${open} of ${desired}`)
  if (status === 'filled' && filled !== desired) wrong(`filled with ${filled} of ${desired}`)
}
