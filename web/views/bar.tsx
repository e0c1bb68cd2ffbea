import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { FeedLight } from '../select/feed-state.js'
import { headerFacts, lastPrice } from '../select/header-facts.js'
import { DeadManSwitch } from './dead-man.js'
import { MarketList } from './market-list.js'
import { usePage } from './page.js'

/** The bar: market, price, facts, the feed's light, and the way to the account. */
export function Bar(): JSX.Element {
  const { terminal, room } = usePage()
  const market = terminal.market.value
  const entry = market?.entry.value
  const isListOpen = useSignal(false)
  const ticker = market?.ticker.value
  const last = entry && market && lastPrice(entry, market.terms, ticker)
  const facts = entry === undefined ? [] : headerFacts(entry, ticker, terminal.nowSec.value)
  const isOld = terminal.light.value === 'lost'
  return (
    <header class="bar">
      <h1 class="unseen">Order-book venue</h1>
      <div class="market-name">
        {room.value === 'wide' ? (
          <strong>{entry?.display_name ?? 'No market'}</strong>
        ) : (
          <button
            type="button"
            aria-expanded={isListOpen.value}
            onClick={() => (isListOpen.value = !isListOpen.value)}
          >
            {entry?.display_name ?? 'No market'} ▾
          </button>
        )}
        {isListOpen.value && room.value !== 'wide' && (
          <div class="drop" onClick={() => (isListOpen.value = false)}>
            <MarketList />
          </div>
        )}
      </div>
      {last !== undefined && entry !== undefined && (
        <div class={isOld ? 'last dead' : 'last'}>
          <strong class={last.isDown ? 'ask' : 'bid'}>{last.price}</strong>
          <span class="quiet"> {entry.ui_price_unit}</span>
          {last.change !== undefined && (
            <span class={last.isDown ? 'ask' : 'bid'}> {last.change}</span>
          )}
        </div>
      )}
      <dl
        class={isOld ? 'head-facts dead' : 'head-facts'}
        // It scrolls where there is little room: the keyboard has to reach it.
        tabIndex={room.value === 'narrow' ? 0 : undefined}
      >
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="bar-end">
        <Light />
        {room.value !== 'narrow' && <DeadManSwitch />}
        <AccountButton />
        <button
          type="button"
          aria-label="Settings"
          title="Settings"
          onClick={() => (terminal.dialog.value = { name: 'settings' })}
        >
          ⚙
        </button>
      </div>
    </header>
  )
}

const LIGHT_WORDS: Readonly<Record<FeedLight, string>> = {
  live: 'live',
  late: 'late',
  lost: 'lost: the numbers are old',
  halted: 'halted',
}

/** Whether what is shown is of now, in words and colour. */
function Light(): JSX.Element {
  const { terminal } = usePage()
  const light = terminal.light.value
  const age = light === 'late' ? `, nothing for ${terminal.quietMs.value / 1_000} s` : ''
  const again = terminal.reconnects.value
  return (
    <p
      id="health"
      class={`light ${light}`}
      role="status"
      title={again === 0 ? 'No reconnects' : `${again} reconnect${again > 1 ? 's' : ''}`}
    >
      <span aria-hidden="true">●</span> {LIGHT_WORDS[light]}
      {age}
    </p>
  )
}

const SHORT_NAMES = { demo: 'Demo', developer: 'Dev', wallet: 'Wallet' } as const

function AccountButton(): JSX.Element {
  const { terminal, room } = usePage()
  const trader = terminal.own.value?.trader
  return (
    <button
      type="button"
      class={trader === undefined ? 'main' : 'account'}
      onClick={() => (terminal.dialog.value = { name: 'account' })}
    >
      {trader === undefined
        ? 'Account'
        : `${room.value === 'wide' ? trader.name : SHORT_NAMES[trader.kind]} · ${trader.owner.slice(0, 6)}…${trader.owner.slice(-4)}`}
    </button>
  )
}
