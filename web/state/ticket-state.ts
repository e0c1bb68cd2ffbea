import { signal, type Signal } from '@preact/signals'
import type { Side } from '../../client/index.js'
import type { TicketInput } from '../select/planned.js'

/** What stands in a ticket; each part is a signal, so that a key pressed draws its own field alone. */
export interface TicketState {
  readonly kind: Signal<'limit' | 'market' | 'ladder'>
  readonly side: Signal<Side>
  readonly price: Signal<string>
  /** Of a ladder: the price at its other end, and how many orders it has. */
  readonly last: Signal<string>
  readonly count: Signal<string>
  readonly size: Signal<string>
  readonly unit: Signal<'base' | 'quote'>
  readonly force: Signal<'GTC' | 'IOC' | 'FOK'>
  /** How long a GTC order lives, in seconds. */
  readonly livesSec: Signal<number>
  readonly post: Signal<'off' | 'reject' | 'slide'>
  readonly reduceOnly: Signal<boolean>
  /** What a first press asked, and of which ticket: the same question of the same ticket, pressed again, is meant. */
  readonly asked: Signal<string>
}

export const LIVES = [
  ['1 hour', 3_600],
  ['1 day', 86_400],
  ['7 days', 604_800],
] as const

/** An empty ticket; one is made for each market, and it keeps its fields when the side changes. */
export const createTicket = (): TicketState => ({
  kind: signal('limit'),
  side: signal('buy'),
  price: signal(''),
  last: signal(''),
  count: signal('5'),
  size: signal(''),
  unit: signal('base'),
  force: signal('GTC'),
  livesSec: signal(LIVES[0][1]),
  post: signal('off'),
  reduceOnly: signal(false),
  asked: signal(''),
})

/** Puts back what stood in a ticket; the life of its order stays as it is chosen now. */
export function refill(ticket: TicketState, typed: TicketInput): void {
  ticket.kind.value = typed.kind
  ticket.side.value = typed.side
  ticket.price.value = typed.price
  ticket.size.value = typed.size
  ticket.unit.value = typed.unit
  // Those of a market order are not chosen.
  if (typed.kind === 'limit') {
    ticket.force.value = typed.force
    ticket.post.value = typed.post
  }
  ticket.reduceOnly.value = typed.reduceOnly
  ticket.asked.value = ''
}
