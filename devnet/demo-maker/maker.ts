import type { LocalBook, OrderBody } from '../../client/index.js'
import type { Side } from '../../core/order.js'
import type { Desk } from './desk.js'
import { LEVELS, hasDrifted, quoteAt, referenceCents, type Quote } from './quotes.js'

export interface MakerParts {
  readonly desk: Desk
  /** The market's book as it is followed. */
  readonly book: Pick<LocalBook, 'seq' | 'has'>
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

export interface Maker {
  /** Brings every quote to where it should be now. Throws OutcomeUnknown; calling it again goes on from there. */
  refresh(): Promise<void>
  /** Cancels every quote, as far as the venue answers. */
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
  readonly signedAtMs: number
  /** False while the venue has not said that it has the order; sending it again is safe. */
  placed: boolean
  /** Whether the followed book has shown it; before that its absence says nothing. */
  seen: boolean
}

const RENEW_BEFORE_SEC = 60
const REST_AFTER_REFUSAL_MS = 30_000
const UNSEEN_IS_GONE_MS = 10_000

/** Quotes LEVELS orders on both sides of a reference price: a market that lives, not a strategy. */
export function createMaker({ desk, book, nowMs }: MakerParts): Maker {
  const slots = emptySlots()

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
      await desk.cancel(slot.live.body)
      slot.live = undefined
    }
    if (nowMs() < slot.restUntilMs || slots.some(({ live }) => meets(live?.quote, wanted))) return
    const body = await desk.sign(wanted)
    slot.live = { quote: wanted, body, signedAtMs: nowMs(), placed: false, seen: false }
    await place(slot, slot.live)
  }

  async function place(slot: Slot, live: LiveQuote): Promise<void> {
    if (await desk.place(live.body)) {
      live.placed = true
      return
    }
    slot.live = undefined
    slot.restUntilMs = nowMs() + REST_AFTER_REFUSAL_MS
  }

  function isGone(live: LiveQuote): boolean {
    if (!book.has(live.body.order_id)) {
      return live.seen || nowMs() - live.signedAtMs > UNSEEN_IS_GONE_MS
    }
    live.seen = true
    return false
  }

  function isStale({ quote, body }: LiveQuote, wanted: Quote): boolean {
    const leftSec = body.expiry - nowMs() / 1_000
    return leftSec < RENEW_BEFORE_SEC || hasDrifted(quote, wanted)
  }

  async function withdraw(): Promise<void> {
    const live = slots.flatMap((slot) => (slot.live === undefined ? [] : [slot.live]))
    await Promise.allSettled(live.map(({ body }) => desk.cancel(body)))
  }

  return { refresh, withdraw }
}

function emptySlots(): Slot[] {
  const levels = Array.from({ length: LEVELS }, (_, level) => level)
  return (['buy', 'sell'] as const).flatMap((side) =>
    levels.map((level): Slot => ({ side, level, live: undefined, restUntilMs: 0 })),
  )
}

/** Whether a new quote would trade with one of the maker's own. */
function meets(live: Quote | undefined, wanted: Quote): boolean {
  if (live === undefined || live.side === wanted.side) return false
  const gap = live.priceCents - wanted.priceCents
  return wanted.side === 'buy' ? gap <= 0n : gap >= 0n
}
