import {
  AuthenticationError,
  ExchangeError,
  NetworkError,
  type Dict,
  type Int,
  type int,
  type Str,
} from 'ccxt'
import { Recent } from './recent.js'
import { Venue } from './venue.js'

/** The one connection: subscriptions, the proof of the owner, and where each stream stands. */

/** Channels whose numbers are those of the market's changes, as `min_seq` of reads has them. */
const CHANNELS_WITH_SEQ = ['trades', 'orders', 'levels']

export abstract class VenueSocket extends Venue {
  /** The connections whose `send` does not reject. */
  private readonly guarded = new WeakSet<object>()

  /** Takes a frame of a channel that is new. */
  abstract handleData(client: any, message: Dict): void

  socketUrl(): string {
    const api = this.urls['api']
    return this.safeString(api, 'ws', api['rest'].replace('http', 'ws') + '/v1/ws')
  }

  /** The number of the frame that each stream has applied last, by its name, and of private ones by market. */
  seqs(): Dict {
    if (this.safeDict(this.options, 'seqs') === undefined) {
      this.options.seqs = {}
    }
    return this.options.seqs
  }

  /**
   * A frame that is sent while its connection ends fails that connection. CCXT sends subscriptions without looking at what becomes of
   * them: the rejection would end the program.
   */
  override client(url: string): any {
    const client: any = super.client(url)
    if (!this.guarded.has(client)) {
      this.guarded.add(client)
      const send = client.send.bind(client)
      client.send = async (message: any) => {
        try {
          await send(message)
        } catch (error) {
          client.onError(error)
        }
      }
    }
    return client
  }

  async prepareSocket() {
    await this.loadMarkets()
    if (this.socketUrl().startsWith('ws://')) {
      // CCXT connects without TLS only by an agent that was loaded before.
      await this.loadHttpProxyAgent()
    }
  }

  /** `levels:cNGN-USDC:25`: the frames of a stream name its channel, its market, and its depth or interval. */
  streamName(frame: Dict): string {
    const parts = [frame.channel]
    const detail = this.safeString2(frame, 'depth', 'interval')
    if (frame.market !== undefined) {
      parts.push(frame.market)
    }
    if (detail !== undefined) {
      parts.push(detail)
    }
    return parts.join(':')
  }

  /** Follows a public stream; resolves with the next frame of it. */
  async watchStream(stream: Dict) {
    const name = this.streamName(stream)
    const request = this.extend({ op: 'subscribe', req_id: name }, stream)
    const seq = this.safeInteger(this.seqs(), name)
    if (seq !== undefined) {
      request.since_seq = seq
    }
    return await this.watch(this.socketUrl(), name, request, name, stream)
  }

  /** Follows a private channel of all markets; resolves with the next frame of it, or of a symbol. */
  async watchOwn(channel: string, symbol: Str, params: Dict = {}) {
    await this.prepareSocket()
    await this.loadAccounts()
    await this.authenticate()
    const name = symbol === undefined ? channel : channel + ':' + symbol
    const request: Dict = this.extend({ op: 'subscribe', channel, req_id: channel }, params)
    const since = this.safeDict(this.seqs(), channel)
    if (since !== undefined && channel !== 'balances') {
      request.since = since
    }
    return await this.watch(this.socketUrl(), name, request, channel)
  }

  /** Proves the owner to this connection, once. */
  async authenticate() {
    const url = this.socketUrl()
    const client = this.client(url)
    const future = client.future('authenticated')
    if (client.subscriptions['authenticated'] === undefined) {
      const frame = this.extend(
        { op: 'auth', req_id: 'authenticated' },
        this.signFrame('socket', 240),
      )
      const name = 'authenticated'
      this.watch(url, name, frame, name).catch((error: unknown) => client.reject(error, name))
    }
    return await future
  }

  /** Ends a subscription whose state is wrong or gone; the next call begins it again with a snapshot. */
  dropStream(client: any, message: Dict) {
    const name = this.streamName(message)
    const { channel, market, depth, interval } = message
    delete client.subscriptions[name]
    delete this.seqs()[name]
    const frame = this.json({ op: 'unsubscribe', channel, market, depth, interval })
    client.send(frame).catch((error: unknown) => client.onError(error))
  }

  cacheOf(caches: Dict, key: string, limit: string): Recent {
    if (caches[key] === undefined) {
      caches[key] = new Recent(this.safeInteger(this.options, limit, 1000))
    }
    return caches[key]
  }

  /** A snapshot has several rows, newest first; an update is one. */
  rowsOldestFirst(message: Dict): Dict[] {
    if (message.type === 'snapshot') {
      return this.arraySlice(message.data, 0).reverse()
    }
    return [message.data]
  }

  override ping(_client: any): any {
    return { op: 'ping' }
  }

  override handleMessage(client: any, message: Dict) {
    const type = this.safeString(message, 'type')
    if (type === 'pong') {
      client.lastPong = this.milliseconds()
    } else if (type === 'error') {
      this.handleErrorFrame(client, message)
    } else if (type === 'ack' && message.message === 'authenticated') {
      client.futures['authenticated'].resolve(true)
    } else if (type === 'snapshot' || (type === 'update' && this.isNext(client, message))) {
      this.noteFrame(message)
      this.handleData(client, message)
    }
  }

  /** Private channels are one stream for all markets, numbered in each. */
  isPrivate(channel: string): boolean {
    return this.inArray(channel, ['orders', 'fills', 'balances'])
  }

  lastSeq(message: Dict): Int {
    if (this.isPrivate(message.channel)) {
      const ofMarkets = this.safeDict(this.seqs(), message.channel, {})
      return this.safeInteger(ofMarkets, this.safeString(message, 'market', ''))
    }
    return this.safeInteger(this.seqs(), this.streamName(message))
  }

  noteFrame(message: Dict) {
    const seqs = this.seqs()
    const { channel, seq } = message
    const market = this.safeString(message, 'market', '')
    if (this.isPrivate(channel)) {
      seqs[channel] = this.extend(this.safeDict(seqs, channel, {}), { [market]: seq })
    } else {
      seqs[this.streamName(message)] = seq
    }
    if (this.inArray(channel, CHANNELS_WITH_SEQ)) {
      this.noteSeen(market, seq as int)
    }
  }

  /** False of a frame that was applied before. After a gap the connection is replaced, and the stream goes on from the last one. */
  isNext(client: any, message: Dict): boolean {
    const last = this.lastSeq(message)
    if (last !== undefined && message.seq <= last) {
      return false
    }
    if (last !== undefined && message.prev_seq > last) {
      client.onError(new NetworkError(this.id + ' missed frames of ' + this.streamName(message)))
      client.close()
      return false
    }
    return true
  }

  handleErrorFrame(client: any, message: Dict) {
    const code = this.safeString(message, 'code', '')
    if (code === 'resume_too_old' || code === 'slow_consumer') {
      // A snapshot follows, or the end of the connection.
      return
    }
    const name = this.safeString(message, 'req_id', this.streamName(message))
    const errors = this.exceptions['ws']['exact']
    const ErrorClass = this.safeValue(errors, code, ExchangeError)
    const error = new ErrorClass(
      this.id + ' ' + code + ' ' + this.safeString(message, 'message', ''),
    )
    if (error instanceof AuthenticationError) {
      delete client.subscriptions['authenticated']
    }
    delete client.subscriptions[name]
    const waiting = Object.keys(client.futures)
    for (let i = 0; i < waiting.length; i++) {
      const one = waiting[i] as string
      if (one === name || one.startsWith(name + ':')) {
        client.reject(error, one)
      }
    }
  }
}
