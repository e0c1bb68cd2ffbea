import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { OutcomeUnknown, signOrder, VenueRefused, type NewOrder } from '../../client/index.js'
import { wordsOf } from '../../client/words-of.js'
import { otherSide } from '../select/ticket.js'
import { GUARD_WORDS, NO_PLAN_WORDS } from '../select/ticket-words.js'
import { orderProgress } from '../select/order-progress.js'
import type { TicketPlan, TicketInput } from '../select/planned.js'
import type { RowStage } from '../select/row-state.js'
import { sideWords } from '../select/side-words.js'
import { isWithin } from '../select/walk-book.js'
import type { MarketState } from '../state/market-state.js'
import type { OwnState } from '../state/own-state.js'
import type { Terminal } from '../state/terminal.js'
import { refill, type TicketState } from '../state/ticket-state.js'
import type { Views } from '../state/views.js'
import { createDrafts, type Drafts, type Instructions, type DraftTerms } from './draft.js'
import { followOrders } from './follow-orders.js'
import { placeLadder } from './place-ladder.js'
import { createLock, createPlacement, type SinglePlacement } from './place-once.js'

/** An order that the venue does not have yet, or has refused. */
export interface SentOrder {
  readonly id: string
  readonly owner: string
  readonly market: string
  readonly words: string
  readonly sent: RowStage
  /** What stood in the ticket: "Edit" puts it back. */
  readonly typed: TicketInput
}

export interface OrderPlacement {
  readonly isBusy: ReadonlySignal<boolean>
  /** Orders of the trader on their way, until the venue shows them; a refused one stays for a minute. */
  readonly sent: ReadonlySignal<readonly SentOrder[]>
  /** What stands in the way of the ticket, said by the last press; empty without. */
  readonly said: ReadonlySignal<string>
  /** Whether an order of the trader has no answer: the next press sends the same bytes. */
  readonly isUnanswered: ReadonlySignal<boolean>
  /** What a press would sign, while it is looked at. */
  readonly drafts: Pick<Drafts, 'isShown' | 'shown'>
  /** Signs and sends what the ticket's words say, once however often it is pressed. */
  press(): Promise<void>
  /** The ticket has changed: the next order is another one. */
  forget(): void
  /**
   * Signs and sends a plan that another dialog has shown. Throws what the signer and `placeOrder` throw, and an Error where nothing was
   * sent: an order has no answer yet, the account has changed, or the book has moved past the guard.
   */
  placePlan(plan: TicketPlan, terms: Instructions): Promise<void>
  edit(id: string): void
  dismiss(id: string): void
}

const REFUSED_STAYS_MS = 60_000

interface OrderSending {
  readonly isUnanswered: ReadonlySignal<boolean>
  readonly list: ReturnType<typeof sentList>
  /** The order of the owner of which no answer came; undefined without one. */
  readonly unanswered: (own: OwnState) => NewOrder | undefined
  readonly forget: () => void
  /** Sends a signed order and tells what became of it. Throws as `placeOrder` does. */
  readonly send: (own: OwnState, order: NewOrder, row: Omit<SentOrder, 'sent'>) => Promise<void>
}

