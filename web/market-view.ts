import {
  createLocalFills,
  followLevels,
  type LocalLevels,
  type MarketEntry,
  type StatusState,
  type TickerState,
} from '../client/index.js'
import type { AccountView } from './account-view.js'
import { createBalancesView, type BalancesView } from './balances-view.js'
import { createBookView, type BookView } from './book-view.js'
import { createChartView, type ChartView } from './chart-view.js'
import { byId, el } from './dom.js'
import { createFactsView, type FactsView } from './facts-view.js'
import { createFundsView, type FundsView } from './funds-view.js'
import { followHealth } from './health.js'
import type { Account } from './keys.js'
import { createOrdersView, type OrdersView } from './orders-view.js'
import type { Session, Subscriptions } from './session.js'
import { createTicketView } from './ticket-view.js'
import { createTradesView, type TradesView } from './trades-view.js'
import type { Units } from './units.js'

/** Fills come in bursts: what follows from them is read at most this often. */
const SOON_MS = 400
const CANDLES = 300
/** Enough to find the transaction of a trade that was just seen. */
const NEW_TRADES = 20
const LEVELS = 100

/** Draws a market and follows it; returns how to leave it. */
export function showMarket(
  market: MarketEntry,
  session: Session,
  accounts: AccountView,
): () => void {
  const { venue, domain } = session
  const socket = session.connect()
  const views = publicViews(market, session)
  const { chart, book, trades, facts } = views
  const parts = { market, venue, domain, account: accounts.account }
  const [orders, balances] = [createOrdersView(parts), createBalancesView()]
  const funds = createFundsView({ ...parts, ...session })
  const account = accounts.account()
  const readOwn = followOwn({
    ...{ market, session, socket, account },
    orders,
    balances,
    funds,
    onAgain: accounts.reopen,
  })
  let levels: LocalLevels | undefined
  const ticket = createTicketView({
    ...{ ...parts, onPlaced: readOwn },
    levels: () => (socket.isOpen() ? levels : undefined),
  })
  byId('page').replaceChildren(
    ...[chart.section, book.section, trades.section, facts.section],
    ...[ticket.section, accounts.section, orders.section, balances.section, funds.section],
  )
  book.section.append(unitsButton(market, views))
  const onLevels = (newest: LocalLevels): void => {
    levels = newest
    ticket.retell()
  }
  const seq = followPublic(market, socket, { ...views, onTrade: readOwn, onLevels })
  const onEntry = (entry: MarketEntry) => facts.update(entry)
  const onSecond = () => facts.tick()
  const endHealth = followHealth({ market, venue, socket, seq, onEntry, onSecond })
  return () => {
    endHealth()
    socket.close()
    chart.close()
  }
}

interface OwnParts {
  readonly market: MarketEntry
  readonly session: Session
  readonly socket: Subscriptions
  readonly account: Account | undefined
  readonly orders: OrdersView
  readonly balances: BalancesView
  readonly funds: FundsView
  /** Opens the market again: what was refused is asked for again. */
  readonly onAgain: () => void
}

/** Follows what belongs to the account, if one is chosen; returns what reads again what no channel carries. */
function followOwn(parts: OwnParts): () => void {
  const {
    market: { market },
    session,
    socket,
    account,
    orders,
    balances,
    funds,
  } = parts
  if (account === undefined) return () => undefined
  const fills = createLocalFills()
  const showFills = (): void => orders.showFills(fills.pending(), fills.settled())
  const here = (record: { readonly market: string }): boolean => record.market === market
  const read = soon(async () => {
    const own = await session.readOwn()
    orders.show((own?.orders ?? []).filter(here))
    fills.applyHistory((own?.fills ?? []).filter(here))
    showFills()
    await funds.refresh()
  })
  const subaccount = account.subaccountOf(parts.market)
  if (subaccount !== undefined) {
    const held = session.readBalances([subaccount])
    held.then((accounts = []) => balances.read(accounts)).catch(() => undefined)
  }
  orders.say(`Orders of ${account.signer.address}`)
  const onRefused = (code: string, message: string): void =>
    orders.say(`${code}: ${message}`, parts.onAgain)
  socket.subscribe('orders', market, { onSnapshot: read, onUpdate: read, onRefused })
  const takeFills = (events: Parameters<typeof fills.apply>[0]): void => {
    fills.apply(events)
    showFills()
  }
  socket.subscribe('fills', market, { onSnapshot: takeFills, onUpdate: takeFills, onRefused })
  const takeBalances = (held: Parameters<typeof balances.follow>[0]): void => balances.follow(held)
  socket.subscribeBalances({
    ...{ onSnapshot: takeBalances, onUpdate: takeBalances },
    onRefused: (code, message) => balances.say(`${code}: ${message}`),
  })
  read()
  return read
}

interface PublicViews {
  readonly chart: ChartView
  readonly book: BookView
  readonly trades: TradesView
  readonly facts: FactsView
}

function publicViews(market: MarketEntry, { venue }: Session): PublicViews {
  const name = market.market
  const facts = createFactsView()
  facts.update(market)
  return {
    facts,
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
  readonly onLevels: (levels: LocalLevels) => void
}

/** Feeds the views; returns the newest `seq` that they have. */
function followPublic(
  { market }: MarketEntry,
  socket: Subscriptions,
  { chart, book, trades, facts, onTrade, onLevels }: Followers,
): () => number {
  let seq = 0
  followLevels(socket, market, {
    depth: LEVELS,
    onChange: (levels) => {
      seq = levels.seq() ?? seq
      book.draw(levels)
      onLevels(levels)
    },
  })
  socket.subscribe('trades', market, {
    onSnapshot: (snapshot) => trades.reset(snapshot),
    onUpdate: (trade, at) => {
      seq = Math.max(seq, at)
      trades.add(trade)
      onTrade()
    },
  })
  chart.follow(socket)
  const ticker = (state: TickerState): void => facts.updateTicker(state)
  const status = (state: StatusState): void => facts.updateStatus(state)
  socket.subscribe('ticker', market, { onSnapshot: ticker, onUpdate: ticker })
  socket.subscribe('status', market, { onSnapshot: status, onUpdate: status })
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
    chart.show(units)
  })
  button.title = `In ${market.engine_price_unit} and ${market.engine_amount_unit}, as the chain counts`
  return button
}
