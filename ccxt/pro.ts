import { type Balances, type Dict, type Int, type Order, type Str, type Trade } from 'ccxt'
import { VenueMarketStreams } from './market-streams.js'
import { Recent } from './recent.js'

const PRO = {
  pro: true,
  has: {
    ws: true,
    watchBalance: true,
    watchMyTrades: true,
    watchOHLCV: true,
    watchOrderBook: true,
    watchOrders: true,
    watchTicker: true,
    watchTickers: true,
    watchTrades: true,
  },
  options: {
    tradesLimit: 1000,
    ordersLimit: 1000,
    OHLCVLimit: 1000,
    /** Whether each frame of the book is held to its checksum. */
    checksum: true,
  },
  streaming: { keepAlive: 15000 },
}

/**
 * The venue over REST and by its WebSocket. A stream begins with a snapshot; after a lost connection the next call goes on where the
 * last frame was, and misses nothing.
 */
export class VenuePro extends VenueMarketStreams {
  override describe(): any {
    return this.deepExtend(super.describe(), PRO)
  }

  override async watchOrders(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Order[]> {
    await this.prepareSocket()
    const name = symbol === undefined ? undefined : this.market(symbol).symbol
    const orders = await this.watchOwn('orders', name, params)
    const most = this.newUpdates ? orders.getLimit(name, limit) : limit
    return this.filterBySymbolSinceLimit(orders, name, since, most, true) as Order[]
  }

  /** An update says where a change left an order; what it leaves out is as it was. */
  handleOrders(client: any, message: Dict) {
    const market = this.safeMarket(message.market)
    if (this.orders === undefined) {
      this.orders = new Recent(this.safeInteger(this.options, 'ordersLimit', 1000)) as any
    }
    const cache = this.orders as any
    const rows = this.rowsOldestFirst(message)
    if (message.type === 'snapshot') {
      this.forgetEnded(cache, market.symbol, rows)
    }
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as Dict
      const known = cache.find((order: Order) => order.id === row.order_id)
      const first = { market: market.id, created_at: row.updated_at }
      const before = known === undefined ? first : known.info
      cache.append(this.parseOrder(this.extend(before, row), market))
    }
    client.resolve(cache, 'orders')
    client.resolve(cache, 'orders:' + market.symbol)
  }

  /** A snapshot has all open orders of its market: one that is missing has ended unseen. */
  forgetEnded(cache: Recent, symbol: string, rows: Dict[]) {
    const open = this.indexBy(rows, 'order_id')
    const known = this.filterBy(cache, 'symbol', symbol)
    for (let i = 0; i < known.length; i++) {
      const { id, status } = known[i] as Dict
      if (status === 'open' && !(id in open)) {
        cache.remove(id)
      }
    }
  }

  override async watchMyTrades(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Trade[]> {
    await this.prepareSocket()
    const name = symbol === undefined ? undefined : this.market(symbol).symbol
    const trades = await this.watchOwn('fills', name, params)
    const most = this.newUpdates ? trades.getLimit(name, limit) : limit
    return this.filterBySymbolSinceLimit(trades, name, since, most, true) as Trade[]
  }

  /** Only what is settled is a trade. */
  handleFills(client: any, message: Dict) {
    const market = this.safeMarket(message.market)
    if (this.myTrades === undefined) {
      this.myTrades = new Recent(this.safeInteger(this.options, 'tradesLimit', 1000)) as any
    }
    const cache = this.myTrades as any
    const rows = this.rowsOldestFirst(message)
    let settled = 0
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as Dict
      if (row.status === 'settled') {
        cache.append(this.parseTrade(this.extend(row, { market: market.id }), market))
        settled += 1
      }
    }
    if (settled > 0) {
      client.resolve(cache, 'fills')
      client.resolve(cache, 'fills:' + market.symbol)
    }
  }

  /** Balances of the account that trades markets of `params.type`, whenever one of the owner's changes. */
  override async watchBalance(params: Dict = {}): Promise<Balances> {
    await this.prepareSocket()
    const type = this.safeString(params, 'type', this.safeString(this.options, 'defaultType'))
    const subaccount = await this.subaccountOf(this.firstMarketOf(type), params)
    let account: Dict | undefined = undefined
    while (account === undefined) {
      const accounts = await this.watchOwn('balances', undefined)
      account = this.safeDict(this.indexBy(accounts, 'subaccount_id'), subaccount)
    }
    const balance = this.parseBalance(account)
    this.balance = balance
    return balance
  }

  handleBalances(client: any, message: Dict) {
    client.resolve(message.data, 'balances')
  }

  /** By the name of the channel; one that the class does not follow is left alone. */
  handleData(client: any, message: Dict) {
    const method = 'handle' + this.capitalize(message.channel)
    if (method in this) {
      ;(this as Dict)[method](client, message)
    }
  }
}
