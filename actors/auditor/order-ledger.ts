import type { Change, Fill, Match } from '../../core/change.js'
import type { Market } from '../../core/market.js'
import { takerFeeFloor } from '../../core/money.js'
import { isLiving } from '../../core/held-reason.js'
import type { OrderStatus } from '../../core/order.js'
import type { Check } from './verdicts.js'

/**
 * What the changes of one market add up to, checked change by change. Memory: the live orders and pending matches, and
 * of those that are over as many as a reorganisation may still reach.
 */
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

/** Orders that are over, and fills, whose reversal can be checked; of earlier ones only that it adds up. */
const OVER_MAX = 100_000

interface Ledger {
  readonly market: Market
  readonly find: Find
  readonly known: Map<string, Known>
  /** Orders that are over, the longest ago first. */
  readonly over: Map<string, Known>
  /** The takers' legs that stand, by settlement. */
  readonly standing: Map<string, Fill>
  /** Settlements that came to nothing, which the chain may still carry out. */
  readonly undone: Map<string, true>
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

/** Who was filled is cancelled; who had ended otherwise stays so. */
const AFTER_REVERSAL: typeof NEXT = { ...NEXT, filled: ['cancelled'] }

export function createOrderLedger(market: Market, find: Find): OrderLedger {
  const ledger: Ledger = {
    ...{ market, find, known: new Map(), proposed: new Map() },
    ...{ over: new Map(), standing: new Map(), undone: new Map() },
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
  if (!isLiving(change.status) && before.pending === 0n) {
    known.delete(change.orderId)
    keepBounded(ledger.over, change.orderId, before)
  }
}

function keepBounded<Kept>(kept: Map<string, Kept>, key: string, value: Kept): void {
  kept.delete(key)
  kept.set(key, value)
  if (kept.size <= OVER_MAX) return
  const [oldest] = kept.keys()
  if (oldest !== undefined) kept.delete(oldest)
}

function knownBefore(ledger: Ledger, change: Change): Known | undefined {
  const { find, known } = ledger
  const { orderId, seq } = change
  const before = known.get(orderId)
  if (change.kind !== 'OrderPlaced') {
    if (before === undefined && mayBeOver(change)) return knownOver(ledger, change)
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

/** A fill that is taken back, or comes late, may be of an order that is over. */
const mayBeOver = ({ kind }: Change): boolean => kind === 'FillReversed' || kind === 'OrderFilled'

/** How the order stood when it was over; as the change itself implies when that is too long ago. */
function knownOver({ over }: Ledger, change: Change): Known {
  const known = over.get(change.orderId)
  if (known !== undefined) return known
  const { filled, status } = change
  const moved = change.kind === 'FillReversed' ? 0n - change.fill.amount : 0n
  return { status, filled: filled - moved, open: 0n, pending: 0n }
}

/** Follows the change's match, and answers how much of the order the change has settled. */
function applyMatches(ledger: Ledger, change: Change, before: Known): bigint {
  switch (change.kind) {
    case 'OrderMatched':
      propose(ledger, change, before)
      return 0n
    case 'OrderFilled':
      if (!isLate(ledger, change.fill.settlementId))
        closeLeg(ledger, change.fill.settlementId, change.seq)
      countFill(ledger, change)
      return change.fill.amount
    case 'FillReversed':
      uncountFill(ledger, change)
      return 0n - change.fill.amount
    case 'MatchReverted':
      closeLeg(ledger, change.settlementId, change.seq)
      keepBounded(ledger.undone, change.settlementId, true)
      return 0n
    default:
      return 0n
  }
}

type Reversed = Extract<Change, { kind: 'FillReversed' }>
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

/** Whether it fills a match that had come to nothing before. */
const isLate = ({ proposed, undone }: Ledger, settlementId: string): boolean =>
  !proposed.has(settlementId) && undone.has(settlementId)

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
  keepBounded(ledger.standing, settlementId, fill)
  ledger.undone.delete(settlementId)
  ledger.trades += 1
  ledger.fees += fill.fee
  const isSpot = market.contractType === 'spot'
  if (isSpot && fill.fee !== takerFeeFloor(price, amount, market.takerFeeBps))
    find('fills', `${settlementId}: a fee of ${fill.fee} is not the schedule's`)
}

/** Takes a fill that stood out of the sums; the taker's leg comes second and ends it. */
function uncountFill(ledger: Ledger, { fill, side, seq }: Reversed): void {
  const { find, standing } = ledger
  const { settlementId, amount, liquidity } = fill
  const told = standing.get(settlementId)
  const mayBeForgotten = told === undefined && standing.size >= OVER_MAX
  if (!mayBeForgotten && (told?.tradeId !== fill.tradeId || told.amount !== amount))
    find('fills', `change ${seq} takes back a fill of ${settlementId} that does not stand`)
  if (side === 'buy') ledger.bought -= amount
  else ledger.sold -= amount
  if (liquidity === 'maker') return
  standing.delete(settlementId)
  keepBounded(ledger.undone, settlementId, true)
  ledger.trades -= 1
  ledger.fees -= fill.fee
}

function checkAmounts(
  { find }: Ledger,
  change: Change,
  { before, filledNow }: { readonly before: Known; readonly filledNow: bigint },
): void {
  const { orderId, seq, status, filled, pending, open, desired, openDelta } = change
  const wrong = (what: string) => find('orders', `${orderId} at change ${seq}: ${what}`)
  const next = change.kind === 'FillReversed' ? AFTER_REVERSAL : NEXT
  if (!next[before.status].includes(status)) wrong(`${before.status} became ${status}`)
  if (filled !== before.filled + filledNow)
    wrong(`filled went from ${before.filled} to ${filled}, by fills of ${filledNow}`)
  if (pending !== before.pending) wrong(`pending is ${pending}, its matches say ${before.pending}`)
  if (open !== before.open + openDelta)
    wrong(`open went from ${before.open} to ${open}, said to be by ${openDelta}`)
  if (open < 0n || filled + pending + open > desired)
    wrong(`filled ${filled} + pending ${pending} + open ${open} of ${desired}`)
  if (status === 'filled' && filled !== desired) wrong(`filled with ${filled} of ${desired}`)
}
