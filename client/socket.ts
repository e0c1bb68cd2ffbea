import type { BookDelta, BookSnapshot, TradeRecord } from './records.js'
import { createReconnectingSocket, type Timing } from './reconnecting-socket.js'
import type { WebSocketConstructor } from './web-socket.js'

/** What each public channel delivers. */
export interface ChannelData {
  readonly book: { readonly snapshot: BookSnapshot; readonly update: BookDelta }
  readonly trades: { readonly snapshot: readonly TradeRecord[]; readonly update: TradeRecord }
}

/** Receives one channel of one market: a snapshot first, then every later change once and in order. */
export interface ChannelHandler<Channel extends keyof ChannelData> {
  /** Also later, whenever the venue cannot say what was missed: forget what was there before. */
  onSnapshot(data: ChannelData[Channel]['snapshot'], seq: number): void
  onUpdate(data: ChannelData[Channel]['update'], seq: number): void
  /** The venue will not serve this subscription, for example `unknown_market`; it is over. */
  onRefused?(code: string, message: string): void
}

export interface SocketClient {
  /** Follows a channel through reconnects until the returned function is called. One handler per channel and market. */
  subscribe<Channel extends keyof ChannelData>(
    channel: Channel,
    market: string,
    handler: ChannelHandler<Channel>,
  ): () => void
  isOpen(): boolean
  close(): void
}

export interface SocketClientOptions {
  /** For example `ws://127.0.0.1:8080/v1/ws`. */
  readonly url: string
  /** The platform's own unless given. */
  readonly WebSocket?: WebSocketConstructor
  readonly timing?: Partial<Timing>
}

interface Stream {
  readonly id: string
  readonly channel: keyof ChannelData
  /** As the caller named it; frames name the market canonically. */
  readonly market: string
  readonly handler: ChannelHandler<never>
  canonical: string | undefined
  /** Sequence of what was applied last; undefined before the first snapshot. */
  seq: number | undefined
}

interface ServerFrame {
  readonly type: string
  readonly channel?: string
  readonly market?: string
  readonly seq?: number
  readonly prev_seq?: number
  readonly data?: never
  readonly code?: string
  readonly message?: string
  readonly req_id?: string
}

const RESET_DELAY_MS = 500

/**
 * The venue's WebSocket: reconnects, subscribes again from the last applied sequence, drops what it has seen, and
 * asks again for what it notices to have missed.
 */
export function createSocketClient(options: SocketClientOptions): SocketClient {
  const streams = new Map<string, Stream>()
  let streamCount = 0
  const socket = createReconnectingSocket({
    ...options,
    onOpen: () => streams.forEach(request),
    onText: (text) => onFrame(JSON.parse(text) as ServerFrame),
  })

  function request({ id, channel, market, seq }: Stream): void {
    socket.send({ op: 'subscribe', channel, market, since_seq: seq, req_id: id })
  }

  function onFrame(frame: ServerFrame): void {
    const stream = streamOf([...streams.values()], frame)
    if (stream === undefined) return
    if (frame.type === 'snapshot') onSnapshot(stream, frame)
    else if (frame.type === 'update') onUpdate(stream, frame)
    else if (frame.type === 'error') onError(stream, frame)
  }

  function onSnapshot(stream: Stream, { market, seq = 0, data }: ServerFrame): void {
    stream.canonical = market
    stream.seq = seq
    stream.handler.onSnapshot(data as never, seq)
  }

  function onUpdate(stream: Stream, { seq = 0, prev_seq = 0, data }: ServerFrame): void {
    if (stream.seq === undefined || seq <= stream.seq) return
    // Something was lost on the way: a new connection resumes behind what was applied.
    if (prev_seq > stream.seq) return socket.reconnect()
    stream.seq = seq
    stream.handler.onUpdate(data as never, seq)
  }

  function onError(stream: Stream, { code = '', message = '' }: ServerFrame): void {
    if (code === 'resume_too_old' || code === 'slow_consumer') return
    if (code === 'stream_reset' || code === 'snapshot_failed') {
      setTimeout(() => streams.has(stream.id) && request(stream), RESET_DELAY_MS)
      return
    }
    streams.delete(stream.id)
    stream.handler.onRefused?.(code, message)
  }

  function subscribe<Channel extends keyof ChannelData>(
    channel: Channel,
    market: string,
    handler: ChannelHandler<Channel>,
  ): () => void {
    if ([...streams.values()].some((one) => one.channel === channel && one.market === market)) {
      throw new Error(`${channel} of ${market} is followed already`)
    }
    const id = `${++streamCount}`
    const stream = { id, channel, market, handler, canonical: undefined, seq: undefined }
    streams.set(id, stream)
    request(stream)
    return () => {
      if (!streams.delete(id)) return
      socket.send({ op: 'unsubscribe', channel, market })
    }
  }

  return { subscribe, isOpen: () => socket.isOpen(), close: () => socket.close() }
}

/** By the request's id where the frame answers one, else by what it is about. */
function streamOf(
  streams: readonly Stream[],
  { req_id, channel, market }: ServerFrame,
): Stream | undefined {
  return (
    streams.find((one) => one.id === req_id) ??
    streams.find((one) => one.channel === channel && one.canonical === market)
  )
}
