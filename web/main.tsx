import { effect, signal } from '@preact/signals'
import { render } from 'preact'
import { createChanging } from './act/change.js'
import { createDeadMan } from './act/dead-man.js'
import { createDemoAccount } from './act/demo-account.js'
import { createPlacing } from './act/place.js'
import { createTransfers } from './act/transfer.js'
import { walletBrowser } from './act/wallet-browser.js'
import { createWallets } from './act/wallets.js'
import { linkOf, marketOf } from './select/link.js'
import { openFeed } from './state/feed.js'
import { firstRead } from './state/first-read.js'
import { createForesight } from './state/foresight.js'
import { createFrames } from './state/frames.js'
import { createPrefs } from './state/prefs.js'
import { createTerminal } from './state/terminal.js'
import { createViews } from './state/views.js'
import { App } from './views/app.js'
import { Unread } from './views/unread.js'
import type { PageWidth } from './views/page.js'

/** The terminal: public endpoints and the client only. One market is open at a time, named by the part after `#/`. */

// Not in the turn of the module: where a tool of the browser asks who made a request, all of the script would be parsed once more.
queueMicrotask(() => void start())

async function start(): Promise<void> {
  const place = document.getElementById('page')
  if (place === null) throw new Error('the document has no #page')
  place.replaceChildren()
  const base = new URL('.', location.href).href
  const feed = openFeed(base)
  const [facts, markets, clockAheadMs] = await firstRead(base, (again) =>
    render(<Unread again={again} />, place),
  )

  /** A page that is not seen is not painted: there the changes come by a timer. */
  const nextFrame = (run: () => void): void =>
    void (document.hidden ? setTimeout(run, 250) : requestAnimationFrame(run))

  const kept = storage()
  const terminal = createTerminal({
    base,
    feed,
    facts,
    markets,
    frames: createFrames(nextFrame),
    prefs: createPrefs(kept),
    clockAheadMs,
  })
  const views = createViews(terminal)
  const room = signal<PageWidth>('wide')
  for (const [query, wanted] of [
    ['(min-width: 1200px)', 'wide'],
    ['(min-width: 700px) and (max-width: 1199.98px)', 'middle'],
    ['(max-width: 699.98px)', 'narrow'],
  ] as const) {
    const media = matchMedia(query)
    const look = (): void => {
      if (media.matches) room.value = wanted
    }
    look()
    media.addEventListener('change', look)
  }

  const open = (): void => terminal.open(marketOf(location.hash))
  open()
  addEventListener('hashchange', open)
  // A dialog opens a market too, and a link may name none: the address says what is open.
  effect(() => {
    const name = terminal.market.value?.name
    if (name !== undefined && location.hash !== linkOf(name))
      history.replaceState(null, '', linkOf(name))
  })
  const demo = createDemoAccount(base, facts)
  // Who has traded here before goes on.
  const before = demo?.known()
  if (before !== undefined) terminal.enter(before)
  effect(() => {
    document.documentElement.dataset.theme = terminal.prefs.prefs.value.theme
  })

  const changing = createChanging(terminal)
  const transfers = createTransfers(terminal)
  const walletsHere = walletBrowser(kept, facts.domains.actions.verifyingContract)
  const page = {
    terminal,
    views,
    demo,
    room,
    changing,
    deadMan: createDeadMan(terminal, changing),
    placing: createPlacing(terminal, views),
    transfers,
    foresight: createForesight(terminal, views),
    wallets: createWallets(terminal, transfers, walletsHere),
    isTicketOpen: signal(false),
    isOnlyHere: signal(false),
    marked: signal<ReadonlySet<string>>(new Set()),
  }
  render(<App page={page} />, place)
}

/** Undefined where the browser keeps nothing. */
function storage(): Storage | undefined {
  try {
    return localStorage
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}
