import type { Address, Hex } from '../../core/action.js'
import type { Block, Change } from '../../core/change.js'
import type { Order } from '../../core/order.js'
import { readStatement, signerOf } from '../../core/order-statement.js'
import { type UncheckedCount, createUncheckedCount } from './unchecked-count.js'

/** A live order as far as its signature goes. */
export interface WatchedOrder {
  readonly market: string
  readonly orderId: string
  readonly owner: Address
  readonly signer: Address
  /** What the signature is over; worked out when asked, because a plain key is seldom asked about twice. */
  readonly digest: () => Hex
  readonly signature: () => Hex
  /** Position of its placement in the feed. */
  readonly placedAt: number
  /** The market holds it until the chain has vouched for it. */
  unchecked: boolean
  /** What the log was last told of it, while that still needs no repeating. */
  told: 'valid' | 'invalid' | undefined
  /** A plain key's signature over it was recovered; that cannot change, only whether it is what counts. */
  recovered: boolean
}

/** The orders whose signatures may stop to count: all that are live, folded from the feeds. */
export interface OrderWatch {
  /** Takes the next message of a market's feed. */
  apply(streamSeq: number, block: Block): void
  /** From where a new watch must read the market's feed to know what this one knows; 0 before the first message. */
  resumeFrom(market: string): number
  /**
   * The next orders to look at, first those whose standing may change by itself, in turn so that each comes round. At
   * most so many signers of either sort.
   */
  next(maxSigners: number): WatchedOrder[]
  /** From now on the order belongs to those that are looked at first, or no longer. */
  attend(order: WatchedOrder, closely: boolean): void
  /** Whether the order is still live. */
  has(order: WatchedOrder): boolean
  /** The signature of an order on its way into the log was recovered to a plain key, so it need not be again. */
  recovered(orderId: string): void
  /** Counts an unchecked order before the feed tells of it. */
  readonly reserve: UncheckedCount['reserve']
  /** Live orders. */
  size(): number
}

/** A watch that knows nothing yet. It holds as many orders as the matchers keep live, which is bounded there. */
export function createOrderWatch(digestOf: (order: Order) => Hex): OrderWatch {
  const markets = new Map<string, MarketWatch>()
  const close = new Set<WatchedOrder>()
  const plain = new Set<WatchedOrder>()
  const unchecked = createUncheckedCount()
  const recovered = createRecovered()

  const attend = (order: WatchedOrder, closely: boolean): void => {
    const [to, from] = closely ? [close, plain] : [plain, close]
    from.delete(order)
    to.add(order)
  }
  const drop = (live: MarketWatch['live'], change: Change): void => {
    const order = live.get(change.orderId)
    unchecked.remove(change.owner, change.orderId)
    if (order === undefined) return
    live.delete(change.orderId)
    close.delete(order)
    plain.delete(order)
  }
  const fold = (live: MarketWatch['live'], change: Change, placed: Placed): void => {
    if (change.status !== 'active' && change.status !== 'matching') return drop(live, change)
    if (change.kind === 'OrderPlaced') {
      const order = watched(change.order, placed, digestOf)
      order.recovered = recovered.take(order.orderId)
      live.set(order.orderId, order)
      attend(order, order.signer !== order.owner)
      return hold(order, change)
    }
    const order = live.get(change.orderId)
    if (order !== undefined) hold(order, change)
  }
  const hold = (order: WatchedOrder, change: Change): void => {
    order.unchecked = isUnchecked(order, change)
    // The log may be told again of an order that came back to the book.
    if (change.status === 'active') order.told = undefined
    if (order.unchecked) {
      unchecked.add(order.owner, order.orderId)
      attend(order, true)
    } else {
      unchecked.remove(order.owner, order.orderId)
    }
  }

  return {
    apply(streamSeq, { market, changes }) {
      const known = markets.get(market) ?? { live: new Map<string, WatchedOrder>(), head: 0 }
      markets.set(market, known)
      known.head = streamSeq
      for (const change of changes) fold(known.live, change, { market, placedAt: streamSeq })
    },
    resumeFrom(market) {
      const known = markets.get(market)
      if (known === undefined) return 0
      // Orders stand in the order of their placement, so the first is the oldest.
      for (const { placedAt } of known.live.values()) return placedAt
      return known.head + 1
    },
    next: (maxSigners) => [...takeTurns(close, maxSigners), ...takeTurns(plain, maxSigners)],
    attend: (order, closely) => {
      if (markets.get(order.market)?.live.get(order.orderId) === order) attend(order, closely)
    },
    has: (order) => markets.get(order.market)?.live.get(order.orderId) === order,
    recovered: (orderId) => recovered.add(orderId),
    reserve: (owner, orderId) => unchecked.reserve(owner, orderId),
    size: () => close.size + plain.size,
  }
}

/** Orders on their way into the log whose signature is known; one that is forgotten is recovered once more. */
const MAX_RECOVERED = 10_000

function createRecovered() {
  const orderIds = new Set<string>()
  return {
    add(orderId: string): void {
      orderIds.add(orderId)
      if (orderIds.size <= MAX_RECOVERED) return
      const [oldest] = orderIds
      if (oldest !== undefined) orderIds.delete(oldest)
    },
    /** Whether it was there; it is not any more. */
    take: (orderId: string): boolean => orderIds.delete(orderId),
  }
}

interface MarketWatch {
  readonly live: Map<string, WatchedOrder>
  /** Last message taken. */
  head: number
}

type Placed = Pick<WatchedOrder, 'market' | 'placedAt'>

function watched(order: Order, placed: Placed, digestOf: (order: Order) => Hex): WatchedOrder {
  const { orderId, owner, statement } = order
  const signer = signerOf(statement)
  const signature = (): Hex => readStatement(statement).signature
  let known: Hex | undefined
  const digest = (): Hex => (known ??= digestOf(order))
  return {
    market: placed.market,
    placedAt: placed.placedAt,
    orderId,
    owner,
    signer,
    digest,
    signature,
    unchecked: false,
    told: undefined,
    recovered: false,
  }
}

/** Whether the market holds the order for its signature after a change; a fill says nothing about that. */
function isUnchecked(order: WatchedOrder, change: Change): boolean {
  if (change.kind === 'OrderFilled') return order.unchecked
  return 'hold' in change && change.hold === 'signature_unchecked'
}

/** Takes orders of so many signers from the front of the queue and puts them behind its end. */
function takeTurns(queue: Set<WatchedOrder>, maxSigners: number): WatchedOrder[] {
  const signers = new Set<Address>()
  const taken: WatchedOrder[] = []
  for (const order of queue) {
    if (taken.length === MAX_ORDERS_PER_TURN) break
    if (signers.size === maxSigners && !signers.has(order.signer)) break
    signers.add(order.signer)
    taken.push(order)
  }
  for (const order of taken) {
    queue.delete(order)
    queue.add(order)
  }
  return taken
}

/** Most orders looked at in one turn, however few their signers. */
const MAX_ORDERS_PER_TURN = 4_000
