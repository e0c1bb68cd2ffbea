import {
  Precise,
  type Account,
  type Dict,
  type FundingRate,
  type FundingRateHistory,
  type LeverageTier,
  type Market,
  type OHLCV,
  type OpenInterest,
  type Order,
  type Position,
  type Str,
  type Ticker,
  type Trade,
} from 'ccxt'
import { VenueSigning } from './signing.js'

/**
 * The venue's records as CCXT's structures, in engine terms: amounts in the base of the symbol, prices in its quote. Decimal texts
 * become CCXT's numbers at the very end.
 */

/** CCXT's type of a market by the venue's. */
const TYPES: Dict = { spot: 'spot', perpetual: 'swap', future: 'future' }

const STATUSES: Dict = {
  active: 'open',
  matching: 'open',
  filled: 'closed',
  cancelled: 'canceled',
  expired: 'expired',
}

/** In which fees are paid in every market, and in which `filled_quote` counts. */
const FEE_CURRENCY = 'USDC'

export abstract class VenueParsing extends VenueSigning {
  /** Share of basis points, as decimal text. */
  ofBps(bps: Str): Str {
    return Precise.stringDiv(bps, '10000')
  }

  override parseMarket(market: Dict): Market {
    const type = TYPES[this.safeString(market, 'contract_type') as string]
    const spot = type === 'spot'
    // Where a trader's terms are the inverse, the identifiers name them; the engine's base is their quote.
    const inverted = this.safeString(market, 'engine_side_policy') === 'invert_ui_side'
    const baseId = this.safeString(market, inverted ? 'quote_asset_symbol' : 'base_asset_symbol')
    const quoteId = this.safeString(market, inverted ? 'base_asset_symbol' : 'quote_asset_symbol')
    const base = this.safeCurrencyCode(baseId)
    const quote = this.safeCurrencyCode(quoteId)
    const expiry = this.safeTimestamp(market, 'expiry_timestamp')
    let symbol = base + '/' + quote
    if (!spot) {
      symbol += ':' + quote
    }
    if (expiry !== undefined) {
      symbol += '-' + this.yymmdd(expiry)
    }
    return this.safeMarketStructure({
      id: this.safeString(market, 'market'),
      symbol,
      base,
      quote,
      baseId,
      quoteId,
      type,
      spot,
      settle: spot ? undefined : quote,
      settleId: spot ? undefined : quoteId,
      margin: false,
      swap: type === 'swap',
      future: type === 'future',
      option: false,
      active: this.safeString(market, 'trading_status') !== 'paused',
      contract: !spot,
      linear: spot ? undefined : true,
      inverse: spot ? undefined : false,
      // Amounts are in the base, never in contracts of the chain.
      contractSize: spot ? undefined : 1,
      taker: this.parseNumber(this.ofBps(this.safeString(market, 'taker_fee_bps'))),
      maker: this.parseNumber(this.ofBps(this.safeString(market, 'maker_fee_bps'))),
      percentage: true,
      tierBased: false,
      expiry,
      expiryDatetime: this.iso8601(expiry),
      precision: {
        amount: this.safeNumber(market, 'min_size'),
        price: this.safeNumber(market, 'tick_size'),
      },
      limits: this.parseLimits(market, quoteId),
      info: market,
    } as any)
  }

  parseLimits(market: Dict, quoteId: Str): Dict {
    const none = { min: undefined, max: undefined }
    // The venue's least worth is in USDC, so it is one of costs where these are.
    const leastCost = quoteId === FEE_CURRENCY ? this.safeNumber(market, 'min_notional') : undefined
    return {
      amount: { min: this.safeNumber(market, 'min_size'), max: undefined },
      price: none,
      cost: { min: leastCost, max: undefined },
      leverage: { min: undefined, max: this.parseNumber(this.maxLeverage(market)) },
    }
  }

  /** What the chain says of a market with positions; empty for another. */
  chainState(entry: Dict): Dict {
    return this.safeDict2(entry, 'perp', 'future', {})
  }

  maxLeverage(entry: Dict): Str {
    const rate = this.omitZero(this.safeString(this.chainState(entry), 'initial_margin_rate'))
    return Precise.stringDiv('1', rate, 8)
  }

  override parseTicker(ticker: Dict, market: Market = undefined): Ticker {
    market = this.safeMarket(this.safeString(ticker, 'market'), market)
    const timestamp = this.parse8601(this.safeString(ticker, 'ts'))
    const bid = this.safeDict(ticker, 'best_bid', {})
    const ask = this.safeDict(ticker, 'best_ask', {})
    const day = this.safeDict(ticker, 'stats_24h', {})
    return this.safeTicker(
      {
        symbol: market.symbol,
        timestamp,
        datetime: this.iso8601(timestamp),
        bid: this.safeString(bid, 'price'),
        bidVolume: this.safeString(bid, 'size'),
        ask: this.safeString(ask, 'price'),
        askVolume: this.safeString(ask, 'size'),
        high: this.safeString(day, 'high'),
        low: this.safeString(day, 'low'),
        close: this.safeString(ticker, 'last_price'),
        change: this.safeString(day, 'change'),
        baseVolume: this.safeString(day, 'volume', '0'),
        quoteVolume: this.safeString(day, 'quote_volume', '0'),
        markPrice: this.safeString(ticker, 'mark_price'),
        indexPrice: this.safeString(ticker, 'index_price'),
        info: ticker,
      } as any,
      market,
    )
  }

