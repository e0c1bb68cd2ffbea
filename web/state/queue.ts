import { computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import type { OwnOrderRow } from '../select/order-row.js'
import { queuePlaces, type QueuePlace } from '../select/queue.js'
import { soon } from './soon.js'
import type { Terminal } from './terminal.js'

export type Places = ReadonlyMap<string, QueuePlace>

/** Orders of each side that are read: those of the best prices, which the venue reads for each request alone. */
const DEPTH = 100
/** The levels of the page have no orders: while own ones rest the book is read so often, in seconds. */
const EVERY_SEC = 5
const NOWHERE: Places = new Map()

/** The places of own orders of the open market, by order id. Reads nothing while there are none. */
export function followQueue(
  { market, nowSec, venue }: Pick<Terminal, 'market' | 'nowSec' | 'venue'>,
  openHere: ReadonlySignal<readonly OwnOrderRow[]>,
): ReadonlySignal<Places> {
  const places = signal(NOWHERE)
  const read = soon(async () => {
    const open = market.peek()
    const own = new Set(openHere.peek().map(({ id }) => id))
    if (open === undefined || own.size === 0) return void (places.value = NOWHERE)
    const book = await venue.book(open.name, { depth: DEPTH })
    if (market.peek() === open) places.value = queuePlaces(open.terms, book, (id) => own.has(id))
  })
  const turn = computed(() => Math.floor(nowSec.value / EVERY_SEC))
  effect(() => {
    if (openHere.value.length + places.peek().size > 0) read()
    void turn.value
  })
  return places
}
