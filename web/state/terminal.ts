import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import {
  createRestClient,
  createSocketClient,
  type MarketEntry,
  type MarketTicker,
  type RestClient,
  type SigningDomain,
} from '../../client/index.js'
import type { VenueFacts } from '../../interface/signing.js'
import { feedLight, haltOf, type FeedLight } from '../select/feed-state.js'
import { sameRecords } from '../select/same-rows.js'
import type { Feed } from './feed.js'
import type { Frames } from './frames.js'
import { createLiquidations, type Liquidations } from './liquidations.js'
import { openMarket, type MarketState } from './market-state.js'
import { openOwn, type OwnState } from './own-state.js'
import type { createPrefs } from './prefs.js'
import { createTicket, type TicketState } from './ticket-state.js'
import { createToasts, type Toasts } from './toasts.js'
import type { Trader } from './trader.js'

/** What stands before the page. */
export type Dialog =
  | { readonly name: 'account' | 'settings' | 'help' | 'palette' | 'messages' }
  | { readonly name: 'cancel-all' | 'cancel-marked' }
  | { readonly name: 'explain'; readonly orderId: string }
  /** `price`: what stands in it at first, where not the order's own. */
  | { readonly name: 'edit'; readonly orderId: string; readonly price?: string }
  | { readonly name: 'close'; readonly market: string; readonly subaccountId: string }
  | { readonly name: 'deposit' | 'withdraw'; readonly subaccountId?: string }

/** The one store of the page: everything that is shown follows from it. */
export interface Terminal {
  /** Where the page came from. */
  readonly base: string
  readonly facts: VenueFacts
  readonly venue: RestClient
  readonly domain: SigningDomain
  readonly prefs: ReturnType<typeof createPrefs>
  readonly toasts: Toasts
  readonly markets: ReadonlySignal<readonly MarketEntry[]>
  readonly tickers: ReadonlySignal<ReadonlyMap<string, MarketTicker>>
  /** The market that is open; undefined before the first, and where none is listed. */
  readonly market: ReadonlySignal<MarketState | undefined>
  readonly ticket: ReadonlySignal<TicketState>
  readonly own: ReadonlySignal<OwnState | undefined>
  readonly liquidations: Liquidations
  readonly light: ReadonlySignal<FeedLight>
  /** Why the market does not trade; undefined while it does. */
  readonly halt: ReadonlySignal<string | undefined>
  /** Milliseconds since anything came of the feed. */
  readonly quietMs: ReadonlySignal<number>
  /** Unix seconds by the venue's clock; it changes each second. */
  readonly nowSec: ReadonlySignal<number>
  readonly reconnects: ReadonlySignal<number>
  readonly dialog: Signal<Dialog | undefined>
  /** The subaccount with which the open market is traded; undefined where the trader has none. */
  readonly subaccount: ReadonlySignal<string | undefined>
  readonly entryOf: (market: string) => MarketEntry | undefined
  /** Opens a market by its name, or the first that trades. Throws BadEntry. */
  open(name: string): void
  /** Follows another trader, or none; what belonged to the one before leaves first. */
  enter(trader: Trader | undefined): void
  close(): void
}

export interface TerminalParts {
  readonly base: string
  /** The terminal closes it. */
  readonly feed: Feed
  readonly facts: VenueFacts
  readonly markets: readonly MarketEntry[]
  readonly prefs: ReturnType<typeof createPrefs>
  readonly frames: Frames
  /** What the venue's clock is ahead of this one, in milliseconds. */
  readonly clockAheadMs: number
}

const TICK_MS = 250
const REFRESH_MS = 5_000

