import {
  InvalidOrder,
  OrderNotFillable,
  Precise,
  type Dict,
  type Market,
  type Num,
  type OrderSide,
  type OrderType,
  type Str,
} from 'ccxt'
import { VenueOwnReads } from './own-reads.js'

/** Orders as the venue takes them: their terms, the signed action, its options. */

const E18 = '1000000000000000000'
/** How far the bids may rise until a sell matches, before its fee bound breaks. */
const BID_ROOM = '1.05'
const TRADE_DATA = ['address', 'uint256', 'int256', 'int256', 'uint256', 'uint256', 'bool']

export abstract class VenueOrderBodies extends VenueOwnReads {
  newOrderId(): string {
    return 'ccxt-' + this.randomBytes(12)
  }

  /** The signed body of an order. */
  async orderBody(
    symbol: string,
    type: OrderType,
    side: OrderSide,
    amount: number,
    price: Num,
    params: Dict,
  ): Promise<Dict> {
    await this.loadMarkets()
    const market = this.market(symbol)
    this.checkOrderArguments(market, type, side, amount, price, params)
    const isMarket = type === 'market'
    const limit = isMarket
      ? await this.marketLimit(market, side, price, params)
      : this.priceToPrecision(symbol, price)
    const subaccount = await this.subaccountOf(market, params)
    const expiry = this.expiryOf(params)
    const bound = this.worstFee(market, side, limit, params)
    const action = this.signedAction(market, {
      subaccount,
      expiry,
      side,
      limit,
      bound,
      amount: this.amountToPrecision(symbol, amount),
    })
    return this.extend(action, this.optionsOf(isMarket, params), {
      order_id: this.safeString(params, 'clientOrderId'),
      side,
      desired_amount: this.amountToPrecision(symbol, amount),
      limit_price: limit,
    })
  }

  expiryOf(params: Dict): number {
    const given = this.safeInteger(params, 'expiry')
    const life = this.safeInteger(this.options, 'expirySeconds', 2592000)
    return given === undefined ? this.sum(this.venueSeconds(), life) : this.parseToInt(given / 1000)
  }

  /** The limit of a market order: `slippage` beyond the best price of the other side, or beyond `price` where one is given. */
  async marketLimit(market: Market, side: OrderSide, price: Num, params: Dict): Promise<string> {
    const isBuy = side === 'buy'
    let best = this.numberToString(price)
    if (best === undefined) {
      const levels = await this.publicGetLevels({ symbol: market!.id, depth: 10 })
      const first = this.safeDict(this.safeList(levels, isBuy ? 'asks' : 'bids', []), 0, {})
      best = this.safeString(first, 'price')
    }
    if (best === undefined) {
      throw new OrderNotFillable(this.id + ' has no order on the other side of ' + market!.symbol)
    }
    const room = this.safeString(params, 'slippage', this.safeString(this.options, 'slippage'))
    const factor = isBuy ? Precise.stringAdd('1', room) : Precise.stringSub('1', room)
    let limit = Precise.stringMul(best, factor)
    if (market!.future) {
      const state = this.chainState(await this.fetchEntry(market))
      const low = this.safeString(state, 'fill_band_low', limit)
      limit = Precise.stringMax(limit, low)
      limit = Precise.stringMin(limit, this.safeString(state, 'fill_band_high', limit))
    }
    return this.priceToPrecision(market!.symbol, limit)
  }

  /** Bound of the fee per signed unit at 1e18, rounded up: a share of the worst price, on futures of a contract's size. */
  worstFee(market: Market, side: OrderSide, limit: string, params: Dict): string {
    const bps = this.safeString(params, 'worstFeeBps', this.safeString(this.options, 'worstFeeBps'))
    let base: Str = limit
    if (market!.future) {
      base = this.safeString(market!.info, 'contract_multiplier')
    } else if (side === 'sell') {
      const bid = Precise.stringMul(this.safeString(params, 'bestBid', limit), BID_ROOM)
      base = Precise.stringMax(limit, bid)
    }
    const exact = Precise.stringMul(Precise.stringMul(base, E18), Precise.stringDiv(bps, '10000'))
    const whole = Precise.stringDiv(exact, '1', 0) as string
    return Precise.stringEquals(whole, exact) ? whole : (Precise.stringAdd(whole, '1') as string)
  }

  /** An amount or a price as the chain signs it; both are whole at the scale. */
  atScale(text: Str, scale: Str): string {
    return Precise.stringDiv(Precise.stringMul(text, scale), '1', 0) as string
  }

  amountScale(market: Market): string {
    const venue = this.venueFacts()
    const ofMarket = this.safeDict(this.indexBy(venue.markets, 'market'), market!.id, {})
    const state = this.chainState(market!.info)
    return this.safeString(state, 'amount_scale', this.safeString(ofMarket, 'amount_scale', E18))
  }

  /** The action of an order, its signature, and the fields of the body that must agree with it. */
  signedAction(market: Market, terms: Dict): Dict {
    const entry = market!.info
    const owner = this.ownerAddress()
    const signer = this.signerAddress()
    const nonce = this.convertToBigInt('0x' + this.randomBytes(31)).toString()
    const data = this.ethAbiEncode(TRADE_DATA, [
      entry.asset_address,
      entry.sub_id,
      this.atScale(terms.limit, E18),
      this.atScale(terms.amount, this.amountScale(market)),
      terms.bound,
      terms.subaccount,
      terms.side === 'buy',
    ])
    const action: Dict = {
      subaccount_id: terms.subaccount,
      nonce,
      module: entry.trade_module_address,
      data: '0x' + this.binaryToBase16(data),
      expiry: this.numberToString(terms.expiry),
      owner,
      signer,
    }
    return {
      owner_address: owner,
      signer_address: signer,
      subaccount_id: terms.subaccount,
      recipient_id: terms.subaccount,
      nonce,
      asset_address: entry.asset_address,
      sub_id: entry.sub_id,
      worst_fee: terms.bound,
      expiry: terms.expiry,
      action_json: action,
      signature: this.signHash(this.hashAction(action)),
    }
  }

  /** CCXT's parameters of an order as the venue's options. */
  optionsOf(isMarket: boolean, params: Dict): Dict {
    const result: Dict = {}
    const inForce = this.safeStringUpper(params, 'timeInForce', isMarket ? 'IOC' : undefined)
    if (inForce === 'PO' || this.safeBool(params, 'postOnly', false)) {
      if (isMarket || inForce === 'IOC' || inForce === 'FOK') {
        throw new InvalidOrder(
          this.id + ' a post-only order rests: it is no market, IOC or FOK order',
        )
      }
      result.post_only = this.safeString(params, 'post_only', 'reject')
    } else if (inForce !== undefined && inForce !== 'GTC') {
      result.time_in_force = inForce
    }
    if (this.safeBool(params, 'reduceOnly', false)) {
      result.reduce_only = true
    }
    const own = ['stp', 'stp_scope', 'lease_id']
    for (let i = 0; i < own.length; i++) {
      const name = own[i] as string
      const value = this.safeString(params, name)
      if (value !== undefined) {
        result[name] = value
      }
    }
    return result
  }
}