function createSending(terminal: Terminal): OrderSending {
  const { venue, toasts, own: current } = terminal
  const followed = followOrders(terminal)
  const list = sentList()
  // By owner: a renewed key, another chain and back, or a reconnect makes a new state of the same owner, whose order is still unanswered.
  const placements = new Map<string, SinglePlacement>()
  const placementOf = ({ trader }: OwnState): SinglePlacement => {
    const one = placements.get(trader.owner) ?? createPlacement(venue)
    placements.set(trader.owner, one)
    return one
  }
  const unanswered = (own: OwnState): NewOrder | undefined => placementOf(own).unanswered()
  const fail = (row: Omit<SentOrder, 'sent'>, error: unknown): void => {
    const words = wordsOf(error)
    if (error instanceof OutcomeUnknown) list.put({ ...row, sent: { stage: 'unknown' } })
    else {
      const code = error instanceof VenueRefused ? error.code : 'not_sent'
      list.put({ ...row, sent: { stage: 'refused', code, words } })
      setTimeout(() => list.drop(row.id), REFUSED_STAYS_MS)
    }
    toasts.tell({ id: row.id, text: `${row.words}: ${words}`, kind: 'bad' })
  }
  return {
    list,
    unanswered,
    isUnanswered: computed(() => {
      const own = current.value
      return own !== undefined && unanswered(own) !== undefined
    }),
    forget() {
      for (const one of placements.values()) one.forget()
    },
    async send(own, order, row) {
      list.put({ ...row, sent: { stage: 'sending' } })
      toasts.tell({ id: row.id, text: `${row.words}: sending …`, kind: 'busy' })
      try {
        const record = await placementOf(own).place(order)
        own.note(record)
        list.drop(row.id)
        const { text, kind, isOver } = orderProgress(record)
        toasts.tell({ id: row.id, text: `${row.words}: ${text}`, kind })
        if (!isOver) followed.watch({ id: row.id, words: row.words, told: text })
      } catch (error) {
        fail(row, error)
        throw error
      }
    },
  }
}

interface ToSign {
  readonly planned: TicketPlan
  readonly given: Instructions
  readonly order: DraftTerms
}

/** Signs a plan and sends it. Throws what the signer and `placeOrder` throw, and an Error where nothing was sent. */
async function signAndSend(
  terminal: Terminal,
  { list, send }: OrderSending,
  own: OwnState,
  { planned, given, order }: ToSign,
): Promise<void> {
  const row = rowOf(own, given, order)
  list.put({ ...row, sent: { stage: 'signing' } })
  let signed: NewOrder
  try {
    signed = await signOrder(own.trader.signer, terminal.domain, order)
  } catch (error) {
    list.drop(row.id)
    terminal.toasts.tell({ id: row.id, text: `Not signed: ${wordsOf(error)}`, kind: 'bad' })
    throw error
  }
  if (own !== terminal.own.value) {
    list.drop(row.id)
    throw new Error('The account has changed while it was signed: nothing was sent.')
  }
  if (given.typed.kind === 'market' && hasMovedPast(given.market, planned)) {
    list.drop(row.id)
    throw new Error('The book has moved past the guard while it was signed: nothing was sent.')
  }
  await send(own, signed, row)
}

