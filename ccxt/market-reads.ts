import {
  BadRequest,
  NotSupported,
  Precise,
  type Currencies,
  type Dict,
  type FundingRate,
  type FundingRateHistory,
  type FundingRates,
  type Int,
  type int,
  type LeverageTier,
  type LeverageTiers,
  type Market,
  type OHLCV,
  type OpenInterest,
  type OrderBook,
  type Status,
  type Str,
  type Strings,
  type Tickers,
  type Trade,
  type TradingFeeInterface,
  type TradingFees,
} from 'ccxt'
import { VenueHistories } from './histories.js'

/** What needs no signature. */

const LEVEL_DEPTHS = [10, 25, 100, 500]
const CANDLES = 1000

export abstract class VenueMarketReads extends VenueHistories {
  override async fetchTime(params: Dict = {}): Promise<Int> {
    const response = await this.publicGetTime(params)
    return this.safeInteger(response, 'unix_ms')
  }

  override async fetchStatus(params: Dict = {}): Promise<Status> {
    const response = await this.publicGetHealth(params)
    return {
      status: this.safeString(response, 'status') === 'ok' ? 'ok' : 'maintenance',
      updated: this.parse8601(this.safeString(response, 'now')),
      eta: undefined,
      url: undefined,
      info: response,
    }
  }

