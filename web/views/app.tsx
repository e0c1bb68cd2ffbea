import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Bar } from './bar.js'
import { Book } from './book.js'
import { Centre, usePanes, type Pane } from './chart.js'
import { Dialogs } from './dialogs.js'
import { listenForKeys } from './keys.js'
import { MarketList } from './market-list.js'
import { PageContext, usePage, type ViewContext } from './page.js'
import { Splitter } from './splitter.js'
import { Tables, type Tab } from './tables.js'
import { Ticket } from './ticket.js'
import { Toasts } from './toasts.js'
import { Trades } from './trades.js'

/** The page, in one of three layouts by how much room there is. */
export function App({ page }: { readonly page: ViewContext }): JSX.Element {
  useEffect(() => listenForKeys(page), [page])
  useSignalEffect(() => {
    const { theme, colours } = page.terminal.prefs.prefs.value
    document.documentElement.dataset.theme = theme
    document.documentElement.dataset.colours = colours
    document.body.dataset.feed = page.terminal.light.value
    document.title = `${page.terminal.market.value?.name ?? 'No market'} – order-book venue`
  })
  const room = page.room.value
  return (
    <PageContext.Provider value={page}>
      <div class={`app ${room}`}>
        <Bar />
        <Halt />
        {page.terminal.market.value === undefined ? (
          <main class="pad">This venue lists no market.</main>
        ) : room === 'narrow' ? (
          <Narrow />
        ) : (
          <Desk isWide={room === 'wide'} />
        )}
        <Toasts />
        <Dialogs />
      </div>
    </PageContext.Provider>
  )
}

/** Why the market does not trade, or that the feed is lost: nothing stands still in silence. */
function Halt(): JSX.Element | null {
  const { light, halt } = usePage().terminal
  if (light.value === 'lost')
    return (
      <p class="halt" role="alert">
        The feed is lost: the numbers are old, and rows do not answer. Reconnecting …
      </p>
    )
  if (halt.value === undefined) return null
  return (
    <p class="halt" role="status">
      {halt.value}
    </p>
  )
}

function Desk({ isWide }: { readonly isWide: boolean }): JSX.Element {
  const pane = useSignal<Pane>('chart')
  const tab = useSignal<Tab>('positions')
  const { panes } = usePage().terminal.prefs.prefs.value
  const sizes: Record<string, string> = {}
  for (const [name, pixels] of Object.entries(panes)) sizes[`--${name}`] = `${pixels}px`
  return (
    <main class="desk" style={isWide ? sizes : undefined}>
      {isWide && <MarketList />}
      <Centre pane={pane} />
      {isWide && <Splitter name="side" />}
      <div class="side">
        <Book />
        <Trades />
      </div>
      {isWide && <Splitter name="ticket" />}
      <Ticket />
      {isWide && <Splitter name="tables" />}
      <Tables tab={tab} />
    </main>
  )
}

type Shown = Pane | 'book' | 'trades'

/** One column: one of the panes above the lists, and the ticket as a sheet that a side opens. */
function Narrow(): JSX.Element {
  const { terminal, placing, isTicketOpen } = usePage()
  const chosen = useSignal<Shown>('chart')
  const pane = useSignal<Pane>('chart')
  const [chart, depth, ...others] = usePanes()
  const names = [chart, depth, 'book', 'trades', ...others] as readonly Shown[]
  const shown = names.includes(chosen.value) ? chosen.value : 'chart'
  const tab = useSignal<Tab>('positions')
  const open = (side: 'buy' | 'sell') => () => {
    terminal.ticket.value.side.value = side
    placing.forget()
    isTicketOpen.value = true
  }
  return (
    <>
      <main class="column">
        <div class="tabs wide-tabs" role="group" aria-label="Panes">
          {names.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown === name}
              onClick={() => {
                chosen.value = name
                if (name !== 'book' && name !== 'trades') pane.value = name
              }}
            >
              {name}
            </button>
          ))}
        </div>
        <div class="pane">
          {shown === 'book' && <Book />}
          {shown === 'trades' && <Trades />}
          {shown !== 'book' && shown !== 'trades' && <Centre pane={pane} />}
        </div>
        <Tables tab={tab} />
      </main>
      <div class={isTicketOpen.value ? 'sheet open' : 'sheet'}>
        {isTicketOpen.value ? (
          <>
            <button type="button" class="sheet-close" onClick={() => (isTicketOpen.value = false)}>
              Back to the book ▾
            </button>
            <Ticket />
          </>
        ) : (
          <div class="sides">
            <button type="button" class="buy" onClick={open('buy')}>
              Buy
            </button>
            <button type="button" class="sell" onClick={open('sell')}>
              Sell
            </button>
          </div>
        )}
      </div>
    </>
  )
}
