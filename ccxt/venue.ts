import {
  InsufficientFunds,
  InvalidOrder,
  NetworkError,
  RateLimitExceeded,
  type Dict,
  type Int,
  type Num,
  type Order,
  type OrderRequest,
  type OrderSide,
  type OrderType,
  type Str,
} from 'ccxt'
import { DESCRIPTION } from './description.js'
import { VenueOrderBodies } from './order-bodies.js'

/** Orders of one batch, and ids of one cancel, that the venue takes. */
const BATCH = 20
const CANCELS = 200
/** Bodies without an outcome that are kept to be sent again. */
const UNANSWERED = 100

/** The venue over REST. */
export class Venue extends VenueOrderBodies {
  override describe(): any {
    return this.deepExtend(super.describe(), DESCRIPTION)
  }

  /**
   * Signs an order and places it. A `market` order is an IOC order whose limit is `slippage` beyond the best price. An order whose
   * outcome stays unknown is a RequestTimeout or another NetworkError: call again with the same `clientOrderId`, or look it up by that
   * id; an id is taken once.
   */
  override async createOrder(
    symbol: string,
    type: OrderType,
    side: OrderSide,
    amount: number,
    price: Num = undefined,
    params: Dict = {},
  ): Promise<Order> {
    const id = this.safeString(params, 'clientOrderId', this.newOrderId())
    let body = this.safeDict(this.unanswered(), id)
    if (body === undefined) {
      const extended = this.extend(params, { clientOrderId: id })
      body = await this.orderBody(symbol, type, side, amount, price, extended)
    } else {
      this.checkRepeat(body, symbol, side, amount)
    }
    const replaces = this.safeString(body, 'replaces_order_id')
    const endpoint = replaces === undefined ? 'privatePostOrders' : 'privatePostOrdersReplace'
    const response = await this.submit(endpoint, body)
    return await this.checkFunds(response.order)
  }

  /** Bodies whose outcome is not known, by order id: what is sent again must be the same signature. */
  unanswered(): Dict {
    if (this.safeDict(this.options, 'unanswered') === undefined) {
      this.options.unanswered = {}
    }
    return this.options.unanswered
  }

  /** Keeps a body until its outcome is known; of more than so many the oldest is forgotten. */
  keepUnanswered(body: Dict) {
    const unanswered = this.unanswered()
    const ids = Object.keys(unanswered)
    if (!(body.order_id in unanswered) && ids.length >= UNANSWERED) {
      delete unanswered[ids[0] as string]
    }
    unanswered[body.order_id] = body
  }

  /** An id names one order: a call with other terms than the order that has no outcome yet is refused here. */
  checkRepeat(body: Dict, symbol: string, side: OrderSide, amount: number) {
    const market = this.market(symbol)
    const same =
      body.asset_address === market.info.asset_address &&
      body.sub_id === market.info.sub_id &&
      body.side === side &&
      body.desired_amount === this.amountToPrecision(symbol, amount)
    if (!same) {
      throw new InvalidOrder(this.id + ' ' + body.order_id + ' names an order without an outcome')
    }
  }

