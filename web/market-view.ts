import type { MarketEntry, SocketClient } from '../client/index.js'
import type { AccountView } from './account-view.js'
import { createBookView, type BookView } from './book-view.js'
import { createChartView, type ChartView } from './chart-view.js'
import { byId, el } from './dom.js'
import { createFactsView } from './facts-view.js'
import { createFundsView } from './funds-view.js'
import { followHealth } from './health.js'
import { createOrdersView } from './orders-view.js'
import type { Session } from './session.js'
import { createTicketView } from './ticket-view.js'
import { createTradesView, type TradesView } from './trades-view.js'
import type { Units } from './units.js'

/** Fills come in bursts: what follows from them is read at most this often. */
const SOON_MS = 400
const CANDLES = 300
/** Enough to find the transaction of a trade that was just seen. */
const NEW_TRADES = 20

/** Draws a market and follows it; returns how to leave it. */
export function showMarket(
  market: MarketEntry,
  session: Session,
  accounts: AccountView,
): () => void {
  const { venue, domain } = session
  const socket = session.connect()
  const views = publicViews(market, session)
  const { chart, book, trades } = views
  const facts = createFactsView()
  facts.update(market)
  const parts = { market, venue, domain, account: accounts.account }
  const orders = createOrdersView(parts)
  const funds = createFundsView({ ...parts, ...session })
  const readOwn = soon(async () => {
    const own = await session.readOwn()
    const here = (record: { readonly market: string }): boolean => record.market === market.market
    if (own !== undefined) orders.show(own.orders.filter(here), own.fills.filter(here))
    await funds.refresh()
  })
  const ticket = createTicketView({ ...parts, onPlaced: readOwn })
  byId('page').replaceChildren(
    ...[chart.section, book.section, trades.section, facts.section],
    ...[ticket.section, accounts.section, orders.section, funds.section],
  )
  book.section.append(unitsButton(market, views))
  const seq = followPublic(market, socket, { ...views, onTrade: readOwn })
  const account = accounts.account()
  if (account !== undefined) {
    orders.say(`Orders of ${account.signer.address}`)
    socket.subscribe('orders', market.market, {
      ...{ onSnapshot: readOwn, onUpdate: readOwn },
      onRefused: (code, message) => orders.say(`${code}: ${message}`),
    })
    readOwn()
  }
  const isOpen = () => socket.isOpen()
  const onEntry = (entry: MarketEntry) => facts.update(entry)
  const endHealth = followHealth({ market, venue, isOpen, seq, onEntry })
  return () => {
    endHealth()
    socket.close()
    chart.close()
  }
}

interface PublicViews {
  readonly chart: ChartView
  readonly book: BookView
  readonly trades: TradesView
}

function publicViews(market: MarketEntry, { venue }: Session): PublicViews {
  const name = market.market
  return {
    chart: createChartView(market, async (interval) => {
      return (await venue.candles(name, interval, { limit: CANDLES })).candles
    }),
    book: createBookView(market),
    trades: createTradesView(market, async (tradeId) => {
      const page = await venue.trades(name, { limit: NEW_TRADES })
      return page.trades.find(({ trade_id }) => trade_id === tradeId)?.tx_hash
    }),
  }
}

interface Followers extends PublicViews {
  readonly onTrade: () => void
}

/** Feeds the views; returns the newest `seq` that they have. */
function followPublic(
  { market }: MarketEntry,
  socket: SocketClient,
  { chart, book, trades, onTrade }: Followers,
): () => number {
  let seq = 0
  const readCandles = soon(() => chart.refresh())
  socket.subscribe('book', market, {
    onSnapshot: (snapshot, at) => {
      seq = at
      book.reset(snapshot, at)
    },
    onUpdate: (delta, at) => {
      seq = at
      book.apply(delta, at)
    },
  })
  socket.subscribe('trades', market, {
    onSnapshot: (snapshot) => trades.reset(snapshot),
    onUpdate: (trade) => {
      trades.add(trade)
      readCandles()
      onTrade()
    },
  })
  return () => seq
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
    }, SOON_MS)
  }
}

function unitsButton(market: MarketEntry, { chart, book, trades }: PublicViews): HTMLElement {
  let units: Units = 'trader'
  const button = el('button', { type: 'button', 'aria-pressed': 'false' }, 'Engine units')
  button.addEventListener('click', () => {
    units = units === 'trader' ? 'engine' : 'trader'
    button.setAttribute('aria-pressed', String(units === 'engine'))
    book.show(units)
    trades.show(units)
    void chart.show(units)
  })
  button.title = `In ${market.engine_price_unit} and ${market.engine_amount_unit}, as the chain counts`
  return button
}