  /** The two tokens, from the venue's contracts. */
  override async fetchCurrencies(): Promise<Currencies> {
    const venue = await this.loadVenue()
    const result: Dict = {}
    const ids = ['USDC', 'cNGN']
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as string
      const code = this.safeCurrencyCode(id)
      result[code as string] = this.safeCurrencyStructure({
        id,
        code,
        name: id,
        type: 'crypto',
        active: true,
        precision: this.parseNumber('0.000001'),
        info: { contract: this.safeString(venue.contracts, id.toLowerCase()) },
      } as any)
    }
    return result
  }

  /** Every market that takes orders; a market that is only listed is left out. */
  override async fetchMarkets(params: Dict = {}): Promise<Market[]> {
    await this.loadVenue()
    const response = await this.publicGetMarkets(params)
    const listed: Dict[] = []
    for (let i = 0; i < response.length; i++) {
      if (this.safeBool(response[i], 'accepts_orders', true)) {
        listed.push(response[i])
      }
    }
    return this.parseMarkets(listed)
  }

  /** The venue's entry of a market as it is now. */
  async fetchEntry(market: Market): Promise<Dict> {
    const entries = await this.publicGetMarkets()
    const byId = this.indexBy(entries, 'market')
    return this.safeDict(byId, market!.id, market!.info)
  }

  override async fetchTickers(symbols: Strings = undefined, params: Dict = {}): Promise<Tickers> {
    await this.loadMarkets()
    symbols = this.marketSymbols(symbols)
    const response = await this.publicGetTickers(params)
    const known: Dict[] = []
    for (let i = 0; i < response.length; i++) {
      if ((this.safeString(response[i], 'market') as string) in this.markets_by_id!) {
        known.push(response[i])
      }
    }
    return this.parseTickers(known, symbols)
  }

  /** The levels that the venue shows; at most 500 of a side. */
  levelDepth(limit: Int): int {
    for (let i = 0; i < LEVEL_DEPTHS.length; i++) {
      const depth = LEVEL_DEPTHS[i] as number
      if (limit === undefined ? depth === 25 : depth >= limit) {
        return depth
      }
    }
    throw new BadRequest(this.id + ' shows at most 500 levels of a side')
  }

  override async fetchOrderBook(
    symbol: string,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<OrderBook> {
    await this.loadMarkets()
    const market = this.market(symbol)
    const request = { symbol: market.id, depth: this.levelDepth(limit) }
    const response = await this.publicGetLevels(this.extend(request, params))
    const book: Dict = this.parseLevels(response, market)
    book.bids = this.arraySlice(book.bids, 0, limit)
    book.asks = this.arraySlice(book.asks, 0, limit)
    return book as OrderBook
  }

  parseLevels(levels: Dict, market: Market): OrderBook {
    const timestamp = this.parse8601(this.safeString(levels, 'ts'))
    const book: any = this.parseOrderBook(
      ...([levels, market!.symbol, timestamp, 'bids', 'asks', 'price', 'size'] as const),
    )
    book.nonce = this.safeInteger(levels, 'seq')
    return book
  }

  /** With `since` the first trades from then on, else the newest. */
  override async fetchTrades(
    symbol: string,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Trade[]> {
    await this.loadMarkets()
    const market = this.market(symbol)
    const request = this.extend({ symbol: market.id }, params)
    const rows = await this.readHistory('publicGetTrades', 'trades', request, since, limit)
    return this.parseTrades(this.standing(rows), market, since)
  }

  override async fetchOHLCV(
    symbol: string,
    timeframe: string = '1m',
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<OHLCV[]> {
    await this.loadMarkets()
    const market = this.market(symbol)
    const interval = this.safeString(this.timeframes, timeframe, timeframe)
    const request: Dict = { symbol: market.id, interval }
    if (since === undefined) {
      request.limit = limit === undefined ? 200 : Math.min(limit, CANDLES)
    } else {
      request.limit = CANDLES
      request.start = this.iso8601(since)
    }
    let response = await this.publicGetCandles(this.extend(request, params))
    let candles = this.safeList(response, 'candles', [])
    if (since !== undefined && candles.length === CANDLES) {
      // The newest of more than one page: the first ones are asked for by their end.
      const wanted = limit === undefined ? CANDLES : Math.min(limit, CANDLES)
      request.end = this.iso8601(since + wanted * this.parseTimeframe(timeframe) * 1000)
      response = await this.publicGetCandles(this.extend(request, params))
      candles = this.safeList(response, 'candles', [])
    }
    return this.parseOHLCVs(candles, market, timeframe, since, limit)
  }

  override async fetchFundingRates(
    symbols: Strings = undefined,
    params: Dict = {},
  ): Promise<FundingRates> {
    await this.loadMarkets()
    symbols = this.marketSymbols(symbols, 'swap', true)
    const response = await this.publicGetMarkets(params)
    return this.parseFundingRates(this.filterByKnown(response, 'perp'), symbols)
  }

  override async fetchFundingRate(symbol: string, params: Dict = {}): Promise<FundingRate> {
    const rates = await this.fetchFundingRates([symbol], params)
    return rates[this.market(symbol).symbol] as FundingRate
  }

  /** The entries that have the field. */
  filterByKnown(entries: Dict[], key: string): Dict[] {
    const result: Dict[] = []
    for (let i = 0; i < entries.length; i++) {
      if (this.safeDict(entries[i], key) !== undefined) {
        result.push(entries[i] as Dict)
      }
    }
    return result
  }

  override async fetchFundingRateHistory(
    symbol: Str = undefined,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<FundingRateHistory[]> {
    this.checkRequiredArgument('fetchFundingRateHistory', symbol, 'symbol')
    await this.loadMarkets()
    const market = this.market(symbol)
    const request = this.extend({ symbol: market.id }, params)
    const rows = await this.readHistory('publicGetFunding', 'funding', request, since, limit)
    return this.parseFundingRateHistories(rows, market, since)
  }

  override async fetchOpenInterest(symbol: string): Promise<OpenInterest> {
    await this.loadMarkets()
    const market = this.market(symbol)
    return this.parseOpenInterest(await this.fetchEntry(market), market)
  }

  override async fetchLeverageTiers(
    symbols: Strings = undefined,
    params: Dict = {},
  ): Promise<LeverageTiers> {
    await this.loadMarkets()
    symbols = this.marketSymbols(symbols)
    const response = await this.publicGetMarkets(params)
    const traded = this.arrayConcat(
      this.filterByKnown(response, 'perp'),
      this.filterByKnown(response, 'future'),
    )
    return this.parseLeverageTiers(traded, symbols, 'market')
  }

  override async fetchMarketLeverageTiers(symbol: string): Promise<LeverageTier[]> {
    await this.loadMarkets()
    const market = this.market(symbol)
    if (!market.contract) {
      throw new BadRequest(this.id + ' fetchMarketLeverageTiers() is of contract markets only')
    }
    return this.parseMarketLeverageTiers(await this.fetchEntry(market), market)
  }

  override async fetchTradingFees(): Promise<TradingFees> {
    await this.loadMarkets(true)
    const result: Dict = {}
    for (let i = 0; i < this.symbols.length; i++) {
      const symbol = this.symbols[i] as string
      result[symbol] = await this.fetchTradingFee(symbol)
    }
    return result
  }

  override async fetchTradingFee(symbol: string): Promise<TradingFeeInterface> {
    await this.loadMarkets()
    const market = this.market(symbol)
    return {
      info: market.info,
      symbol: market.symbol,
      maker: market.maker,
      taker: market.taker,
      percentage: true,
      tierBased: false,
    }
  }

  /** Prices are whole ticks, the nearest one, half up: ticks are finer than a float's arithmetic. */
  override priceToPrecision(symbol: string, price: any): string {
    const market = this.market(symbol)
    const tick = this.safeString(market.info, 'tick_size')
    const half = Precise.stringDiv(tick, '2', 36)
    const ticks = Precise.stringDiv(Precise.stringAdd(this.numberToString(price), half), tick, 0)
    return Precise.stringMul(ticks, tick) as string
  }

  override fetchMarketsWs(): Promise<Market[]> {
    return Promise.reject(new NotSupported(this.id + ' fetchMarketsWs() is not supported'))
  }

  override fetchL3OrderBook(): Promise<OrderBook> {
    return Promise.reject(new NotSupported(this.id + ' fetchL3OrderBook() is not supported'))
  }
}
