import {
  AccountNotEnabled,
  OrderNotFound,
  Precise,
  type Account,
  type Balances,
  type Dict,
  type Int,
  type Market,
  type Order,
  type Position,
  type Str,
  type Strings,
  type Trade,
} from 'ccxt'
import { VenueMarketReads } from './market-reads.js'

/** What the owner of the key reads: accounts, orders, fills, balances, positions. */

/** Ended orders that are kept while they are unsettled. */
const UNSETTLED = 200
/** Of these so many are asked for at once. */
const ASKED_AT_ONCE = 10

export abstract class VenueOwnReads extends VenueMarketReads {
  /** The accounts of the owner as the chain has them; those that leave custody are left out. */
  override async fetchAccounts(params: Dict = {}): Promise<Account[]> {
    await this.loadMarkets()
    const request = this.extend({ owner_address: this.ownerAddress() }, params)
    const response = await this.publicGetAccounts(request)
    const accounts = this.safeList(response, 'accounts', [])
    const result: Account[] = []
    for (let i = 0; i < accounts.length; i++) {
      if (!this.safeBool(accounts[i], 'leaving', false)) {
        result.push(this.parseAccount(accounts[i]))
      }
    }
    return result
  }

  /** The account that trades a market: named by `params.subaccount`, by the option `subaccounts`, or the first on the chain. */
  async subaccountOf(market: Market, params: Dict): Promise<string> {
    const named = this.safeDict(this.options, 'subaccounts', {})
    const chosen = this.safeString(params, 'subaccount', this.safeString(named, market!.id))
    if (chosen !== undefined) {
      return chosen
    }
    await this.loadAccounts()
    let found = this.firstAccountOf(market)
    if (found === undefined) {
      await this.loadAccounts(true)
      found = this.firstAccountOf(market)
    }
    if (found === undefined) {
      const owner = this.ownerAddress()
      throw new AccountNotEnabled(this.id + ' ' + owner + ' has no account for ' + market!.symbol)
    }
    return found
  }

  firstAccountOf(market: Market): Str {
    for (let i = 0; i < this.accounts.length; i++) {
      const account = this.accounts[i] as Account
      if (this.inArray(market!.id, this.safeList(account.info, 'markets', []))) {
        return account.id
      }
    }
    return undefined
  }

  /** The first market of a type; undefined where the venue lists none. */
  firstMarketOf(type: Str): Market {
    for (let i = 0; i < this.symbols.length; i++) {
      const market = this.market(this.symbols[i])
      if (market.type === type) {
        return market
      }
    }
    return undefined
  }

  /** Balances of the account that trades markets of `params.type`: `spot`, `swap` or `future`. */
  override async fetchBalance(params: Dict = {}): Promise<Balances> {
    await this.loadMarkets()
    const type = this.safeString(params, 'type', this.safeString(this.options, 'defaultType'))
    const market = this.firstMarketOf(type)
    if (market === undefined) {
      throw new AccountNotEnabled(this.id + ' lists no market of type ' + type)
    }
    const subaccount = await this.subaccountOf(market, params)
    const response = await this.privateGetBalances(
      this.extend({ subaccount_id: subaccount }, this.omit(params, ['type', 'subaccount'])),
    )
    return this.parseBalance(response.accounts[0])
  }

  /** At the tokens' own decimals, rounded down: free and used add up to total also as numbers print; `info` has all that the chain has. */
  override parseBalance(response: any): Balances {
    const timestamp = this.parse8601(this.safeString(response, 'block_time'))
    const result: Dict = { info: response, timestamp, datetime: this.iso8601(timestamp) }
    const tokens = this.safeList(response, 'tokens', [])
    for (let i = 0; i < tokens.length; i++) {
      const code = this.safeCurrencyCode(this.safeString(tokens[i], 'token')) as string
      result[code] = {
        total: this.safeString(tokens[i], 'ui_total'),
        free: this.safeString(tokens[i], 'ui_available'),
      }
    }
    return this.safeBalance(result)
  }

  override async fetchOrder(
    id: string,
    _symbol: Str = undefined,
    params: Dict = {},
  ): Promise<Order> {
    await this.loadMarkets()
    const request = { order_id: this.encodeURIComponent(id) }
    return this.parseOrder(await this.publicGetOrdersOrderId(this.extend(request, params)))
  }

  /** Orders of the owner with their raw records; of one market where a symbol is named. */
  async fetchOrderRows(symbol: Str, since: Int, limit: Int, params: Dict): Promise<Dict[]> {
    await this.loadMarkets()
    const marketId = symbol === undefined ? undefined : this.market(symbol).id
    const endpoint = 'privateGetOrders'
    const key = 'orders'
    return await this.readHistory(endpoint, key, params, since, limit, marketId)
  }

