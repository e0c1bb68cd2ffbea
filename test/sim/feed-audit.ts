import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { heldReasonAfter, orderAfter, type Block, type Change } from '../../core/model/change.js'
import type { Address } from '../../core/action.js'
import { isLiving, type Order, type OrderStatus } from '../../core/model/order.js'
import type { MarketTerms } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { StreamMissing } from '../../runtime/bus/bus.js'
import type { MemoryBus } from '../../runtime/bus/memory-bus.js'
import { isBlamedForOther, isFaultOfVenue, otherOf } from './counterparty-audit.js'
import { createPairAudit } from './pair-audit.js'
import { withOrdinal } from '../../core/engine/trade-id.js'
import type { Fill, Match } from '../../core/model/match.js'
import type { HoldReason } from '../../interface/reasons.js'

/** An order as the feed tells of it. */
export interface AuditedOrder {
  order: Order
  readonly rank: number
  status: OrderStatus
  filled: bigint
  pending: bigint
  open: bigint
  /** Why it is not open after its last change. */
  hold: HoldReason | undefined
}

export type MarketStatus = MarketTerms['standing']['status'] | 'disabled'

/** Judges every block of a market's feed as it is stored, by rules of its own. */
export interface FeedAudit {
  readonly market: Market
  advance(): Promise<void>
  readonly orders: ReadonlyMap<string, AuditedOrder>
  /** What an order would be filled by if the chain carried out its matches that came to nothing after all. */
  undoneOf(orderId: string): bigint
  /** Matches without a result, by settlement id. */
  readonly pending: ReadonlyMap<string, Match>
  /** The takers' legs, in order, also of those that were reversed. */
  readonly fills: readonly AuditedFill[]
  standing(): Fill[]
  /** The best open orders that cross, of those that would be filled at one of these prices. */
  crossing(reach?: (price: bigint) => boolean): Crossing | undefined
  /** The market's status as the feed last stated it. */
  status(): MarketStatus
  seq(): number
  /** Matches that failed at a signature. */
  refusedSignatures(): number
  messages(): number
}

/** A fill with the number of the change that has it. */
type AuditedFill = Fill & { readonly seq: number }

export interface Crossing {
  readonly bid: bigint
  readonly ask: bigint
}

/** What may follow what (I-13); the same again is always allowed while the order lives. */
const NEXT: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  active: ['active', 'matching', 'filled', 'cancelled', 'expired'],
  matching: ['matching', 'active', 'filled', 'cancelled', 'expired'],
  filled: [],
  cancelled: ['cancelled'],
  expired: ['expired'],
}

/** An order that was filled ends as cancelled when a fill of it is taken back. */
const AFTER_REVERSAL: typeof NEXT = { ...NEXT, filled: ['cancelled'] }

/** Whether one open order of a side has priority over another: better price, then earlier placement. */
function comesBefore(one: AuditedOrder, other: AuditedOrder): boolean {
  const a = one.order
  const b = other.order
  if (one.open === 0n || a.side !== b.side) return false
  if (a.limitPrice === b.limitPrice) return one.rank < other.rank
  return a.limitPrice > b.limitPrice === (a.side === 'buy')
}

const EXPIRY_SLACK_MS = 2_000
/** Reasons of the cancels that also end what a settlement returns. */
const CANCELLED_BEFORE = new Set(['cancel_all', 'cancel_all_after', 'cancel_on_disconnect'])
const PAGE = 500

export interface FeedAuditOptions {
  readonly onFinding: (what: string, detail: unknown) => void
  /** Whether the code at a signer has ever refused a signature. */
  readonly hasRefused: (signer: Address) => boolean
}

