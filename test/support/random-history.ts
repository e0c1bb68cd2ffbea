import type { Change, Fill, HoldReason, Match } from '../../core/change.js'
import { E18, amountE18, priceE18, takerFeeFloor } from '../../core/money.js'
import type { Order, OrderStatus, Side } from '../../core/order.js'
import { aMarket, anOrder } from './builders.js'

const spotMarket = aMarket()

/** One thing that happens to the market; indexes pick among whatever is there, modulo its number. */
export type Happening =
  | { readonly kind: 'place'; readonly side: Side; readonly price: number; readonly size: number }
  | { readonly kind: 'settle'; readonly index: number; readonly success: boolean }
  | { readonly kind: 'cancel' | 'expire' | 'hold' | 'release'; readonly index: number }

interface Resting {
  readonly order: Order
  readonly rank: number
  filled: bigint
  pending: bigint
  /** What is neither filled nor pending; hidden while held. */
  left: bigint
  hold: boolean
  ended: OrderStatus | undefined
}

/**
 * A small market that obeys decision A2 and is written for nothing but tests: it turns happenings into a history of
 * changes that a matcher could have made. Sorted scans over an array; prices and sizes are small integers.
 */
export class RandomMarket {
  readonly changes: Change[] = []
  private readonly orders: Resting[] = []
  private readonly unsettled: Match[] = []

  apply(happening: Happening): void {
    switch (happening.kind) {
      case 'place':
        return this.place(happening)
      case 'settle':
        return this.settle(happening.index, happening.success)
      case 'cancel':
        return this.end(happening.index, 'cancelled')
      case 'expire':
        return this.end(happening.index, 'expired')
      case 'hold':
        return this.hold(happening.index)
      case 'release':
        return this.release(happening.index)
    }
  }

  private place({ side, price, size }: Extract<Happening, { kind: 'place' }>): void {
    const rank = this.orders.length + 1
    const order = sampleOrder(rank, side, price, size)
    const resting: Resting = {
      order,
      rank,
      filled: 0n,
      pending: 0n,
      left: order.desiredAmount,
      hold: false,
      ended: undefined,
    }
    this.matchAgainstBook(resting)
    this.orders.push(resting)
    this.emit(resting, 0n, { kind: 'OrderPlaced', order, rank })
  }

  /** The makers' changes come first; the caller emits the order's own. */
  private matchAgainstBook(taker: Resting): void {
    for (const maker of this.makersFor(taker)) {
      if (taker.left === 0n) return
      const amount = maker.left < taker.left ? maker.left : taker.left
      const openBefore = openOf(maker)
      for (const side of [maker, taker]) {
        side.left -= amount
        side.pending += amount
      }
      // Whoever was placed later took, also when the earlier order is the one that returns to the book.
      const [early, late] = maker.rank < taker.rank ? [maker, taker] : [taker, maker]
      const price = early.order.limitPrice
      const match: Match = {
        settlementId: `${spotMarket.market}:${this.changes.length + 1}`,
        makerOrderId: early.order.orderId,
        takerOrderId: late.order.orderId,
        price,
        amount: amountE18(amount),
        takerFee: takerFeeFloor(price, amountE18(amount), spotMarket.takerFeeBps),
      }
      this.unsettled.push(match)
      this.emit(maker, openBefore, { kind: 'OrderMatched', match })
    }
  }

  private makersFor(taker: Resting): Resting[] {
    const buying = taker.order.side === 'buy'
    const gap = (maker: Resting): bigint =>
      buying
        ? taker.order.limitPrice - maker.order.limitPrice
        : maker.order.limitPrice - taker.order.limitPrice
    return this.orders
      .filter((maker) => maker.order.side !== taker.order.side && openOf(maker) > 0n)
      .filter((maker) => gap(maker) >= 0n)
      .sort((a, b) => (gap(a) === gap(b) ? a.rank - b.rank : gap(a) > gap(b) ? -1 : 1))
  }

  private settle(index: number, success: boolean): void {
    const match = this.unsettled.splice(index % Math.max(this.unsettled.length, 1), 1)[0]
    if (match === undefined) return
    const maker = this.byId(match.makerOrderId)
    const taker = this.byId(match.takerOrderId)
    if (success) this.fill(match, maker, taker)
    else this.revert(match, index % 2 === 0 ? [maker, taker] : [taker, maker])
  }

  private fill(match: Match, maker: Resting, taker: Resting): void {
    for (const [resting, liquidity] of [
      [maker, 'maker'],
      [taker, 'taker'],
    ] as const) {
      const openBefore = openOf(resting)
      resting.pending -= match.amount
      resting.filled += match.amount
      const takerSeq = this.changes.length + (liquidity === 'maker' ? 2 : 1)
      const fill: Fill = {
        ...match,
        liquidity,
        fee: liquidity === 'taker' ? match.takerFee : takerFeeFloor(match.price, match.amount, 0),
        txHash: `0x${'1'.repeat(64)}`,
        blockNumber: 7n,
        tradeId: takerSeq * 256 + spotMarket.ordinal,
        takerSide: taker.order.side,
      }
      this.emit(resting, openBefore, { kind: 'OrderFilled', fill })
    }
  }