  /** Sends a body, and the same one again while its outcome is unknown. */
  async submit(endpoint: string, body: Dict): Promise<Dict> {
    const unanswered = this.unanswered()
    const resends = this.safeInteger(this.options, 'resends', 3)
    this.keepUnanswered(body)
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await this.callEndpoint(endpoint, body)
        delete unanswered[body.order_id]
        return response
      } catch (error) {
        if (!(error instanceof NetworkError)) {
          delete unanswered[body.order_id]
          throw error
        }
        if (attempt >= resends || error instanceof RateLimitExceeded) {
          throw error
        }
        await this.sleep(250 * (attempt + 1))
      }
    }
  }

  /** An order that waits because its account has too little is taken back, as programs expect it. */
  async checkFunds(order: Dict): Promise<Order> {
    const parsed = this.parseOrder(order)
    const reason = this.safeString2(order, 'held_reason', 'cancel_reason', '')
    const wanting = reason.startsWith('insufficient_')
    if (!wanting || !this.safeBool(this.options, 'cancelWithoutFunds', true)) {
      return parsed
    }
    if (parsed.status === 'open') {
      await this.cancelOrder(parsed.id as string)
    }
    throw new InsufficientFunds(this.id + ' ' + parsed.id + ' ' + reason)
  }

  /**
   * Several orders at once, each for itself; one that is refused has the status `rejected` and the venue's words in `info`, one without
   * an outcome no status. After a RequestTimeout or another NetworkError call again with the same `clientOrderId`s.
   */
  override async createOrders(orders: OrderRequest[], params: Dict = {}): Promise<Order[]> {
    await this.loadMarkets()
    let result: Order[] = []
    for (let i = 0; i < orders.length; i += BATCH) {
      const bodies: Dict[] = []
      const chunk = this.arraySlice(orders, i, i + BATCH)
      for (let j = 0; j < chunk.length; j++) {
        const { symbol, type, side, amount, price } = chunk[j]
        const own = this.extend(params, this.safeDict(chunk[j], 'params', {}))
        own.clientOrderId = this.safeString(own, 'clientOrderId', this.newOrderId())
        const kept = this.safeDict(this.unanswered(), own.clientOrderId)
        if (kept === undefined) {
          bodies.push(await this.orderBody(symbol, type, side, amount, price, own))
        } else {
          this.checkRepeat(kept, symbol, side, amount)
          bodies.push(kept)
        }
      }
      result = this.arrayConcat(result, await this.placeBatch(bodies))
    }
    return result
  }

  async placeBatch(bodies: Dict[]): Promise<Order[]> {
    for (let i = 0; i < bodies.length; i++) {
      this.keepUnanswered(bodies[i] as Dict)
    }
    const results = await this.batchResults(bodies)
    const orders: Order[] = []
    for (let i = 0; i < results.length; i++) {
      orders.push(await this.outcomeInBatch(bodies[i] as Dict, results[i]))
    }
    return orders
  }

  /** What the venue says of each body; the bodies are kept while it says nothing. */
  async batchResults(bodies: Dict[]): Promise<any[]> {
    try {
      const response = await this.privatePostOrdersBatch({ orders: bodies })
      return this.safeList(response, 'results', [])
    } catch (error) {
      if (!(error instanceof NetworkError)) {
        for (let i = 0; i < bodies.length; i++) {
          delete this.unanswered()[bodies[i]?.order_id]
        }
      }
      throw error
    }
  }

  /** The order of a result; one without an outcome is sent again, and where that leaves it open it has no status. */
  async outcomeInBatch(body: Dict, result: Dict): Promise<Order> {
    let [answer, status]: any[] = [result, 'rejected']
    if (this.safeInteger(result, 'status', 500) < 500) {
      delete this.unanswered()[body.order_id]
    } else {
      try {
        // It may be placed: the same body says so.
        answer = await this.submit('privatePostOrders', body)
      } catch (error) {
        status = error instanceof NetworkError ? undefined : 'rejected'
      }
    }
    const order = this.safeDict(answer, 'order')
    if (order !== undefined) {
      return this.parseOrder(order)
    }
    const unplaced = { ...body, market: this.marketIdOf(body), final: true, info: answer }
    return this.extend(this.parseOrder(unplaced), { status, info: answer }) as Order
  }

  marketIdOf(body: Dict): Str {
    for (let i = 0; i < this.symbols.length; i++) {
      const { info } = this.market(this.symbols[i])
      if (info.asset_address === body.asset_address && info.sub_id === body.sub_id) {
        return info.market
      }
    }
    return undefined
  }

  /**
   * Replaces an order by another one at once; the answer is the new order, with an id of its own. `amount` is the whole amount, what
   * has filled included; what is not named stays as it is.
   */
  override async editOrder(
    id: string,
    symbol: string,
    type: OrderType,
    side: OrderSide,
    amount: Num = undefined,
    price: Num = undefined,
    params: Dict = {},
  ): Promise<Order> {
    await this.loadMarkets()
    const kept = this.safeDict(this.unanswered(), this.safeString(params, 'clientOrderId', ''))
    if (kept !== undefined) {
      if (this.safeString(kept, 'replaces_order_id') !== id) {
        throw new InvalidOrder(this.id + ' ' + kept.order_id + ' replaces no order ' + id)
      }
      const { order } = await this.submit('privatePostOrdersReplace', kept)
      return this.parseOrder(order)
    }
    let [newAmount, newPrice]: any[] = [amount, price]
    if (amount === undefined || price === undefined) {
      const { info } = await this.fetchOrder(id)
      newAmount = amount === undefined ? this.safeString(info, 'desired_amount') : amount
      newPrice = price === undefined ? this.safeString(info, 'limit_price') : price
    }
    const own = this.safeString(params, 'clientOrderId', this.newOrderId())
    const extended = this.extend(params, { clientOrderId: own })
    const body = await this.orderBody(symbol, type, side, newAmount, newPrice, extended)
    const replacement = this.extend(body, { replaces_order_id: id })
    const response = await this.submit('privatePostOrdersReplace', replacement)
    return this.parseOrder(response.order)
  }

  override async cancelOrder(
    id: string,
    _symbol: Str = undefined,
    params: Dict = {},
  ): Promise<Order> {
    await this.loadMarkets()
    const request = { owner_address: this.ownerAddress(), order_id: id.toString() }
    const response = await this.privatePostOrdersCancel(this.extend(request, params))
    return this.parseOrder(response.order)
  }

  override async cancelOrderWithClientOrderId(
    clientOrderId: string,
    symbol: Str = undefined,
    params: Dict = {},
  ): Promise<Order> {
    return await this.cancelOrder(clientOrderId, symbol, params)
  }

  override async fetchOrderWithClientOrderId(
    clientOrderId: string,
    symbol: Str = undefined,
    params: Dict = {},
  ): Promise<Order> {
    return await this.fetchOrder(clientOrderId, symbol, params)
  }

  override async editOrderWithClientOrderId(
    clientOrderId: string,
    symbol: string,
    type: OrderType,
    side: OrderSide,
    amount: Num = undefined,
    price: Num = undefined,
    params: Dict = {},
  ): Promise<Order> {
    return await this.editOrder(clientOrderId, symbol, type, side, amount, price, params)
  }

  /** Orders by their ids, each for itself; one that could not be cancelled has no status, and the venue's words in `info`. */
  override async cancelOrders(
    ids: string[],
    _symbol: Str = undefined,
    params: Dict = {},
  ): Promise<Order[]> {
    await this.loadMarkets()
    let result: Order[] = []
    for (let i = 0; i < ids.length; i += CANCELS) {
      const order_ids = this.arraySlice(ids, i, i + CANCELS)
      const request = { owner_address: this.ownerAddress(), order_ids }
      const response = await this.privatePostOrdersCancelList(this.extend(request, params))
      result = this.arrayConcat(result, this.parseCancelled(response))
    }
    return result
  }

  override async cancelAllOrders(symbol: Str = undefined, params: Dict = {}): Promise<Order[]> {
    await this.loadMarkets()
    const request: Dict = { owner_address: this.ownerAddress() }
    if (symbol !== undefined) {
      request.market = this.market(symbol).id
    }
    const response = await this.privatePostOrdersCancelAll(this.extend(request, params))
    return this.parseCancelled(response)
  }

  parseCancelled(response: Dict): Order[] {
    const orders = this.safeList(response, 'orders', [])
    const result: Order[] = []
    for (let i = 0; i < orders.length; i++) {
      const order = orders[i]
      const outcome = this.safeString(order, 'outcome')
      const status = outcome === 'not_cancelled' ? undefined : this.statusOfCancelled(order)
      const id = this.safeString(order, 'order_id')
      const filled = this.safeString(order, 'filled_amount')
      const symbol = this.safeString(this.safeMarket(this.safeString(order, 'market')), 'symbol')
      if (status !== undefined) {
        this.noteUnsettled(id as string, status === 'open')
      }
      result.push(
        this.safeOrder({ id, clientOrderId: id, symbol, status, filled, info: order } as any),
      )
    }
    return result
  }

  statusOfCancelled(order: Dict): string {
    const pending = this.omitZero(this.safeString(order, 'pending_amount'))
    return pending === undefined ? 'canceled' : 'open'
  }

  /** Cancels all orders unless it is called again within `timeout` milliseconds, 10 seconds to a day; 0 disarms. */
  override async cancelAllOrdersAfter(timeout: Int, params: Dict = {}): Promise<Dict> {
    await this.loadMarkets()
    const seconds = Math.ceil((timeout as number) / 1000)
    const request = { owner_address: this.ownerAddress(), seconds }
    return await this.privatePostOrdersCancelAllAfter(this.extend(request, params))
  }
}