  /** A public trade, or a leg of an own one. */
  override parseTrade(trade: Dict, market: Market = undefined): Trade {
    market = this.safeMarket(this.safeString(trade, 'market'), market)
    const timestamp = this.parse8601(this.safeString(trade, 'created_at'))
    const own = this.safeString(trade, 'side')
    const number = this.safeString(trade, 'trade_id')
    const fee = this.safeString(trade, 'fee')
    return this.safeTrade(
      {
        // Both legs of a trade between two accounts of one owner have the same number.
        id: own === undefined ? number : number + ':' + own,
        order: this.safeString(trade, 'order_id'),
        timestamp,
        datetime: this.iso8601(timestamp),
        symbol: market.symbol,
        type: undefined,
        side: own === undefined ? this.safeString(trade, 'aggressor_side') : own,
        takerOrMaker: this.safeString(trade, 'liquidity'),
        price: this.safeString(trade, 'price'),
        amount: this.safeString(trade, 'size'),
        cost: undefined,
        fee: fee === undefined ? undefined : { cost: fee, currency: FEE_CURRENCY },
        info: trade,
      } as any,
      market,
    )
  }

  override parseOHLCV(ohlcv: any): OHLCV {
    return [
      this.parse8601(this.safeString(ohlcv, 'bucket_start')),
      this.safeNumber(ohlcv, 'open'),
      this.safeNumber(ohlcv, 'high'),
      this.safeNumber(ohlcv, 'low'),
      this.safeNumber(ohlcv, 'close'),
      this.safeNumber(ohlcv, 'volume'),
    ]
  }

  /** A cancelled order of which matches await settlement is open: it may still fill. */
  parseOrderStatus(order: Dict): Str {
    const pending = this.omitZero(this.safeString(order, 'pending_amount'))
    if (!this.safeBool(order, 'final', pending === undefined)) {
      return 'open'
    }
    return this.safeString(STATUSES, this.safeString(order, 'status'))
  }

  override parseOrder(order: Dict, market: Market = undefined): Order {
    market = this.safeMarket(this.safeString(order, 'market'), market)
    const created = this.parse8601(this.safeString(order, 'created_at'))
    const postOnly = this.safeString(order, 'post_only') !== undefined
    const filled = this.safeString(order, 'filled_amount')
    // What a replaced order has filled is in its own fills, not in those of its successor.
    const inherited = this.safeString(order, 'inherited_filled_amount', '0')
    const amount = Precise.stringSub(this.safeString(order, 'desired_amount'), inherited)
    const average = this.safeString(order, 'average_price')
    const fee = this.safeString(order, 'fee_paid')
    const result: Dict = this.safeOrder(
      {
        id: this.safeString(order, 'order_id'),
        clientOrderId: this.safeString(order, 'order_id'),
        timestamp: created,
        datetime: this.iso8601(created),
        lastTradeTimestamp: undefined,
        lastUpdateTimestamp: this.parse8601(this.safeString(order, 'updated_at')),
        symbol: market.symbol,
        type: 'limit',
        timeInForce: postOnly ? 'PO' : this.safeString(order, 'time_in_force', 'GTC'),
        postOnly,
        reduceOnly: this.safeBool(order, 'reduce_only', false),
        side: this.safeString(order, 'side'),
        price: this.safeString(order, 'limit_price'),
        status: this.parseOrderStatus(order),
        amount,
        filled,
        average,
        remaining: Precise.stringSub(amount, filled),
        cost: this.costOf(order, market),
        trades: undefined,
        fee:
          fee === undefined ? undefined : { cost: this.parseNumber(fee), currency: FEE_CURRENCY },
        info: order,
      } as any,
      market,
    )
    if (average === undefined && Precise.stringGt(filled, '0')) {
      // Not all of its fills are known at this moment: a cost at the limit would be a guess.
      result.cost = undefined
    }
    return result as Order
  }

  /** What changed hands in the quote of the symbol. */
  costOf(order: Dict, market: Market): Str {
    const filled = this.safeString(order, 'filled_amount')
    if (filled === undefined || Precise.stringEquals(filled, '0')) {
      return '0'
    }
    if (market!.quoteId === FEE_CURRENCY) {
      return this.safeString(order, 'filled_quote')
    }
    return Precise.stringMul(this.safeString(order, 'average_price'), filled)
  }

