import type { Market } from '../../core/model/market.js'
import { rulesOf, type MarketRules } from '../../core/model/market-terms.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { isNextSeq, isOfNoOrder, type Block, type Change } from '../../core/model/change.js'
import { RESTORED_REASON } from '../../core/engine/apply-market.js'
import type { Fill, Match } from '../../core/model/match.js'
import { isLiving, type OrderStatus } from '../../core/model/order.js'
import type { AuditCheck } from './verdicts.js'

/**
 * Sums the changes of one market and checks each of them. Memory holds the live orders, the pending matches, and as many
 * ended ones as a reorganisation may still reach.
 */
export interface OrderLedger {
  apply(block: Pick<Block, 'changes' | 'terms'>): void
  /** Matches without an outcome in the feed. */
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

export type Find = (check: AuditCheck, what: string) => void

interface LedgerOrder {
  status: OrderStatus
  filled: bigint
  open: bigint
  /** Amount of its matches without an outcome. */
  pending: bigint
  readonly limitPrice: bigint
}

interface ProposedMatch {
  readonly match: Match
  /** Legs with an outcome. */
  legs: number
}

/** Ended orders and fills that are held; for older ones a reversal is only summed, not checked. */
const ENDED_MAX = 100_000

interface Ledger {
  readonly market: Market
  /** Those under which the next match is made; in a block that states others, those before and these. */
  rules: readonly MarketRules[]
  readonly find: Find
  readonly known: Map<string, LedgerOrder>
  /** Ended orders, oldest first. */
  readonly ended: Map<string, LedgerOrder>
  /** Takers' legs that are not reversed, by settlement. */
  readonly settled: Map<string, Fill>
  /** Reverted or reversed settlements, which may still be mined later. */
  readonly undone: Map<string, true>
  readonly proposed: Map<string, ProposedMatch>
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

/** A filled order becomes cancelled; the other final states stay. */
const AFTER_REVERSAL: typeof NEXT = { ...NEXT, filled: ['cancelled'] }

export function createOrderLedger(market: Market, find: Find): OrderLedger {
  const ledger: Ledger = {
    market,
    rules: [rulesOf(market)],
    find,
    known: new Map(),
    proposed: new Map(),
    ended: new Map(),
    settled: new Map(),
    undone: new Map(),
    seq: 0,
    orders: 0,
    trades: 0,
    bought: 0n,
    sold: 0n,
    fees: 0n,
  }
  return {
    apply({ changes, terms }) {
      // What was due in the step of the command that set them matched before it.
      if (terms !== undefined) ledger.rules = [...ledger.rules, terms.rules]
      for (const change of changes) applyToLedger(ledger, change)
      ledger.rules = ledger.rules.slice(-1)
    },
    pending: () => [...ledger.proposed.values()].map(({ match }) => match),
    totals: () => {
      const { seq, orders, trades, bought, sold, fees } = ledger
      return { seq, orders, trades, bought, sold, fees }
    },
  }
}

function applyToLedger(ledger: Ledger, change: Change): void {
  const { find, known } = ledger
  if (!isNextSeq(change.seq, ledger.seq))
    find('sequence', `change ${change.seq} after ${ledger.seq}`)
  ledger.seq = change.seq
  if (isOfNoOrder(change)) return
  const before = knownBefore(ledger, change)
  if (before === undefined) return
  const filledNow = applyMatches(ledger, change, before.filled)
  checkAmounts(ledger, change, { before, filledNow })
  Object.assign(before, { status: change.status, filled: change.filled, open: change.open })
  // No further change can follow for an ended order without a pending match.
  if (!isLiving(change.status) && before.pending === 0n) {
    known.delete(change.orderId)
    keepBounded(ledger.ended, change.orderId, before)
  }
}

function keepBounded<Kept>(kept: Map<string, Kept>, key: string, value: Kept): void {
  kept.delete(key)
  kept.set(key, value)
  if (kept.size <= ENDED_MAX) return
  const [oldest] = kept.keys()
  if (oldest !== undefined) kept.delete(oldest)
}

function knownBefore(ledger: Ledger, change: Change): LedgerOrder | undefined {
  const { find, known } = ledger
  const { orderId, seq } = change
  const before = known.get(orderId)
  if (change.kind !== 'OrderPlaced') {
    if (before === undefined && mayBeEnded(change)) return knownEnded(ledger, change)
    if (before === undefined) find('orders', `change ${seq} is of ${orderId}, which is not live`)
    return before
  }
  if (before !== undefined) find('orders', `${orderId} is placed again by change ${seq}`)
  const { initialFilled } = change.order
  // The matches of an incoming order precede its own change.
  const pending = [...ledger.proposed.values()]
    .filter(({ match }) => match.takerOrderId === orderId)
    .reduce((sum, { match }) => sum + match.amount, 0n)
  const { limitPrice } = change
  const placed: LedgerOrder = {
    status: 'active',
    filled: initialFilled,
    open: 0n,
    pending,
    limitPrice,
  }
  known.set(orderId, placed)
  ledger.orders += 1
  return placed
}

/** A reversal, or a late fill, may concern an ended order, which may have to grow for it. */
const mayBeEnded = ({ kind }: Change): boolean =>
  kind === 'FillReversed' || kind === 'OrderFilled' || kind === 'OrderResized'

/** The last state of an ended order; derived from the change itself when it is no longer held. */
function knownEnded({ ended }: Ledger, change: Change): LedgerOrder {
  const known = ended.get(change.orderId)
  if (known !== undefined) return known
  const { filled, status, limitPrice } = change
  const moved = change.kind === 'FillReversed' ? 0n - change.fill.amount : 0n
  return { status, filled: filled - moved, open: 0n, pending: 0n, limitPrice }
}

/** Applies the change to its match and returns the amount that it settled of the order. */
function applyMatches(ledger: Ledger, change: Change, before: bigint): bigint {
  switch (change.kind) {
    case 'OrderMatched':
      propose(ledger, change)
      return 0n
    case 'OrderFilled':
      if (!isLate(ledger, change.fill.settlementId)) closeLeg(ledger, change.fill, change.seq)
      countFill(ledger, change)
      return change.fill.amount
    case 'FillReversed':
      uncountFill(ledger, change)
      return 0n - change.fill.amount
    case 'MatchReverted':
      closeLeg(ledger, change, change.seq)
      keepBounded(ledger.undone, change.settlementId, true)
      return 0n
    case 'OrderCancelled':
      // The chain filled it while there was no log.
      return change.cancelReason === RESTORED_REASON ? change.filled - before : 0n
    default:
      return 0n
  }
}

type ReversedChange = Extract<Change, { kind: 'FillReversed' }>
type MatchedChange = Extract<Change, { kind: 'OrderMatched' }>
type FilledChange = Extract<Change, { kind: 'OrderFilled' }>

/** The change is of the order that rested: the maker, unless an earlier order has come back and met it. */
function propose({ find, known, proposed, market, rules }: Ledger, change: MatchedChange): void {
  const { match, seq, orderId } = change
  const { makerOrderId, takerOrderId, takerFee, price, amount } = match
  const id = `${market.market}:${seq}`
  if (match.settlementId !== id) find('fills', `change ${seq} proposes ${match.settlementId}`)
  const legs = [makerOrderId, takerOrderId]
  if (!legs.includes(orderId)) find('fills', `${id} is of other orders than its change`)
  if (price !== known.get(makerOrderId)?.limitPrice)
    find('fills', `${id} is not at its maker's price`)
  const feeUnder = (each: MarketRules) => tradingOf(market).takerFee(each, price, amount)
  if (!rules.some((each) => takerFee === feeUnder(each)))
    find('fills', `${id}: a fee of ${takerFee} is not the schedule's`)
  proposed.set(match.settlementId, { match, legs: 0 })
  // A taker that is placed in a later change is not known yet.
  for (const leg of legs) {
    const order = known.get(leg)
    if (order !== undefined) order.pending += amount
  }
}

/** Whether the fill is of a match that was reverted or reversed before. */
const isLate = ({ proposed, undone }: Ledger, settlementId: string): boolean =>
  !proposed.has(settlementId) && undone.has(settlementId)

/** The first leg removes the match from both orders' pending amounts. */
function closeLeg(
  { find, known, proposed }: Ledger,
  { settlementId, takerFee }: { readonly settlementId: string; readonly takerFee?: bigint },
  seq: number,
): void {
  const entry = proposed.get(settlementId)
  if (entry !== undefined && takerFee !== undefined && takerFee !== entry.match.takerFee)
    find('fills', `${settlementId}: a fee of ${takerFee} is not that of the match`)
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

function countFill(ledger: Ledger, change: FilledChange): void {
  const { find } = ledger
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
  keepBounded(ledger.settled, settlementId, fill)
  ledger.undone.delete(settlementId)
  ledger.trades += 1
  ledger.fees += fill.fee
}

/** Removes a reversed fill from the sums; the taker's leg comes second and completes the removal. */
function uncountFill(ledger: Ledger, { fill, side, seq }: ReversedChange): void {
  const { find, settled } = ledger
  const { settlementId, amount, liquidity } = fill
  const reversed = settled.get(settlementId)
  const mayBeDropped = reversed === undefined && settled.size >= ENDED_MAX
  if (!mayBeDropped && (reversed?.tradeId !== fill.tradeId || reversed.amount !== amount))
    find('fills', `change ${seq} takes back a fill of ${settlementId} that does not stand`)
  if (side === 'buy') ledger.bought -= amount
  else ledger.sold -= amount
  if (liquidity === 'maker') return
  settled.delete(settlementId)
  keepBounded(ledger.undone, settlementId, true)
  ledger.trades -= 1
  ledger.fees -= fill.fee
}

function checkAmounts(
  { find }: Ledger,
  change: Change,
  { before, filledNow }: { readonly before: LedgerOrder; readonly filledNow: bigint },
): void {
  const { orderId, seq, status, filled, pending, open, desired, openDelta } = change
  const wrong = (what: string) => find('orders', `${orderId} at change ${seq}: ${what}`)
  const mayReopen = change.kind === 'FillReversed' || change.kind === 'OrderResized'
  const next = mayReopen ? AFTER_REVERSAL : NEXT
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
