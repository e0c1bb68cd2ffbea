import { WebSocket } from 'ws'
import type { Devnet } from '../../support/venue.js'
import { until, type Json } from './client.js'

export interface Frame extends Json {
  readonly type: string
  readonly channel: string
  readonly market: string
  readonly seq: number
  readonly prev_seq: number
  readonly ts: string
  readonly data: Json
  readonly code: string
  readonly message: string
  readonly req_id: string
}

/** A socket that keeps every frame it was sent. */
export interface Listener {
  readonly frames: readonly Frame[]
  readonly send: (frame: object | string) => void
  /** The first frame that satisfies the condition, waited for if need be. */
  readonly next: (condition: (frame: Frame) => boolean) => Promise<Frame>
  readonly updates: (channel: string) => Frame[]
  /** Resolves when everything that was sent before has been answered. */
  readonly settled: () => Promise<void>
  readonly close: () => void
  /** Resolves with the close code when the connection is over. */
  readonly closed: Promise<number>
}

let pings = 0

/** Opens `/v1/ws` and sends the frames. */
export async function listen(devnet: Devnet, ...opening: object[]): Promise<Listener> {
  const url = new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws'))
  const socket = new WebSocket(url)
  const frames: Frame[] = []
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Frame))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))

  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  const send = (frame: object | string) =>
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  const next = async (condition: (frame: Frame) => boolean): Promise<Frame> => {
    const find = () => Promise.resolve(frames.find(condition))
    return (await until(find, (frame) => frame !== undefined)) as Frame
  }
  for (const frame of opening) send(frame)
  return {
    frames,
    send,
    next,
    updates: (channel) => frames.filter((it) => it.type === 'update' && it.channel === channel),
    settled: async () => {
      pings += 1
      const req_id = `settled-${pings}`
      send({ op: 'ping', req_id })
      await next((it) => it.req_id === req_id)
    },
    close: () => socket.close(),
    closed,
  }
}

export const subscribe = (channel: string, market: string, more: Json = {}) => ({
  op: 'subscribe',
  channel,
  market,
  ...more,
})
