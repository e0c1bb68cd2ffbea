import type { LocalBook, OrderBody } from '../../client/index.js'
import type { Side } from '../../core/model/order.js'
import type { Desk } from './desk.js'
import { hasDrifted, LEVELS, quoteAt, type QuoteCentre, type Grid, type Quote } from './quotes.js'

export interface MakerParts {
  readonly desk: Desk
  /** The followed order book of the market. */
  readonly book: Pick<LocalBook, 'seq' | 'has'>
  readonly grid: Grid
  /** What to quote around; undefined while there is nothing. */
  readonly around: () => QuoteCentre | undefined
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

export interface Maker {
  /** Moves every quote to its current target price. Throws OutcomeUnknown; the next call continues. */
  refresh(): Promise<void>
  /** The quotes that stand in the followed book. */
  readonly quotes: () => readonly Quote[]
  /** Cancels every quote; returns early when the venue does not answer. */
  withdraw(): Promise<void>
}

/** One quote level on one side of the book, with at most one order. */
interface Slot {
  readonly side: Side
  readonly level: number
  live: LiveQuote | undefined
}

interface LiveQuote {
  readonly quote: Quote
  readonly body: OrderBody
  readonly signedAtMs: number
  /** False until the venue has confirmed the order; a retry is safe. */
  placed: boolean
  /** Whether the order has appeared in the followed book; before that its absence has no meaning. */
  seen: boolean
}

const RENEW_BEFORE_SEC = 60
/** Pause after a refusal; it doubles with each further one in a row. */
const REST_AFTER_REFUSAL_MS = 30_000
const LONGEST_REST_MS = 600_000
const UNSEEN_IS_GONE_MS = 10_000

/** Quotes LEVELS orders on both sides of a reference price: it keeps the market busy and is not a trading strategy. */
export function createMaker({ desk, book, grid, around, nowMs }: MakerParts): Maker {
  const slots = emptySlots()
  let restUntilMs = 0
  let restMs = REST_AFTER_REFUSAL_MS

  async function refresh(): Promise<void> {
    const now = around()
    if (book.seq() === undefined || now === undefined) return
    for (const slot of slots) await refreshSlot(slot, now)
    // After a large move of the reference, one side must be cancelled before the other can be quoted.
    for (const slot of slots) if (slot.live === undefined) await refreshSlot(slot, now)
  }

  async function refreshSlot(slot: Slot, now: QuoteCentre): Promise<void> {
    const wanted = quoteAt(grid, now, slot.side, slot.level)
    if (slot.live?.placed === false) return place(slot, slot.live)
    if (slot.live !== undefined && isGone(slot.live)) slot.live = undefined
    if (slot.live !== undefined) {
      if (wanted !== undefined && !isStale(slot.live, wanted)) return
      await desk.cancel(slot.live.body)
      slot.live = undefined
    }
    if (wanted === undefined || nowMs() < restUntilMs) return
    if (slots.some(({ live }) => meets(live?.quote, wanted))) return
    const body = await desk.sign(wanted)
    slot.live = { quote: wanted, body, signedAtMs: nowMs(), placed: false, seen: false }
    await place(slot, slot.live)
  }

  async function place(slot: Slot, live: LiveQuote): Promise<void> {
    if (await desk.place(live.body)) {
      live.placed = true
      restMs = REST_AFTER_REFUSAL_MS
      return
    }
    slot.live = undefined
    restUntilMs = nowMs() + restMs
    restMs = Math.min(2 * restMs, LONGEST_REST_MS)
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

  const quotes = (): Quote[] =>
    slots.flatMap(({ live }) =>
      live !== undefined && book.has(live.body.order_id) ? [live.quote] : [],
    )

  return { refresh, quotes, withdraw }
}

function emptySlots(): Slot[] {
  const levels = Array.from({ length: LEVELS }, (_, level) => level)
  return (['buy', 'sell'] as const).flatMap((side) =>
    levels.map((level): Slot => ({ side, level, live: undefined })),
  )
}

/** Whether a new quote would trade with one of the maker's own. */
function meets(live: Quote | undefined, wanted: Quote): boolean {
  if (live === undefined || live.side === wanted.side) return false
  const gap = live.priceUnits - wanted.priceUnits
  return wanted.side === 'buy' ? gap <= 0n : gap >= 0n
}
