import {
  createRestClient,
  createSocketClient,
  signFrame,
  type MarketEntry,
  type SignedFrame,
  type SigningDomain,
} from '../client/index.js'
import type { VenueFacts } from '../interface/signing.js'
import { createAccountView } from './account-view.js'
import { createBookView } from './book-view.js'
import { createChartView } from './chart-view.js'
import { byId, el } from './dom.js'
import { createFactsView } from './facts-view.js'
import { createOrdersView } from './orders-view.js'
import { createTicketView } from './ticket-view.js'
import { createTradesView } from './trades-view.js'
import type { Units } from './units.js'

/** The market page: public endpoints and the client only. One market is open at a time, named by the part behind `#`. */

const REFRESH_MS = 5_000
/** Fills come in bursts: what follows from them is read at most this often. */
const SETTLE_MS = 400
const CANDLES = 300
const OWN_ORDERS = 50

const base = new URL('.', location.href).href
const venue = createRestClient(base)
const facts = (await (await fetch(new URL('v1/venue', base))).json()) as VenueFacts
const domain: SigningDomain = {
  chainId: facts.chain_id,
  matching: facts.domains.actions.verifyingContract as `0x${string}`,
}
const words = { domain: facts.frames.domain, product: facts.frames.product }

const accounts = createAccountView(
  { chain_id: facts.chain_id, matching: domain.matching },
  () => void open(currentName()),
)

/** Signed once for an account and used until it ends. */
let historyFrame: { readonly address: string; readonly frame: Promise<SignedFrame> } | undefined
const frameOfAccount = (): Promise<SignedFrame> | undefined => {
  const account = accounts.account()
  if (account === undefined) return undefined
  if (historyFrame?.address !== account.signer.address) {
    const validSec = facts.frames.history.max_valid_seconds
    const frame = signFrame(account.signer, { purpose: 'history', ...words, validSec })
    historyFrame = { address: account.signer.address, frame }
  }
  return historyFrame.frame
}

const connect = () =>
  createSocketClient({
    url: new URL('v1/ws', base).href.replace(/^http/, 'ws'),
    authenticate: () => {
      const account = accounts.account()
      if (account === undefined) throw new Error('no account')
      return signFrame(account.signer, { purpose: 'socket', ...words })
    },
  })

const currentName = (): string => decodeURIComponent(location.hash.slice(1))

let close: () => void = () => undefined
let opening = 0

/** Opens a market by name, or the first that is listed. */
async function open(name: string): Promise<void> {
  const mine = ++opening
  const markets = await venue.markets()
  if (mine !== opening) return
  const market = markets.find((each) => each.market === name) ?? markets[0]
  showMarkets(markets, market)
  close()
  close = () => undefined
  if (market === undefined) {
    return byId('page').replaceChildren(el('p', {}, 'This venue lists no market.'))
  }
  close = show(market)
}

function showMarkets(markets: readonly MarketEntry[], current: MarketEntry | undefined): void {
  const links = markets.map(({ market, trading_status }) =>
    el(
      'a',
      {
        href: `#${encodeURIComponent(market)}`,
        'aria-current': market === current?.market ? 'page' : undefined,
      },
      trading_status === 'open' ? market : `${market} (${trading_status})`,
    ),
  )
  byId('markets').replaceChildren(...links)
  document.title =
    current === undefined ? 'Order-book venue' : `${current.market} – order-book venue`
}