export function createFeedAudit(
  server: MemoryBus,
  market: Market,
  { onFinding, hasRefused }: FeedAuditOptions,
): FeedAudit {
  const { market: name } = market
  const trading = tradingOf(market)
  const isVenueFault = (revert: string): boolean => isFaultOfVenue(market, revert)
  /** Orders out of reach are passed over, and the book may be crossed by them. */
  const mayPass = trading.fillRange !== undefined
  const orders = new Map<string, AuditedOrder>()
  const pending = new Map<string, Match>()
  const settled = new Set<string>()
  /** Settlements that came to nothing, which the chain may still carry out. */
  const undone = new Map<string, Match>()
  /** Trades that stand, by settlement. */
  const trades = new Map<string, number>()
  const fills: AuditedFill[] = []
  let seq = 0
  let read = 0
  let terms: MarketTerms | undefined
  let makerLeg: Fill | undefined
  const pairs = createPairAudit({
    pending,
    isVenueFault,
    orderOf: (orderId) => orders.get(orderId),
  })
  let refusedSignatures = 0
  const nonces = new Set<string>()
  /** The book was crossed while the market was held, and has not been uncrossed since. */
  let mayCross = false

  const expectThat = (holds: boolean, what: string, change: Change): void => {
    if (!holds) onFinding(`${what} (change ${change.seq}, ${change.orderId})`, change)
  }

  function placed(change: Extract<Change, { kind: 'OrderPlaced' }>): AuditedOrder {
    const { order, rank } = change
    const nonce = `${order.owner} ${order.nonce}`
    expectThat(!orders.has(order.orderId), 'I-14 order id twice', change)
    expectThat(!nonces.has(nonce), 'I-14 nonce twice', change)
    nonces.add(nonce)
    checkReplaced(change)
    const it: AuditedOrder = {
      order,
      rank,
      status: 'active',
      filled: order.initialFilled,
      pending: 0n,
      open: 0n,
      hold: undefined,
    }
    orders.set(order.orderId, it)
    // The counterparts' changes came first, so what it has pending is known already.
    for (const { makerOrderId, takerOrderId, amount } of pending.values()) {
      if (makerOrderId === order.orderId || takerOrderId === order.orderId) it.pending += amount
    }
    return it
  }

  /** A replacement begins where the other order has ended, with what that has filled and pending. */
  function checkReplaced(change: Extract<Change, { kind: 'OrderPlaced' }>): void {
    const { replaces, initialFilled, side, subaccountId } = change.order
    if (replaces === undefined) return
    const old = orders.get(replaces)
    expectThat(old?.status === 'cancelled' && old.open === 0n, 'I-26 both are live', change)
    const counted = old === undefined ? undefined : old.filled + old.pending
    expectThat(counted === initialFilled, 'I-26 what the replaced order has', change)
    const isAlike = old?.order.side === side && old.order.subaccountId === subaccountId
    expectThat(isAlike, 'I-26 of another kind', change)
  }

  function matched(change: Extract<Change, { kind: 'OrderMatched' }>): void {
    const { match } = change
    const fresh = !pending.has(match.settlementId) && !settled.has(match.settlementId)
    expectThat(fresh, 'I-14 settlement id twice', change)
    expectThat(match.settlementId === `${name}:${change.seq}`, 'I-14 settlement id', change)
    const hit = mayPass ? undefined : orders.get(change.orderId)
    const incoming = otherOf(match, change.orderId)
    const passed = [...orders.values()].find(
      (other) =>
        hit !== undefined &&
        comesBefore(other, hit) &&
        !pairs.mayWait(incoming, other.order.orderId, change.atMs),
    )
    expectThat(passed === undefined, `I-7 ${passed?.order.orderId ?? ''} was passed over`, change)
    pending.set(match.settlementId, match)
    for (const id of [match.makerOrderId, match.takerOrderId]) {
      const leg = orders.get(id)
      if (leg !== undefined) leg.pending += match.amount
    }
  }

  /** The match has its result; both of its changes tell of it, the first takes it off. */
  function resolved(change: Change, settlementId: string): Match | undefined {
    const match = pending.get(settlementId)
    if (match === undefined) {
      expectThat(settled.has(settlementId), 'I-16 a result without a match', change)
      return undefined
    }
    pending.delete(settlementId)
    settled.add(settlementId)
    for (const id of [match.makerOrderId, match.takerOrderId]) {
      const leg = orders.get(id)
      if (leg !== undefined) leg.pending -= match.amount
    }
    return match
  }

  function filled(change: Extract<Change, { kind: 'OrderFilled' }>, it: AuditedOrder): void {
    const { fill } = change
    if (fill.liquidity === 'maker') {
      const isLate = undone.delete(fill.settlementId)
      if (!isLate) pairs.settled(fill)
      const isFirst = isLate || resolved(change, fill.settlementId) !== undefined
      expectThat(isFirst, 'I-16 filled twice', change)
      makerLeg = fill
    } else {
      const same = makerLeg !== undefined && makerLeg.settlementId === fill.settlementId
      expectThat(same && makerLeg?.amount === fill.amount, 'I-3 the legs differ', change)
      expectThat(makerLeg?.tradeId === fill.tradeId, 'I-3 the legs have two trades', change)
      const next = withOrdinal(fills.length + 1, market.ordinal)
      expectThat(fill.tradeId === next, 'I-14 trade id', change)
      checkFill(change, fill)
      fills.push({ ...fill, seq: change.seq })
      trades.set(fill.settlementId, fill.tradeId)
      makerLeg = undefined
    }
    it.filled += fill.amount
  }

  function reversed(change: Extract<Change, { kind: 'FillReversed' }>, it: AuditedOrder): void {
    const { settlementId, tradeId, liquidity, amount } = change.fill
    const stood = trades.get(settlementId) === tradeId
    expectThat(stood, 'I-2 what is taken back never stood', change)
    if (liquidity === 'taker') {
      trades.delete(settlementId)
      undone.set(settlementId, change.fill)
    }
    it.filled -= amount
  }

  function checkFill(change: Change, fill: Fill): void {
    const maker = orders.get(fill.makerOrderId)?.order
    const taker = orders.get(fill.takerOrderId)?.order
    if (maker === undefined || taker === undefined) {
      return expectThat(false, 'I-3 a leg is unknown', change)
    }
    expectThat(fill.price === maker.limitPrice, 'I-3 not the maker’s price', change)
    expectThat(maker.side !== taker.side, 'I-3 one side', change)
    const within =
      taker.side === 'buy' ? fill.price <= taker.limitPrice : fill.price >= taker.limitPrice
    expectThat(within, 'I-3 outside the taker’s limit', change)
    expectThat(trading.feePerUnit(fill.fee, fill.amount) <= taker.worstFee, 'I-5 fee', change)
    const ofOne =
      maker.owner === taker.owner && [maker, taker].some((it) => it.stpScope === 'owner')
    expectThat(maker.subaccountId !== taker.subaccountId && !ofOne, 'I-8 own order', change)
  }

  function apply(change: Change): void {
    expectThat(change.seq === seq + 1, `I-9 ${change.seq} after ${seq}`, change)
    seq = change.seq
    if (change.kind === 'OrderMatched') matched(change)
    if (change.kind === 'MatchReverted') {
      const match = resolved(change, change.settlementId)
      if (match !== undefined) failed(change, match)
    }
    const it = change.kind === 'OrderPlaced' ? placed(change) : orders.get(change.orderId)
    if (it === undefined) return expectThat(false, 'I-13 an unknown order', change)
    if (change.kind === 'OrderFilled') filled(change, it)
    if (change.kind === 'FillReversed') reversed(change, it)
    it.order = orderAfter(change, it.order)
    checkAmounts(change, it)
    checkBlame(change, it)
    expectThat(!isBlamedForOther(change, it, hasRefused), 'I-28 blamed for another', change)
    const isKept = it.status === change.status
    const mayReopen = change.kind === 'FillReversed' || change.kind === 'OrderResized'
    const next = mayReopen ? AFTER_REVERSAL : NEXT
    const isAllowed = isKept || next[it.status].includes(change.status)
    expectThat(isAllowed, 'I-13 status', change)
    if (change.kind === 'OrderCancelled') {
      expectThat(it.status === 'active' || isKept, 'I-13 a cancel of what is matching', change)
    }
    it.status = change.status
    it.open = change.open
    it.hold = heldReasonAfter(change, it.hold)
  }

  function checkAmounts(change: Change, it: AuditedOrder): void {
    const { filled: done, pending: waiting, open, desired } = change
    expectThat(done === it.filled, `I-2 filled ${done}, fills give ${it.filled}`, change)
    expectThat(waiting === it.pending, `I-20 pending ${waiting}, not ${it.pending}`, change)
    const { desiredAmount, signedDesiredAmount = desiredAmount } = it.order
    expectThat(desired === desiredAmount, 'I-2 another amount', change)
    expectThat(desired <= signedDesiredAmount, 'I-2 beyond what was signed', change)
    expectThat(done + waiting + open <= desired, 'I-2 beyond what was asked for', change)
    expectThat(open - it.open === change.openDelta, 'I-2 the delta', change)
    const late = open > 0n && change.atMs >= it.order.goodUntilSec * 1_000 + EXPIRY_SLACK_MS
    expectThat(!late, 'I-23 open beyond its expiry', change)
    const expired = change.kind === 'OrderMatched' && isPast(change, change.match)
    expectThat(!expired, 'I-23 matched in its last seconds', change)
  }

  function failed(change: Extract<Change, { kind: 'MatchReverted' }>, match: Match): void {
    undone.set(match.settlementId, match)
    if (change.revert === 'OV_InvalidSignature') refusedSignatures += 1
    pairs.failed(change, match)
  }

  /** A fault of the venue counts against no order and ends none; what returns to a disabled market is cancelled. */
  function checkBlame(change: Change, it: AuditedOrder): void {
    if (change.kind !== 'MatchReverted' || !isVenueFault(change.revert)) return
    const isHeldForIt = change.hold === 'settlement_refused' && it.hold !== change.hold
    expectThat(!isHeldForIt, 'I-24 held for a fault of the venue', change)
    // Of an IOC or FOK order nothing comes back, whatever has failed; a post-only order must not take when it does.
    const { timeInForce, postOnly } = it.order
    if (timeInForce !== undefined || postOnly !== undefined) return
    // What returns goes on matching, and meets an order of its own account (MAT-015).
    if (change.status === 'cancelled' && change.cancelReason === 'self_trade') return
    // It was cancelled while it settled.
    if (CANCELLED_BEFORE.has(change.cancelReason ?? '')) return
    const isEnded = isLiving(it.status) && change.status === 'cancelled' && status() !== 'disabled'
    expectThat(!isEnded, 'I-24 cancelled for a fault of the venue', change)
  }

  function isPast(change: Change, { makerOrderId, takerOrderId }: Match): boolean {
    return [makerOrderId, takerOrderId].some((id) => {
      const order = orders.get(id)?.order
      return order !== undefined && change.atMs >= order.goodUntilSec * 1_000
    })
  }

  function crossing(reach?: (price: bigint) => boolean): Crossing | undefined {
    const open = [...orders.values()].filter((it) => it.open > 0n)
    const [bids, asks] = (['buy', 'sell'] as const).map((side) =>
      open.filter(({ order }) => order.side === side),
    ) as [AuditedOrder[], AuditedOrder[]]
    for (const bid of bids) {
      for (const ask of asks) {
        const b = bid.order.limitPrice
        const a = ask.order.limitPrice
        if (b >= a && reach?.(bid.rank < ask.rank ? b : a) !== false) return { bid: b, ask: a }
      }
    }
    return undefined
  }

  const status = (): MarketStatus =>
    terms?.enabled === false ? 'disabled' : (terms?.standing.status ?? 'open')

  function checkCrossing(block: Block): void {
    const crossed = crossing()
    const isOpen = status() === 'open'
    // A hold may begin and end within a block, which then states terms that are open.
    const wasHeld = mayCross || block.terms !== undefined
    mayCross = !isOpen || (wasHeld && crossed !== undefined)
    if (crossed === undefined || mayCross || mayPass) return
    onFinding(`I-6 the book is crossed after ${block.firstSeq}`, crossed)
  }

  return {
    market,
    orders,
    pending,
    fills,
    undoneOf: (orderId) =>
      [...undone.values()]
        .filter((match) => match.makerOrderId === orderId || match.takerOrderId === orderId)
        .reduce((sum, { amount }) => sum + amount, 0n),
    standing: () =>
      fills.filter(({ settlementId, tradeId }) => trades.get(settlementId) === tradeId),
    crossing,
    status,
    seq: () => seq,
    refusedSignatures: () => refusedSignatures,
    messages: () => read,
    async advance() {
      const lastSeq = await lastOf(server, name)
      while (read < lastSeq) {
        for (const message of await server.read(feedStream(name), read + 1, PAGE)) {
          const block = decodeBlock(message.data)
          terms = block.terms ?? terms
          pairs.begin(block)
          for (const change of block.changes) apply(change)
          checkCrossing(block)
          read = message.seq
        }
      }
    },
  }
}

async function lastOf(server: MemoryBus, market: string): Promise<number> {
  try {
    return (await server.streamState(feedStream(market))).lastSeq
  } catch (error) {
    if (error instanceof StreamMissing) return 0
    throw error
  }
}
