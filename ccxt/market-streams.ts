import {
  ChecksumError,
  type Dict,
  type Int,
  type OHLCV,
  type OrderBook,
  type Str,
  type Strings,
  type Ticker,
  type Tickers,
  type Trade,
} from 'ccxt'
import { Recent } from './recent.js'
import { VenueSocket } from './socket.js'

/** Streams that need no signature. */

/** Levels of each side that a checksum covers. */
const CHECKSUM_LEVELS = 10

export abstract class VenueMarketStreams extends VenueSocket {
  override async watchOrderBook(
    symbol: string,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<OrderBook> {
    await this.prepareSocket()
    const market = this.market(symbol)
    const stream = { channel: 'levels', market: market.id, depth: this.levelDepth(limit) }
    const book = await this.watchStream(this.extend(stream, params))
    return book.limit()
  }

  handleLevels(client: any, message: Dict) {
    const name = this.streamName(message)
    const market = this.safeMarket(message.market)
    const texts = this.levelTexts(name)
    if (message.type === 'snapshot') {
      texts.bids = {}
      texts.asks = {}
    }
    this.mergeLevels(texts.bids, message.data.bids)
    this.mergeLevels(texts.asks, message.data.asks)
    const bids = this.sortedLevels(texts.bids, true)
    const asks = this.sortedLevels(texts.asks, false)
    if (this.safeBool(this.options, 'checksum', true) && !this.fits(bids, asks, message)) {
      this.dropStream(client, message)
      const error = new ChecksumError(this.id + ' ' + name + ' is not as the venue has it')
      client.reject(error, name)
      return
    }
    const timestamp = this.parse8601(
      this.safeString(message, 'ts', this.iso8601(this.milliseconds())),
    )
    const snapshot = this.parseOrderBook({ bids, asks }, market.symbol, timestamp)
    const book = this.orderBook(this.extend(snapshot, { nonce: message.seq }), message.depth)
    this.orderbooks[market.symbol] = book
    client.resolve(book, name)
  }

  /** Prices and sizes of a stream's levels as the venue writes them: its checksum is over these. */
  levelTexts(name: string): Dict {
    const all = this.safeDict(this.options, 'levelTexts', {})
    if (all[name] === undefined) {
      all[name] = { bids: {}, asks: {} }
    }
    this.options.levelTexts = all
    return all[name]
  }

  mergeLevels(side: Dict, levels: Dict[]) {
    for (let i = 0; i < levels.length; i++) {
      const { price, size } = levels[i] as Dict
      if (size === '0') {
        delete side[price]
      } else {
        side[price] = size
      }
    }
  }

  /** Best first, by their exact prices. */
  sortedLevels(side: Dict, descending: boolean): string[][] {
    const scaled: Dict[] = []
    const prices = Object.keys(side)
    for (let i = 0; i < prices.length; i++) {
      const price = prices[i] as string
      const key = this.atScale(price, '1000000000000000000').padStart(40, '0')
      scaled.push({ key, level: [price, side[price]] })
    }
    const result: string[][] = []
    const sorted = this.sortBy(scaled, 'key', descending)
    for (let i = 0; i < sorted.length; i++) {
      result.push((sorted[i] as Dict).level)
    }
    return result
  }

  fits(bids: string[][], asks: string[][], message: Dict): boolean {
    const best = this.arrayConcat(
      this.arraySlice(bids, 0, CHECKSUM_LEVELS),
      this.arraySlice(asks, 0, CHECKSUM_LEVELS),
    )
    const texts: string[] = []
    for (let i = 0; i < best.length; i++) {
      texts.push(best[i].join(':'))
    }
    return this.crc32(texts.join(','), false) === message.data.checksum
  }

  override async watchTicker(symbol: string, params: Dict = {}): Promise<Ticker> {
    await this.prepareSocket()
    const market = this.market(symbol)
    return await this.watchStream(this.extend({ channel: 'ticker', market: market.id }, params))
  }

  /** The next ticker of any of the symbols; of all markets without symbols. */
  override async watchTickers(symbols: Strings = undefined, params: Dict = {}): Promise<Tickers> {
    await this.prepareSocket()
    const wanted = this.marketSymbols(symbols) ?? this.symbols
    const streams: Promise<Ticker>[] = []
    for (let i = 0; i < wanted.length; i++) {
      streams.push(this.watchTicker(wanted[i] as string, params))
    }
    const ticker = await Promise.race(streams)
    if (this.newUpdates) {
      return { [ticker.symbol as string]: ticker }
    }
    return this.filterByArray(this.tickers, 'symbol', wanted) as Tickers
  }

  handleTicker(client: any, message: Dict) {
    const { data, market, ts } = message
    const ticker = this.parseTicker(this.extend(data, { market, ts: this.tickerTime(message, ts) }))
    this.tickers[ticker.symbol as string] = ticker
    client.resolve(ticker, this.streamName(message))
  }

  /** The number of a ticker frame is the clock of the venue in milliseconds. */
  tickerTime(message: Dict, ts: Str): Str {
    return ts === undefined ? this.iso8601(message.seq) : ts
  }

  override async watchTrades(
    symbol: string,
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<Trade[]> {
    await this.prepareSocket()
    const market = this.market(symbol)
    const trades = await this.watchStream(
      this.extend({ channel: 'trades', market: market.id }, params),
    )
    const most = this.newUpdates ? trades.getLimit(market.symbol, limit) : limit
    return this.filterBySinceLimit(trades, since, most, 'timestamp', true) as Trade[]
  }

  handleTrades(client: any, message: Dict) {
    const market = this.safeMarket(message.market)
    const cache = this.cacheOf(this.trades, market.symbol, 'tradesLimit')
    const rows = this.rowsOldestFirst(message)
    for (let i = 0; i < rows.length; i++) {
      if (!this.safeBool(rows[i], 'reversed', false)) {
        cache.append(this.parseTrade(rows[i] as Dict, market))
      }
    }
    client.resolve(cache, this.streamName(message))
  }

  override async watchOHLCV(
    symbol: string,
    timeframe: string = '1m',
    since: Int = undefined,
    limit: Int = undefined,
    params: Dict = {},
  ): Promise<OHLCV[]> {
    await this.prepareSocket()
    const market = this.market(symbol)
    const interval = this.safeString(this.timeframes, timeframe, timeframe)
    const stream = { channel: 'candles', market: market.id, interval }
    const candles = await this.watchStream(this.extend(stream, params))
    const most = this.newUpdates ? candles.getLimit(undefined, limit) : limit
    return this.filterBySinceLimit(candles, since, most, 0, true) as OHLCV[]
  }

  handleCandles(client: any, message: Dict) {
    const market = this.safeMarket(message.market)
    const ofMarket = this.safeDict(this.ohlcvs, market.symbol, {})
    this.ohlcvs[market.symbol] = ofMarket
    if (ofMarket[message.interval] === undefined) {
      ofMarket[message.interval] = new Recent(this.safeInteger(this.options, 'OHLCVLimit', 1000), 0)
    }
    const cache = ofMarket[message.interval]
    const rows = message.type === 'snapshot' ? message.data : [message.data]
    for (let i = 0; i < rows.length; i++) {
      if (this.safeInteger(rows[i], 'trade_count') !== 0) {
        cache.append(this.parseOHLCV(rows[i]))
      }
    }
    client.resolve(cache, this.streamName(message))
  }
}