  /** An account whose markets are of several types has none: CCXT has one word for it. Its markets are in `info`. */
  override parseAccount(account: Dict): Account {
    const markets = this.safeList(account, 'markets', [])
    const types: Dict = {}
    for (let i = 0; i < markets.length; i++) {
      const type = this.safeString(this.safeMarket(this.safeString(markets, i)), 'type')
      if (type !== undefined) {
        types[type] = true
      }
    }
    const found = Object.keys(types)
    return {
      id: this.safeString(account, 'subaccount_id'),
      type: found.length === 1 ? found[0] : undefined,
      code: undefined,
      info: account,
    }
  }

  override parsePosition(position: Dict, market: Market = undefined): Position {
    market = this.safeMarket(this.safeString(position, 'market'), market)
    const size = this.safeString2(position, 'position', 'engine_position')
    const contracts = Precise.stringAbs(size)
    const mark = this.safeString2(position, 'mark_price_ui', 'mark_price')
    const timestamp = this.parse8601(this.safeString(position, 'block_time'))
    const notional = Precise.stringMul(contracts, this.asKnown(mark))
    return this.safePosition({
      info: position,
      id: undefined,
      symbol: market.symbol,
      timestamp,
      datetime: this.iso8601(timestamp),
      lastUpdateTimestamp: timestamp,
      hedged: false,
      side: Precise.stringLt(size, '0') ? 'short' : 'long',
      contracts: this.parseNumber(contracts),
      contractSize: this.parseNumber('1'),
      entryPrice: this.safeNumber(position, 'entry_price'),
      markPrice: this.parseNumber(this.asKnown(mark)),
      notional: this.parseNumber(notional),
      leverage: undefined,
      collateral: this.knownNumber(position, 'balance'),
      initialMargin: this.knownNumber(position, 'initial_margin'),
      initialMarginPercentage: undefined,
      maintenanceMargin: this.knownNumber(position, 'maintenance_margin'),
      maintenanceMarginPercentage: undefined,
      unrealizedPnl: this.knownNumber(position, 'unrealized_pnl'),
      realizedPnl: undefined,
      liquidationPrice: this.knownNumber(position, 'liquidation_price'),
      marginMode: 'cross',
      marginRatio: undefined,
      percentage: undefined,
    } as any)
  }

  /** What cannot be priced is empty text. */
  asKnown(text: Str): Str {
    return text === '' ? undefined : text
  }

  knownNumber(record: Dict, key: string) {
    return this.parseNumber(this.asKnown(this.safeString(record, key)))
  }

  override parseFundingRate(contract: any, market: Market = undefined): FundingRate {
    market = this.safeMarket(this.safeString(contract, 'market'), market)
    const perpetual = this.safeDict(contract, 'perp', {})
    const timestamp = this.safeTimestamp(perpetual, 'updated_at')
    return {
      info: contract,
      symbol: market.symbol,
      markPrice: this.safeNumber(perpetual, 'mark_price'),
      indexPrice: this.safeNumber(perpetual, 'index_price'),
      interestRate: undefined,
      estimatedSettlePrice: undefined,
      timestamp,
      datetime: this.iso8601(timestamp),
      // Funding accrues with every second: no moment of payment is ahead.
      fundingRate: this.safeNumber(perpetual, 'funding_rate_1h'),
      fundingTimestamp: undefined,
      fundingDatetime: undefined,
      nextFundingRate: undefined,
      nextFundingTimestamp: undefined,
      nextFundingDatetime: undefined,
      previousFundingRate: undefined,
      previousFundingTimestamp: undefined,
      previousFundingDatetime: undefined,
      interval: '1h',
    } as any
  }

  override parseFundingRateHistory(info: any, market: Market = undefined): FundingRateHistory {
    const timestamp = this.parse8601(this.safeString(info, 'observed_at'))
    return {
      info,
      symbol: market!.symbol,
      fundingRate: this.safeNumber(info, 'funding_rate_1h'),
      timestamp,
      datetime: this.iso8601(timestamp),
    }
  }

  override parseOpenInterest(interest: any, market: Market = undefined): OpenInterest {
    market = this.safeMarket(this.safeString(interest, 'market'), market)
    const perpetual = this.safeDict(interest, 'perp', {})
    const timestamp = this.safeTimestamp(perpetual, 'updated_at')
    return this.safeOpenInterest(
      {
        symbol: market.symbol,
        openInterestAmount: this.safeString(perpetual, 'open_interest'),
        openInterestValue: this.safeString(perpetual, 'open_interest_usd'),
        timestamp,
        datetime: this.iso8601(timestamp),
        info: interest,
      } as any,
      market,
    )
  }

  /** One tier: the same margin at every size. */
  override parseMarketLeverageTiers(info: any, market: Market = undefined): LeverageTier[] {
    market = this.safeMarket(this.safeString(info, 'market'), market)
    return [
      {
        tier: 1,
        symbol: market.symbol,
        currency: FEE_CURRENCY,
        minNotional: 0,
        maxNotional: undefined,
        maintenanceMarginRate: this.safeNumber(this.chainState(info), 'maintenance_margin_rate'),
        maxLeverage: this.parseNumber(this.maxLeverage(info)),
        info,
      },
    ]
  }
}