/** Draws a market and follows it; returns how to leave it. */
function show(market: MarketEntry): () => void {
  const name = market.market
  const socket = connect()
  const chart = createChartView(market, async (interval) => {
    return (await venue.candles(name, interval, { limit: CANDLES })).candles
  })
  const book = createBookView(market)
  const trades = createTradesView(market, async (tradeId) => {
    const page = await venue.trades(name, { limit: 20 })
    return page.trades.find(({ trade_id }) => trade_id === tradeId)?.tx_hash
  })
  const marketFacts = createFactsView()
  const parts = { market, venue, domain, account: accounts.account }
  const orders = createOrdersView(parts)
  const readOwn = soon(async () => {
    const frame = await frameOfAccount()
    if (frame === undefined) return
    const [own, fills] = await Promise.all([
      venue.orderHistory(frame, { limit: OWN_ORDERS }),
      venue.fills(frame, { limit: OWN_ORDERS }),
    ])
    orders.show(
      own.orders.filter((order) => order.market === name),
      fills.fills.filter((fill) => fill.market === name),
    )
  })
  const ticket = createTicketView({ ...parts, onPlaced: readOwn })
  const readCandles = soon(() => chart.refresh())
  const units = unitsButton(market, (wanted) => {
    book.show(wanted)
    trades.show(wanted)
    void chart.show(wanted)
  })
  marketFacts.update(market)
  byId('page').replaceChildren(
    ...[chart.section, book.section, trades.section, marketFacts.section],
    ...[ticket.section, accounts.section, orders.section],
  )
  book.section.append(units)
  let seq = 0
  socket.subscribe('book', name, {
    onSnapshot: (snapshot, at) => {
      seq = at
      book.reset(snapshot, at)
    },
    onUpdate: (delta, at) => {
      seq = at
      book.apply(delta, at)
    },
  })
  socket.subscribe('trades', name, {
    onSnapshot: (snapshot) => trades.reset(snapshot),
    onUpdate: (trade) => {
      trades.add(trade)
      readCandles()
      readOwn()
    },
  })
  const account = accounts.account()
  if (account !== undefined) {
    orders.say(`Orders of ${account.signer.address}`)
    socket.subscribe('orders', name, {
      ...{ onSnapshot: readOwn, onUpdate: readOwn },
      onRefused: (code, message) => orders.say(`${code}: ${message}`),
    })
    readOwn()
  }
  const health = followHealth(market, socket.isOpen, () => seq, marketFacts.update)
  return () => {
    health()
    socket.close()
    chart.close()
  }
}

/** Runs an action soon, and once for many calls. What fails is tried again by the next call. */
function soon(action: () => Promise<void>): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      action().catch(() => undefined)
    }, SETTLE_MS)
  }
}

function unitsButton(market: MarketEntry, onChange: (units: Units) => void): HTMLElement {
  let units: Units = 'trader'
  const button = el('button', { type: 'button', 'aria-pressed': 'false' }, 'Engine units')
  button.addEventListener('click', () => {
    units = units === 'trader' ? 'engine' : 'trader'
    button.setAttribute('aria-pressed', String(units === 'engine'))
    onChange(units)
  })
  button.title = `In ${market.engine_price_unit} and ${market.engine_amount_unit}, as the chain counts`
  return button
}

/** Shows the feed's place, how far reads are behind, and reconnects; reads the market's entry again. */
function followHealth(
  { market }: MarketEntry,
  isOpen: () => boolean,
  seq: () => number,
  onEntry: (entry: MarketEntry) => void,
): () => void {
  const place = byId('health')
  let wasOpen = false
  let connects = 0
  let lag: number | undefined
  const tell = (): void => {
    const now = isOpen()
    if (now && !wasOpen) connects += 1
    wasOpen = now
    place.className = now && (lag ?? 0) === 0 ? '' : 'late'
    const link = now ? 'connected' : 'reconnecting …'
    const again = connects > 1 ? `, ${connects - 1} reconnects` : ''
    place.textContent = `feed ${link}, seq ${seq()}, reads ${lag ?? '?'} behind${again}`
  }
  const read = async (): Promise<void> => {
    lag = (await venue.health()).markets[market]?.lag
    const entry = (await venue.markets()).find((each) => each.market === market)
    if (entry !== undefined) onEntry(entry)
  }
  const timers = [
    setInterval(tell, 250),
    setInterval(() => void read().catch(() => (lag = undefined)), REFRESH_MS),
  ]
  void read().catch(() => undefined)
  return () => timers.forEach((timer) => clearInterval(timer))
}

addEventListener('hashchange', () => void open(currentName()))
await open(currentName())
