import type { Logger } from '../../bus-schemas/log.js'
import {
  VenueRefused,
  randomNonce,
  signTraderOrder,
  type LocalBook,
  type MarketRecord,
  type OrderBody,
  type RestClient,
  type SigningDomain,
  type TypedDataSigner,
} from '../../client/index.js'
import type { Side } from '../../core/order.js'
import { LEVELS, hasDrifted, quoteAt, referenceCents, type Quote } from './quotes.js'

export interface MakerParts {
  readonly rest: Pick<RestClient, 'book' | 'placeOrder' | 'cancelOrder'>
  /** The market's book as it is followed. */
  readonly book: Pick<LocalBook, 'seq' | 'has'>
  readonly market: MarketRecord
  readonly signer: TypedDataSigner
  readonly domain: SigningDomain
  readonly subaccountId: string
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
}

export interface Maker {
  /** Cancels what an earlier run left behind. */
  clear(): Promise<void>
  /** Brings every quote to where it should be now. A venue that does not answer is asked again next time. */
  refresh(): Promise<void>
  /** Cancels every quote. */
  withdraw(): Promise<void>
}

/** One place on one side of the book, with at most one order in it. */
interface Slot {
  readonly side: Side
  readonly level: number
  live: LiveQuote | undefined
  /** The venue refused the last quote: not again before. */
  restUntilMs: number
}

interface LiveQuote {
  readonly quote: Quote
  readonly body: OrderBody
  readonly placedAtMs: number
  /** False while the venue has not said that it has the order; sending it again is safe. */
  placed: boolean
  /** Whether the followed book has shown it; before that its absence says nothing. */
  seen: boolean
}

const EXPIRES_IN_SEC = 300
const RENEW_BEFORE_SEC = 60
const REST_AFTER_REFUSAL_MS = 30_000
const UNSEEN_IS_GONE_MS = 10_000

/** Quotes LEVELS orders on both sides of a reference price: a market that lives, not a strategy. */
export function createMaker(parts: MakerParts): Maker {
  const { rest, book, market, signer, domain, subaccountId, nowMs, log } = parts
  const slots: Slot[] = (['buy', 'sell'] as const).flatMap((side) =>
    Array.from({ length: LEVELS }, (_, level) => ({
      side,
      level,
      live: undefined,
      restUntilMs: 0,
    })),
  )

  async function refresh(): Promise<void> {
    if (book.seq() === undefined) return
    for (const slot of slots) await refreshSlot(slot)
    // Where the reference moved far, one side has to leave before the other can follow.
    for (const slot of slots) if (slot.live === undefined) await refreshSlot(slot)
  }

  async function refreshSlot(slot: Slot): Promise<void> {
    const wanted = quoteAt(referenceCents(nowMs()), slot.side, slot.level)
    if (slot.live?.placed === false) return place(slot, slot.live)
    if (slot.live !== undefined && isGone(slot.live)) slot.live = undefined
    if (slot.live !== undefined) {
      if (!isStale(slot.live, wanted)) return
      await cancel(slot, slot.live)
    }
    if (nowMs() < slot.restUntilMs || wouldCrossItself(wanted)) return
    slot.live = await sign(wanted)
    await place(slot, slot.live)
  }

  async function sign(quote: Quote): Promise<LiveQuote> {
    const nonce = randomNonce()
    const body = await signTraderOrder(signer, domain, {
      market,
      orderId: `demo-maker-${nonce.toString(36)}`,
      subaccountId,
      nonce,
      expirySec: Math.floor(nowMs() / 1_000) + EXPIRES_IN_SEC,
      side: quote.side,
      price: quote.price,
      size: quote.size,
    })
    return { quote, body, placedAtMs: nowMs(), placed: false, seen: false }
  }

  async function place(slot: Slot, live: LiveQuote): Promise<void> {
    try {
      await rest.placeOrder(live.body)
      live.placed = true
      log.debug({ order_id: live.body.order_id, ...shown(live.quote) }, 'quoted')
    } catch (error) {
      if (!(error instanceof VenueRefused)) throw error
      slot.live = undefined
      slot.restUntilMs = nowMs() + REST_AFTER_REFUSAL_MS
      log.warn({ code: error.code, reason: error.message, ...shown(live.quote) }, 'quote refused')
    }
  }

  async function cancel(slot: Slot, live: LiveQuote): Promise<void> {
    await cancelOrder(live.body)
    slot.live = undefined
  }

  async function cancelOrder(order: Pick<OrderBody, 'owner_address' | 'nonce'>): Promise<void> {
    const { owner_address, nonce } = order
    try {
      await rest.cancelOrder({ owner_address, nonce, reason: 'requote' })
    } catch (error) {
      // Filled, expired or cancelled in the meantime: gone is what was wanted.
      if (!(error instanceof VenueRefused && error.status === 404)) throw error
    }
  }

  function isGone(live: LiveQuote): boolean {
    if (book.has(live.body.order_id)) {
      live.seen = true
      return false
    }
    return live.seen || nowMs() - live.placedAtMs > UNSEEN_IS_GONE_MS
  }

  function isStale({ quote, body }: LiveQuote, wanted: Quote): boolean {
    const leftSec = body.expiry - nowMs() / 1_000
    return leftSec < RENEW_BEFORE_SEC || hasDrifted(quote, wanted)
  }

  function wouldCrossItself(wanted: Quote): boolean {
    return slots.some(({ live }) => {
      if (live === undefined || live.quote.side === wanted.side) return false
      const gap = live.quote.priceCents - wanted.priceCents
      return wanted.side === 'buy' ? gap <= 0n : gap >= 0n
    })
  }

  async function clear(): Promise<void> {
    const { bids, asks } = await rest.book(market.market)
    const owner = signer.address.toLowerCase()
    for (const order of [...bids, ...asks]) {
      if (order.owner_address !== owner || order.subaccount_id !== subaccountId) continue
      await cancelOrder(order)
    }
  }

  async function withdraw(): Promise<void> {
    const leaving = slots.flatMap((slot) =>
      slot.live === undefined ? [] : [{ slot, live: slot.live }],
    )
    await Promise.allSettled(leaving.map(({ slot, live }) => cancel(slot, live)))
  }

  return { clear, refresh, withdraw }
}

function shown({ side, price, size }: Quote) {
  return { side, price, size }
}
