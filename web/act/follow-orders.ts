import { effect, untracked } from '@preact/signals'
import { fillRow } from '../select/fill-row.js'
import { orderProgress } from '../select/order-progress.js'
import type { OwnFailure, OwnState } from '../state/own-state.js'
import type { Terminal } from '../state/terminal.js'
import type { Toast } from '../state/toasts.js'

/** Orders of this page that have a toast until they end. */
export interface OrderToasts {
  /** `words` name the order in its toast, `told` is what the toast says of it now. */
  watch(order: { readonly id: string; readonly words: string; readonly told: string }): void
}

/** So many are followed: the oldest is followed no more. */
const WATCHED = 50

interface WatchEntry {
  readonly words: string
  readonly told: string
}

/** Keeps the toast of each order at what became of it, and shows each match that the chain refuses or takes back. */
export function followOrders({ own, entryOf, toasts }: Terminal): OrderToasts {
  const watched = new Map<string, WatchEntry>()
  const look = (mine: OwnState, id: string, { words, told }: WatchEntry): void => {
    const record = mine.orders.value.get(id)
    if (record === undefined) return
    const { text, kind, isOver } = orderProgress(record)
    if (isOver) watched.delete(id)
    if (text === told) return
    if (!isOver) watched.set(id, { words, told: text })
    const hash = mine.fills.value.find(({ leg }) => leg.order_id === id)?.leg.tx_hash
    const toast: Toast = { id, text: `${words}: ${text}`, kind }
    untracked(() => toasts.tell(hash === undefined ? toast : { ...toast, hash }))
  }
  effect(() => {
    const mine = own.value
    void mine?.orders.value
    if (mine !== undefined) for (const [id, one] of [...watched]) look(mine, id, one)
  })
  effect(() => {
    const failure = own.value?.failure.value
    if (failure !== undefined) untracked(() => toasts.tell(failureToast(entryOf, failure)))
  })
  return {
    watch({ id, ...one }) {
      watched.set(id, one)
      const [oldest] = watched.keys()
      if (watched.size > WATCHED && oldest !== undefined) watched.delete(oldest)
      // The channel may have shown it before the answer did.
      const mine = own.peek()
      if (mine !== undefined) untracked(() => look(mine, id, one))
    },
  }
}

function failureToast(entryOf: Terminal['entryOf'], { market, leg }: OwnFailure): Toast {
  const entry = entryOf(market)
  const { settlement_id: match, order_id: id, status, reason, tx_hash: hash } = leg
  const row = entry && fillRow(entry, leg)
  const what = row === undefined ? market : `${row.sideWords} ${row.size} at ${row.price}`
  const happened =
    status === 'reversed' ? 'the chain has taken it back' : 'the chain did not carry it out'
  const why = reason === undefined ? '' : `: ${reason}`
  const toast: Toast = { id: `${match} ${id}`, text: `${what}: ${happened}${why}`, kind: 'bad' }
  return hash === undefined ? toast : { ...toast, hash }
}
