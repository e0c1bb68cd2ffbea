import { signal } from '@preact/signals'
import { linkOf } from '../select/link.js'
import { cancelHere } from './cancels.js'
import { fillShare } from './ticket.js'
import type { ViewContext } from './page.js'

/** The keyboard: what each key does, said once for the help, the palette and the listener. */

export interface Key {
  readonly keys: string
  readonly words: string
  /** Places or cancels: it works for five minutes after the last use. */
  readonly isOrder?: boolean
  readonly matches: (event: KeyboardEvent) => boolean
  readonly act: (page: ViewContext) => void
}

/** Order keys work until then, in milliseconds of the page. */
export const armedUntil = signal(0)
const ARMED_MS = 300_000

const plain =
  (key: string) =>
  (event: KeyboardEvent): boolean =>
    event.key.toLowerCase() === key && !event.ctrlKey && !event.metaKey && !event.shiftKey

const focus = (name: string): void =>
  document.querySelector<HTMLElement>(`[name="${name}"]`)?.focus()

const step = ({ terminal }: ViewContext, by: number): void => {
  const names = terminal.markets.value.map(({ market }) => market)
  const at = names.indexOf(terminal.market.value?.name ?? '')
  const next = names[(at + by + names.length) % names.length]
  if (next !== undefined) location.hash = linkOf(next)
}

const choose = (
  { terminal, placing, room, isTicketOpen }: ViewContext,
  side: 'buy' | 'sell',
): void => {
  terminal.ticket.value.side.value = side
  placing.forget()
  if (room.value === 'narrow') isTicketOpen.value = true
}

const share = (percent: number, at: string): Key => ({
  keys: at,
  words: `${percent} % of what is free`,
  matches: plain(at),
  act: (page) => fillShare(page, percent),
})

export const KEYS: readonly Key[] = [
  { keys: 'B', words: 'Buy', matches: plain('b'), act: (page) => choose(page, 'buy') },
  { keys: 'S', words: 'Sell', matches: plain('s'), act: (page) => choose(page, 'sell') },
  { keys: 'P', words: 'Price', matches: plain('p'), act: () => focus('price') },
  { keys: 'Z', words: 'Size', matches: plain('z'), act: () => focus('size') },
  {
    keys: 'Ctrl+Enter',
    words: 'Place the order',
    isOrder: true,
    matches: (event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey),
    act: ({ placing }) => void placing.press(),
  },
  {
    keys: 'X',
    words: 'Cancel the newest order here',
    isOrder: true,
    matches: plain('x'),
    act: ({ views, changing }) => {
      const [newest] = views.openHere.value
      if (newest !== undefined) void changing.cancel(newest.record)
    },
  },
  {
    keys: 'Shift+X',
    words: 'Cancel all here',
    isOrder: true,
    act: cancelHere,
    matches: (event) => event.key === 'X' && event.shiftKey,
  },
  ...[25, 50, 75, 100].map((percent, at) => share(percent, `${at + 1}`)),
  { keys: '[', words: 'Market before', matches: plain('['), act: (page) => step(page, -1) },
  { keys: ']', words: 'Next market', matches: plain(']'), act: (page) => step(page, 1) },
  {
    keys: 'G',
    words: 'Group the book',
    matches: plain('g'),
    act: ({ views }) => {
      const all = views.groups.value
      const at = all.indexOf(views.groupE18.value)
      views.groupE18.value = all[(at + 1) % all.length] ?? 0n
    },
  },
  {
    keys: 'Ctrl+K',
    words: 'All commands',
    matches: (event) => event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey),
    act: ({ terminal }) => (terminal.dialog.value = { name: 'palette' }),
  },
  {
    keys: '?',
    words: 'These keys',
    matches: (event) => event.key === '?',
    act: ({ terminal }) => (terminal.dialog.value = { name: 'help' }),
  },
]

/** Always on: what shows something and sends nothing. */
const ALWAYS: ReadonlySet<string> = new Set(['Ctrl+K', '?'])

/** Listens until the returned function is called. Keys are off until switched on, and off in inputs but for those with Ctrl. */
export function listenForKeys(page: ViewContext): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const { target } = event
    const isTyping = target instanceof HTMLElement && target.matches('input, select, textarea')
    if (event.altKey || page.terminal.dialog.value !== undefined) return
    if (isTyping && !event.ctrlKey && !event.metaKey) return
    const key = KEYS.find(({ matches }) => matches(event))
    if (key === undefined) return
    const isOn = page.terminal.prefs.prefs.value.hasKeys
    if (!isOn && !ALWAYS.has(key.keys)) return
    event.preventDefault()
    // A key that is held is one press: it neither answers its own question nor goes on to the next order.
    if (key.isOrder === true && (event.repeat || !isArmed(page))) return
    key.act(page)
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}

/** The first order key of five minutes arms them and does nothing else. */
function isArmed({ terminal }: ViewContext): boolean {
  const now = performance.now()
  const wasArmed = now < armedUntil.value
  armedUntil.value = now + ARMED_MS
  if (!wasArmed)
    terminal.toasts.tell({
      id: 'armed',
      text: 'Order keys are armed for five minutes: press again.',
      kind: 'good',
    })
  return wasArmed
}