  /** The first of the two is guilty and held, the other returns, matching again where it now crosses. */
  private revert(match: Match, [guilty, innocent]: [Resting, Resting]): void {
    const facts = { settlementId: match.settlementId, revert: 'TM_FeeTooHigh' }
    const guiltyBefore = openOf(guilty)
    guilty.pending -= match.amount
    if (guilty.ended === undefined) {
      guilty.left += match.amount
      guilty.hold = true
    }
    this.emit(guilty, guiltyBefore, { kind: 'MatchReverted', ...facts, hold: 'settlement_refused' })
    const innocentBefore = openOf(innocent)
    innocent.pending -= match.amount
    if (innocent.ended === undefined) innocent.left += match.amount
    if (openOf(innocent) > 0n) this.matchAgainstBook(innocent)
    this.emit(innocent, innocentBefore, { kind: 'MatchReverted', ...facts })
  }

  private end(index: number, status: 'cancelled' | 'expired'): void {
    const resting = this.pick(index, (order) => order.ended === undefined && order.left > 0n)
    if (resting === undefined) return
    const openBefore = openOf(resting)
    resting.ended = status
    resting.left = 0n
    const kind = status === 'expired' ? 'OrderExpired' : 'OrderCancelled'
    this.emit(resting, openBefore, { kind, cancelReason: 'unspecified' })
  }

  private hold(index: number): void {
    const resting = this.pick(index, (order) => openOf(order) > 0n)
    if (resting === undefined) return
    const openBefore = openOf(resting)
    resting.hold = true
    const hold: HoldReason = 'expiring'
    this.emit(resting, openBefore, { kind: 'OrderHeld', hold })
  }

  private release(index: number): void {
    const resting = this.pick(index, (order) => order.hold && order.ended === undefined)
    if (resting === undefined) return
    resting.hold = false
    this.matchAgainstBook(resting)
    this.emit(resting, 0n, { kind: 'OrderReleased' })
  }

  private emit(resting: Resting, openBefore: bigint, facts: object): void {
    const { order } = resting
    const open = openOf(resting)
    this.changes.push({
      seq: this.changes.length + 1,
      atMs: 1_790_000_000_000 + this.changes.length * 250,
      orderId: order.orderId,
      owner: order.owner,
      side: order.side,
      limitPrice: order.limitPrice,
      desired: order.desiredAmount,
      filled: amountE18(resting.filled),
      pending: amountE18(resting.pending),
      open: amountE18(open),
      openDelta: open - openBefore,
      status: statusOf(resting),
      ...facts,
    } as Change)
  }

  private byId(orderId: string): Resting {
    const found = this.orders.find((resting) => resting.order.orderId === orderId)
    if (found === undefined) throw new Error(`no order ${orderId}`)
    return found
  }

  private pick(index: number, suits: (resting: Resting) => boolean): Resting | undefined {
    const candidates = this.orders.filter(suits)
    return candidates[index % Math.max(candidates.length, 1)]
  }
}

/** The changes that a list of happenings makes. */
export function historyOf(happenings: readonly Happening[]): Change[] {
  const market = new RandomMarket()
  for (const happening of happenings) market.apply(happening)
  return market.changes
}

/** A placed order like many others; `number` makes its ids unique. */
export function sampleOrder(number: number, side: Side, price: number, size: number): Order {
  const owner = `0x${(number % 10).toString().repeat(40)}` as const
  return anOrder({
    orderId: `order-${number}`,
    owner,
    subaccountId: BigInt(number % 10) + 1n,
    nonce: BigInt(number),
    side,
    desiredAmount: amountE18(BigInt(size) * E18),
    limitPrice: priceE18(BigInt(price) * 10n ** 12n),
  })
}

function openOf(resting: Resting): bigint {
  return resting.hold || resting.ended !== undefined ? 0n : resting.left
}

function statusOf(resting: Resting): OrderStatus {
  if (resting.filled === resting.order.desiredAmount) return 'filled'
  if (resting.ended !== undefined) return resting.ended
  return resting.left === 0n ? 'matching' : 'active'
}

/**
 * A history in which every round rests an order at the best price, hits it and settles the match: five changes, the
 * last of which completes a trade. Every second round leaves something in the book.
 */
export function busyHistory(rounds: number): Change[] {
  return historyOf(
    Array.from({ length: rounds }).flatMap((_, round) => [
      { kind: 'place', side: 'sell', price: 10_000 - round, size: 2 + (round % 2) } as const,
      { kind: 'place', side: 'buy', price: 10_000 - round, size: 2 } as const,
      { kind: 'settle', index: 0, success: true } as const,
    ]),
  )
}