  override async fetchOrders(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Order[]> {
    return this.parseOrders(await this.fetchOrderRows(symbol, since, limit, params))
  }

  override parseOrder(order: Dict, market: Market = undefined): Order {
    this.noteRow(order)
    return super.parseOrder(order, market)
  }

  noteRow(order: Dict) {
    const ended = this.inArray(this.safeString(order, 'status'), ['cancelled', 'expired'])
    const unsettled = ended && this.parseOrderStatus(order) === 'open'
    this.noteUnsettled(this.safeString(order, 'order_id') as string, unsettled)
  }

  /** Ids of orders that answers and frames have shown as ended while matches of them await settlement. */
  unsettled(): Dict {
    if (this.safeDict(this.options, 'unsettled') === undefined) {
      this.options.unsettled = {}
    }
    return this.options.unsettled
  }

  /** Keeps the id while it is unsettled; of more than so many the oldest is forgotten. */
  noteUnsettled(id: string, unsettled: boolean) {
    const kept = this.unsettled()
    if (!unsettled) {
      delete kept[id]
      return
    }
    kept[id] = true
    const ids = Object.keys(kept)
    if (ids.length > UNSETTLED) {
      delete kept[ids[0] as string]
    }
  }

  /** The owner's kept unsettled orders that are not among the known ones, as they are now, some at a time. */
  async fetchUnsettledRows(known: Dict): Promise<Dict[]> {
    const ids = Object.keys(this.unsettled())
    const sought: string[] = []
    for (let i = 0; i < ids.length; i++) {
      if (!((ids[i] as string) in known)) {
        sought.push(ids[i] as string)
      }
    }
    const result: Dict[] = []
    for (let i = 0; i < sought.length; i += ASKED_AT_ONCE) {
      const asked = sought.slice(i, i + ASKED_AT_ONCE)
      const rows = await Promise.all(asked.map((id) => this.fetchUnsettledRow(id)))
      for (let j = 0; j < rows.length; j++) {
        if (rows[j] !== undefined) {
          result.push(rows[j] as Dict)
        }
      }
    }
    return result
  }

  /** The owner's order with this id; undefined where the venue has it no longer, or it is another's: an order of anyone can be looked up. */
  async fetchUnsettledRow(id: string): Promise<Dict | undefined> {
    try {
      const order = (await this.fetchOrder(id)).info
      if (this.safeStringLower(order, 'owner_address') === this.ownerAddress().toLowerCase()) {
        return order
      }
    } catch (error) {
      if (!(error instanceof OrderNotFound)) {
        throw error
      }
    }
    this.noteUnsettled(id, false)
    return undefined
  }

  /**
   * Every order that may still fill: those that rest, and those that have ended and of which matches await settlement, as far as they
   * are among the newest 100 or this instance has seen them so.
   */
  override async fetchOpenOrders(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Order[]> {
    await this.loadMarkets()
    const request: Dict = { status: 'open' }
    const market = symbol === undefined ? undefined : this.market(symbol)
    if (market !== undefined) {
      request.market = market.id
    }
    const newest = await this.fetchOrderRows(symbol, undefined, undefined, params)
    const open = await this.readBackward(
      ...(['privateGetOrders', 'orders'] as const),
      ...([this.extend(request, params), Number.MAX_SAFE_INTEGER, undefined] as const),
    )
    const known = this.indexBy(open, 'order_id')
    for (let i = 0; i < newest.length; i++) {
      const order = newest[i] as Dict
      this.noteRow(order)
      if (!this.safeBool(order, 'final', true) && !(order.order_id in known)) {
        open.push(order)
      }
    }
    const shown = this.indexBy(this.arrayConcat(newest, open), 'order_id')
    const rows = this.arrayConcat(open, await this.fetchUnsettledRows(shown))
    const orders = this.filterBy(this.parseOrders(rows), 'status', 'open')
    return this.filterBySymbolSinceLimit(orders, market?.symbol, since, limit) as Order[]
  }

  /** Of the newest orders, or the first ones since a time, those of the statuses. */
  async fetchOrdersOf(
    statuses: string[],
    symbol: Str,
    since: Int,
    limit: Int,
    params: Dict,
  ): Promise<Order[]> {
    const orders = await this.fetchOrders(symbol, since, undefined, params)
    const result: Order[] = []
    for (let i = 0; i < orders.length; i++) {
      if (this.inArray((orders[i] as Order).status, statuses)) {
        result.push(orders[i] as Order)
      }
    }
    return this.filterBySinceLimit(result, since, limit) as Order[]
  }

  override async fetchClosedOrders(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Order[]> {
    return await this.fetchOrdersOf(['closed'], symbol, since, limit, params)
  }

  override async fetchCanceledOrders(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Order[]> {
    return await this.fetchOrdersOf(['canceled', 'expired'], symbol, since, limit, params)
  }

  override async fetchCanceledAndClosedOrders(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Order[]> {
    const statuses = ['closed', 'canceled', 'expired']
    return await this.fetchOrdersOf(statuses, symbol, since, limit, params)
  }

  /** With `since` the first own trades from then on, else the newest. */
  override async fetchMyTrades(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Trade[]> {
    await this.loadMarkets()
    const marketId = symbol === undefined ? undefined : this.market(symbol).id
    const endpoint = 'privateGetFills'
    const key = 'fills'
    const rows = await this.readHistory(endpoint, key, params, since, limit, marketId)
    return this.parseTrades(this.standing(rows), undefined, since)
  }

  /** All trades of one order, from the fills since it was placed. */
  override async fetchOrderTrades(
    id: string,
    _symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Trade[]> {
    const order = await this.fetchOrder(id)
    const placed = order.timestamp as number
    const from = since === undefined ? placed : Math.max(since, placed)
    const most = Number.MAX_SAFE_INTEGER
    const trades = await this.fetchMyTrades(order.symbol, from, most, params)
    return this.filterBySinceLimit(this.filterBy(trades, 'order', id), since, limit) as Trade[]
  }

  override async fetchPositions(
    symbols: Strings = undefined,
    params: Dict = {},
  ): Promise<Position[]> {
    await this.loadMarkets()
    symbols = this.marketSymbols(symbols)
    const ids = await this.marginAccounts(params)
    if (ids.length === 0) {
      return []
    }
    const response = await this.privateGetBalances({ subaccount_id: ids.join(',') })
    const result: Position[] = []
    for (let i = 0; i < response.accounts.length; i++) {
      const rows = await this.positionRows(response.accounts[i])
      for (let j = 0; j < rows.length; j++) {
        result.push(this.parsePosition(rows[j] as Dict))
      }
    }
    return this.filterByArrayPositions(result, 'symbol', symbols, false)
  }

  /** The accounts of markets with positions. */
  async marginAccounts(params: Dict): Promise<string[]> {
    const ids: string[] = []
    for (let i = 0; i < this.symbols.length; i++) {
      const market = this.market(this.symbols[i])
      if (market.contract) {
        const id = await this.marginAccountOf(market, params)
        if (id !== undefined && !this.inArray(id, ids)) {
          ids.push(id)
        }
      }
    }
    return ids
  }

  /** Undefined where the owner has none: there is no position then. */
  async marginAccountOf(market: Market, params: Dict): Promise<Str> {
    try {
      return await this.subaccountOf(market, params)
    } catch (error) {
      if (error instanceof AccountNotEnabled) {
        return undefined
      }
      throw error
    }
  }

  /** Margin of each market with an open position, with entry and mark price where the venue has them. */
  async positionRows(account: Dict): Promise<Dict[]> {
    const subaccount = this.safeString(account, 'subaccount_id')
    const margin = this.safeList(account, 'margin', [])
    const open: Dict[] = []
    for (let i = 0; i < margin.length; i++) {
      if (!Precise.stringEquals(this.safeString(margin[i], 'position'), '0')) {
        open.push(this.extend(margin[i], { block_time: account.block_time }))
      }
    }
    if (open.length === 0) {
      return open
    }
    const shown = await this.publicGetPositions({ subaccount_id: subaccount })
    const entries = this.indexBy(this.safeList(shown, 'positions', []), 'market')
    const tickers = this.indexBy(await this.publicGetTickers(), 'market')
    const result: Dict[] = []
    for (let i = 0; i < open.length; i++) {
      const marketId = this.safeString(open[i], 'market') as string
      const mark = this.safeString(this.safeDict(tickers, marketId, {}), 'mark_price')
      const entry = this.safeString(this.safeDict(entries, marketId, {}), 'entry_price')
      result.push(this.extend(open[i], { mark_price: mark, entry_price: entry }))
    }
    return result
  }

  override async fetchPosition(symbol: string, params: Dict = {}): Promise<Position> {
    const positions = await this.fetchPositions([symbol], params)
    return this.safeDict(positions, 0) as Position
  }

  override async fetchPositionsForSymbol(symbol: string, params: Dict = {}): Promise<Position[]> {
    return await this.fetchPositions([symbol], params)
  }
}