export function createPlacing(terminal: Terminal, views: Views): OrderPlacement {
  const lock = createLock()
  const said = signal('')
  const sending = createSending(terminal)
  const { list, isUnanswered } = sending
  const drafts = createDrafts(terminal, views)
  const pressed = async (): Promise<void> => {
    const own = terminal.own.value
    const market = terminal.market.value
    const ticket = terminal.ticket.value
    if (own === undefined) return void (terminal.dialog.value = { name: 'account' })
    if (market === undefined) return
    const unanswered = sending.unanswered(own)
    if (unanswered !== undefined) {
      const row = repeated(list.all.value, unanswered, {
        owner: own.trader.owner,
        market: market.name,
        typed: views.typed.value,
      })
      await sending.send(own, unanswered, row)
      // The ticket of another market is another order.
      return row.market === market.name ? clear(ticket) : undefined
    }
    const subaccountId = terminal.subaccount.value
    if (subaccountId === undefined)
      return void (said.value = 'You have no account for this market yet.')
    if (ticket.kind.value === 'ladder') {
      const typed = views.typed.value
      const given = { market, subaccountId, typed, livesSec: ticket.livesSec.value }
      await placeLadder(terminal, own, { ladder: views.ladder.value, given })
      return clear(ticket)
    }
    const hindrance = hindranceOf(views, ticket)
    if (hindrance !== undefined) return void (said.value = hindrance)
    const planned = views.planned.value as TicketPlan
    const typed = views.typed.value
    const given = { market, subaccountId, typed, livesSec: ticket.livesSec.value }
    const order = drafts.take({ own, planned, given })
    await signAndSend(terminal, sending, own, { planned, given, order })
    clear(ticket)
  }
  return {
    isBusy: lock.isBusy,
    said,
    isUnanswered,
    drafts,
    dismiss: list.drop,
    sent: computed(() => {
      const own = terminal.own.value
      const orders = own?.orders.value
      return list.all.value.filter(
        ({ owner, id }) => owner === own?.trader.owner && orders?.has(id) !== true,
      )
    }),
    press: () =>
      lock.run(async () => {
        said.value = ''
        await pressed().catch((error: unknown) => void (said.value = wordsOf(error)))
      }),
    forget() {
      said.value = ''
      terminal.ticket.value.asked.value = ''
      sending.forget()
    },
    placePlan: (planned, given) =>
      lock.run(async () => {
        const own = terminal.own.value
        if (own === undefined) return
        if (sending.unanswered(own) !== undefined)
          throw new Error('An order has no answer yet: send it again in the ticket first.')
        const order = drafts.take({ own, planned, given })
        await signAndSend(terminal, sending, own, { planned, given, order })
      }),
    edit(id) {
      const found = list.all.value.find((one) => one.id === id)
      if (found === undefined) return
      terminal.open(found.market)
      refill(terminal.ticket.value, found.typed)
      list.drop(id)
    },
  }
}

/** The row of an unanswered order that is sent again: that of its first sending. `here` counts where that has gone. */
function repeated(
  sent: readonly SentOrder[],
  { order_id: id }: NewOrder,
  here: Pick<SentOrder, 'owner' | 'market' | 'typed'>,
): Omit<SentOrder, 'sent'> {
  const { owner, market, typed } = sent.find((one) => one.id === id) ?? here
  return { id, owner, market, typed, words: 'The same order again' }
}

function sentList() {
  const all = signal<readonly SentOrder[]>([])
  const drop = (id: string): void => void (all.value = all.value.filter((one) => one.id !== id))
  return {
    all,
    drop,
    put: (one: SentOrder): void =>
      void (all.value = [one, ...all.value.filter(({ id }) => id !== one.id)].slice(0, 50)),
  }
}

/** A ticket is good for one order: a key that is held finds it empty. */
function clear({ size, asked }: TicketState): void {
  size.value = ''
  asked.value = ''
}

/** Why the ticket is not sent now; undefined where it is. A question that was asked of the same ticket before is answered by the press. */
function hindranceOf(views: Views, ticket: TicketState): string | undefined {
  const planned = views.planned.value
  if (typeof planned === 'string') return NO_PLAN_WORDS[planned]
  const [first] = planned.guards
  if (first?.level === 'block') return GUARD_WORDS[first.code]
  if (first?.level !== 'ask') return undefined
  const { guardBps, ...typed } = views.typed.value
  const question = JSON.stringify([first.code, typed, Number(guardBps)])
  if (ticket.asked.value === question) return undefined
  ticket.asked.value = question
  return `${GUARD_WORDS[first.code]} Press again if it is meant.`
}

/** Whether nothing of the book is within the signed limit any more. */
function hasMovedPast({ book }: MarketState, { plan }: TicketPlan): boolean {
  const best = book.value && otherSide(book.value, plan.side)[0]
  return best === undefined || !isWithin(plan.side, best.priceE18, plan.limitE18)
}

/** The row of an order on its way. */
function rowOf(
  { trader: { owner } }: OwnState,
  { market, typed }: Instructions,
  { orderId: id }: DraftTerms,
): Omit<SentOrder, 'sent'> {
  const at = typed.kind === 'market' ? 'at market' : `at ${typed.price}`
  const words = `${sideWords(market.entry.value, typed.side)} ${at}`
  return { id, owner, market: market.name, words, typed }
}