export function createTerminal(parts: TerminalParts): Terminal {
  const { base, facts, prefs, frames, clockAheadMs } = parts
  const { socket, options } = parts.feed
  const venue = createRestClient(base, { seen: options.seen })
  const markets = signal(parts.markets)
  const tickers = signal<ReadonlyMap<string, MarketTicker>>(new Map())
  const market = signal<MarketState | undefined>(undefined)
  const own = signal<OwnState | undefined>(undefined)
  const tickets = new Map<string, TicketState>()
  const ticket = signal(createTicket())
  const dialog = signal<Dialog | undefined>(undefined)
  const clock = createClock({ socket, clockAheadMs })
  const halt = computed(() => {
    const open = market.value
    return open && haltOf(open.entry.value, open.status.value, clock.nowSec.value)
  })
  const light = computed(() => {
    const open = market.value
    const isCurrent = open?.connection.value === clock.connections.value && !open.isBookWrong.value
    const facts = { isOpen: clock.isOpen.value, isCurrent, quietMs: clock.quietMs.value }
    return feedLight({ ...facts, halt: halt.value })
  })
  const entryOf = (name: string) => markets.value.find((each) => each.market === name)
  const subaccount = computed(() =>
    subaccountFor(market.value, own.value, prefs.prefs.value.accounts),
  )
  const endRefresh = refreshOften({ venue, markets, tickers, market })
  const names = computed(() => markets.value.map(({ market: name }) => name).join(' '))
  // A market that was listed meanwhile has orders and fills of its own.
  const endNames = names.subscribe(() => own.peek()?.retry())
  return {
    base,
    facts,
    venue,
    prefs,
    markets,
    tickers,
    market,
    ticket,
    own,
    light,
    halt,
    dialog,
    subaccount,
    entryOf,
    toasts: createToasts(),
    liquidations: createLiquidations(socket),
    quietMs: clock.quietMs,
    nowSec: clock.nowSec,
    reconnects: computed(() => Math.max(0, clock.connections.value - 1)),
    domain: {
      chainId: facts.chain_id,
      matching: facts.domains.actions.verifyingContract as `0x${string}`,
    },
    open(name) {
      const trading = markets.value.find(({ trading_status: status }) => status === 'open')
      const entry = entryOf(name) ?? trading ?? markets.value[0]
      if (entry === undefined || entry.market === market.value?.name) return
      market.value?.close()
      const opened = openMarket({ entry, socket, venue, frames })
      const mine = tickets.get(entry.market) ?? createTicket()
      tickets.set(entry.market, mine)
      batch(() => {
        ticket.value = mine
        market.value = opened
      })
    },
    enter(trader) {
      own.value?.close()
      own.value = undefined
      if (trader === undefined) return
      own.value = openOwn({
        trader,
        venue,
        facts,
        frames,
        markets: () => markets.peek(),
        nowSec: () => clock.nowSec.peek(),
        connect: (authenticate) => createSocketClient({ ...options, authenticate }),
      })
    },
    close() {
      endRefresh()
      endNames()
      clock.end()
      market.value?.close()
      own.value?.close()
      socket.close()
    },
  }
}

interface RefreshedLists {
  readonly venue: RestClient
  readonly markets: Signal<readonly MarketEntry[]>
  readonly tickers: Signal<ReadonlyMap<string, MarketTicker>>
  readonly market: ReadonlySignal<MarketState | undefined>
}

/** Reads what no channel carries, now and then; returns how to end it. The markets were read just before the first time. */
function refreshOften({ venue, markets, tickers, market }: RefreshedLists): () => void {
  const refresh = async (readMarkets: () => Promise<readonly MarketEntry[]>): Promise<void> => {
    const [read, newest] = await Promise.all([readMarkets(), venue.marketTickers()])
    const entries = sameRecords(markets.peek(), read)
    batch(() => {
      markets.value = entries
      tickers.value = new Map(newest.map((one) => [one.market, one]))
      const open = market.value
      const entry = open && entries.find((each) => each.market === open.name)
      if (open !== undefined && entry !== undefined) open.entry.value = entry
    })
  }
  // A read that fails leaves what is shown, which the light says.
  const refreshQuietly = (read: Parameters<typeof refresh>[0]): void =>
    void refresh(read).catch(() => undefined)
  refreshQuietly(() => Promise.resolve(markets.peek()))
  const timer = setInterval(() => refreshQuietly(() => venue.markets()), REFRESH_MS)
  return () => clearInterval(timer)
}

/** The account that was chosen for the market, or the first that may trade it. */
function subaccountFor(
  market: MarketState | undefined,
  own: OwnState | undefined,
  chosen: Readonly<Record<string, string>>,
): string | undefined {
  if (market === undefined || own === undefined) return undefined
  const mine = own.accounts.value
    .filter(({ leaving, markets }) => !leaving && markets.includes(market.name))
    .map(({ subaccount_id: id }) => id)
  const wanted = chosen[market.name]
  if (wanted !== undefined && mine.includes(wanted)) return wanted
  const manager = market.entry.value.margin_manager_address.toLowerCase()
  return mine[0] ?? own.trader.known.get(manager)
}

interface ClockParts {
  readonly socket: {
    isOpen(): boolean
    connections(): number
    quietMs(): number
  }
  readonly clockAheadMs: number
}

/** The time, and how the feed's connection stands, looked at four times a second. */
function createClock({ socket, clockAheadMs }: ClockParts) {
  const nowSec = signal(0)
  const isOpen = signal(false)
  const connections = signal(0)
  const quietMs = signal(0)
  const tick = (): void => {
    batch(() => {
      nowSec.value = Math.floor((Date.now() + clockAheadMs) / 1_000)
      isOpen.value = socket.isOpen()
      connections.value = socket.connections()
      // Whole seconds: what is read aloud and drawn changes no oftener.
      quietMs.value = Math.floor(socket.quietMs() / 1_000) * 1_000
    })
  }
  tick()
  const timer = setInterval(tick, TICK_MS)
  return { nowSec, isOpen, connections, quietMs, end: () => clearInterval(timer) }
}
