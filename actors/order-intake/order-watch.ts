import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import type { SignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { actionOf } from '../../core/entry/signed-action.js'
import type { Block, Change } from '../../core/model/change.js'
import type { Market } from '../../core/model/market.js'
import { isLiving, type Order } from '../../core/model/order.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { stateOrEmpty, type Bus, type StreamState } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { createQueues, createUncheckedCount, type UncheckedCount } from './check-queues.js'
import type { MarketHalts } from './market-halts.js'

/** What was signed, and the signature. */
export interface Proof {
  /** The signed digest; computed at first use, because a plain key's signature is seldom verified again. */
  readonly digest: () => Hex
  readonly signature: Hex
}

/** The signer of a live order and the state of its signature. */
export interface WatchedOrder {
  readonly market: string
  readonly orderId: string
  readonly owner: Address
  readonly signer: Address
  /** Not kept once a plain key's signature was recovered: the order is most of what the watch would hold. */
  proof: Proof | undefined
  /** Message of its placement in the feed, from which the proof can be read again. */
  readonly placedAt: number
  /** The market holds it out of the book until its signature is checked. */
  unchecked: boolean
  /** The last result written to the log, while it is still in force. */
  logged: 'valid' | 'invalid' | undefined
  readonly goodUntilSec: number
  /** The end of its session key, at most its own, as this process has logged it; undefined while it has not. */
  keyEndsSec: number | undefined
  /** A plain key's signature was recovered; it stays valid while the signer has no code. */
  recovered: boolean
  /** The market knows that the signer is code. */
  byCode: boolean
}

/** The live orders of every market, folded from the feeds, whose signatures may become invalid. */
export interface OrderWatch {
  /** Applies the next message of a market's feed. */
  apply(streamSeq: number, block: Block): void
  /** The message from which a new watch must read the feed to reach this state; 0 before the first message. */
  resumeFrom(market: string): number
  /**
   * The orders of the next round, in rotation: those with priority, then plain ones, of at most `maxSigners` signers each.
   */
  next(maxSigners: number): WatchedOrder[]
  /** Moves the order to those with priority, whose validity can change at any block, or back to the plain ones. */
  prioritise(order: WatchedOrder, hasPriority: boolean): void
  /** The same for all orders of these signers, whose code a block may have changed. */
  prioritiseSigners(signers: readonly Address[]): void
  isLive(order: WatchedOrder): boolean
  /** The signature of an order that was just logged was recovered to a plain key and need not be again, placed or on its way. */
  recovered(market: string, orderId: string): void
  /** Counts an unchecked order before it appears in the feed. */
  readonly reserve: UncheckedCount['reserve']
  /** Live orders. */
  size(): number
}

/** An empty watch. It holds the live orders, whose number the matchers bound. */
export function createOrderWatch(digestOf: (order: Order) => Hex): OrderWatch {
  const markets = new Map<string, MarketWatch>()
  const queues = createQueues<WatchedOrder>()
  const unchecked = createUncheckedCount()
  const recovered = createRecovered()
  const placedOf = (market: string, orderId: string): WatchedOrder | undefined =>
    markets.get(market)?.live.get(orderId)
  const isLive = (order: WatchedOrder): boolean => placedOf(order.market, order.orderId) === order

  const drop = (live: MarketWatch['live'], change: Change, market: string): void => {
    const order = live.get(change.orderId)
    unchecked.remove(market, change.orderId)
    if (order === undefined) return
    live.delete(change.orderId)
    queues.drop(order)
  }
  const fold = (live: MarketWatch['live'], change: Change, placed: PlacedOrder): void => {
    if (!isLiving(change.status)) return drop(live, change, placed.market)
    if (change.kind === 'OrderPlaced') {
      const ofThisRun = recovered.take(change.orderId)
      const order = watched(change.order, { ...placed, recovered: ofThisRun }, digestOf)
      live.set(order.orderId, order)
      queues.prioritise(order, order.signer !== order.owner)
      return noteHold(order, change)
    }
    const order = live.get(change.orderId)
    if (order !== undefined) noteHold(order, change)
  }
  const noteHold = (order: WatchedOrder, change: Change): void => {
    order.unchecked = isUnchecked(order, change)
    // An order that returned to the book may need the result again.
    if (change.status === 'active') order.logged = undefined
    if (order.unchecked) {
      unchecked.add(order)
      queues.prioritise(order, true)
    } else {
      unchecked.remove(order.market, order.orderId)
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
      // The map is in order of placement, so the first order is the oldest.
      for (const { placedAt } of known.live.values()) return placedAt
      return known.head + 1
    },
    next: (maxSigners) => queues.next(maxSigners),
    prioritise: (order, hasPriority) => {
      if (isLive(order)) queues.prioritise(order, hasPriority)
    },
    prioritiseSigners(signers) {
      for (const order of ordersOf(markets.values(), signers)) queues.prioritise(order, true)
    },
    isLive,
    recovered: (market, orderId) => recovered.note(orderId, placedOf(market, orderId)),
    reserve: (order) => unchecked.reserve(order),
    size: () => queues.size(),
  }
}

function* ordersOf(
  markets: Iterable<MarketWatch>,
  signers: readonly Address[],
): Iterable<WatchedOrder> {
  if (signers.length === 0) return
  const wanted = new Set(signers)
  for (const { live } of markets) {
    for (const order of live.values()) if (wanted.has(order.signer)) yield order
  }
}

function lazyProof(order: Order, digestOf: (order: Order) => Hex): Proof {
  let known: Hex | undefined
  return { digest: () => (known ??= digestOf(order)), signature: order.signature }
}

/** Most recovered signatures of orders on their way into the log; a dropped one is recovered again later. */
const MAX_RECOVERED = 10_000

function createRecovered() {
  const orderIds = new Set<string>()
  return {
    note(orderId: string, placed: WatchedOrder | undefined): void {
      if (placed !== undefined) return markRecovered(placed)
      orderIds.add(orderId)
      if (orderIds.size <= MAX_RECOVERED) return
      const [oldest] = orderIds
      if (oldest !== undefined) orderIds.delete(oldest)
    },
    /** Removes the order; false when it was not there. */
    take: (orderId: string): boolean => orderIds.delete(orderId),
  }
}

interface MarketWatch {
  readonly live: Map<string, WatchedOrder>
  /** Last applied message. */
  head: number
}

type PlacedOrder = Pick<WatchedOrder, 'market' | 'placedAt'>

/** An order that this process has placed was recovered then. */
type RecoveredOrder = PlacedOrder & Pick<WatchedOrder, 'recovered'>

function markRecovered(order: WatchedOrder): void {
  order.proof = undefined
  order.recovered = true
  order.keyEndsSec ??= order.goodUntilSec
}

function watched(
  order: Order,
  entered: RecoveredOrder,
  digestOf: (order: Order) => Hex,
): WatchedOrder {
  const { orderId, owner, signer, goodUntilSec } = order
  return {
    market: entered.market,
    placedAt: entered.placedAt,
    orderId,
    owner,
    signer,
    proof: entered.recovered ? undefined : lazyProof(order, digestOf),
    unchecked: false,
    logged: undefined,
    goodUntilSec,
    // The placement was followed by the end of the key, if that comes before the order's own.
    keyEndsSec: entered.recovered ? goodUntilSec : undefined,
    recovered: entered.recovered,
    byCode: order.signedByCode === true,
  }
}

/** Whether the market holds the order for its signature after a change; a fill does not change that. */
function isUnchecked(order: WatchedOrder, change: Change): boolean {
  if (change.kind === 'OrderFilled') return order.unchecked
  return 'hold' in change && change.hold === 'signature_unchecked'
}

/** The signed digest of an order of one of these markets. */
export function digestOfOrder(
  verifier: Pick<SignatureVerifier, 'digest'>,
  markets: readonly Market[],
  order: Order,
): Hex {
  const market = markets.find((each) => each.market === order.market)
  assert(market !== undefined, `order ${order.orderId} is of ${order.market}, which is not known`)
  return verifier.digest(actionOf(market, order))
}

/** Reads the proof of an order from its placement in the feed, where it is while the order lives. */
export async function readProof(
  bus: Pick<Bus, 'read'>,
  { market, orderId, placedAt }: WatchedOrder,
  digestOf: (order: Order) => Hex,
): Promise<Proof> {
  const [message] = await bus.read(feedStream(market), placedAt, 1)
  const changes = message === undefined ? [] : decodeBlock(message.data).changes
  const placed = changes.find((each) => each.orderId === orderId && each.kind === 'OrderPlaced')
  assert(
    placed?.kind === 'OrderPlaced',
    `message ${placedAt} of ${feedStream(market)} does not place ${orderId}`,
  )
  return lazyProof(placed.order, digestOf)
}

/** Messages between two updates of the stored resume position. */
const STORE_EVERY = 1_000

export interface FollowOrdersOptions {
  readonly bus: Pick<Bus, 'follow' | 'streamState'>
  readonly registry: Pick<IntakeRegistry, 'watchedFrom' | 'markWatchedFrom'>
  readonly watch: OrderWatch
  readonly market: string
  /** Takes the terms that the feed states. */
  readonly halts: Pick<MarketHalts, 'state'>
  readonly log: Logger
  /** The feed cannot be followed any further. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Folds a market's feed into the watch, from the stored resume position: the placement of the oldest order that was live
 * when it was stored. Stopping stores it again.
 */
export async function followOrders(options: FollowOrdersOptions): Promise<RunningProcess> {
  const { bus, registry, watch, market, halts, log, onFatal } = options
  let sinceStored = 0
  const storePosition = (): void => {
    const from = watch.resumeFrom(market)
    sinceStored = 0
    if (from > 0) registry.markWatchedFrom(market, from)
  }
  const state = await stateOrEmpty(bus, feedStream(market))
  const fromSeq = startOf(state, registry.watchedFrom(market))
  log.info({ market, stream_seq: fromSeq }, 'watching the orders of a feed')
  const subscription = await bus.follow({
    stream: feedStream(market),
    fromSeq,
    onMessage: ({ seq, data }) => {
      const block = decodeBlock(data)
      assert(block.market === market, `a block of ${block.market} in the feed of ${market}`)
      watch.apply(seq, block)
      if (block.terms !== undefined) halts.state(market, seq, block.terms)
      sinceStored += 1
      if (sinceStored >= STORE_EVERY) storePosition()
    },
    onError: onFatal,
  })
  return {
    stop: async () => {
      await subscription.stop()
      storePosition()
    },
  }
}

/** A feed that ends before the stored position is a new one and is read whole; trimmed messages hold no live order. */
function startOf({ firstSeq, lastSeq }: StreamState, stored: number): number {
  return stored > lastSeq + 1 ? firstSeq : Math.max(firstSeq, stored)
}
