import { once } from 'node:events'
import { WebSocket, type ClientOptions } from 'ws'
import { assertDocumented } from './documented-frames.js'
import { eventually } from './eventually.js'

/** Every frame up to this size is held to the document; larger ones are of histories that no venue would accept. */
const CHECKED_BYTES = 64 * 1024

/** A frame as any client sees it. */
export interface Frame {
  readonly type: string
  readonly channel?: string
  readonly market?: string
  readonly seq?: number
  readonly prev_seq?: number
  readonly code?: string
  readonly message?: string
  readonly req_id?: string
  readonly lease_id?: string
  readonly data?: unknown
}

export interface SocketClient {
  readonly ws: WebSocket
  /** Every frame received so far, as text and read. */
  readonly texts: string[]
  readonly frames: Frame[]
  send(frame: object | string): void
  /** Resolves with the first frame, from the `from`th on, that suits. */
  next(suits: (frame: Frame) => boolean, from?: number): Promise<Frame>
  /** Resolves with the closing code. */
  closed: Promise<number>
}

/** Connects a client that keeps whatever it receives. */
export async function connectSocket(
  url: string,
  options: ClientOptions = {},
): Promise<SocketClient> {
  const ws = new WebSocket(url, options)
  const texts: string[] = []
  const frames: Frame[] = []
  ws.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Frame
    texts.push(data.toString())
    frames.push(frame)
    if (data.length <= CHECKED_BYTES) assertDocumented(frame)
  })
  const closed = new Promise<number>((resolve) => ws.once('close', resolve))
  await once(ws, 'open')
  ws.on('error', () => undefined)
  return {
    ws,
    texts,
    frames,
    closed,
    send: (frame) => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async next(suits, from = 0) {
      await eventually(() => frames.slice(from).some(suits))
      return frames.slice(from).find(suits) as Frame
    },
  }
}
