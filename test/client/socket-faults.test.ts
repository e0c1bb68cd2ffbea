import { expect } from 'chai'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { createSocketClient, type SocketClient } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { followBook } from './follow-book.js'

const MARKET = 'cNGN-USDC'
const timing = { minBackoffMs: 5, maxBackoffMs: 20, pingEveryMs: 1_000 }
const empty = { type: 'snapshot', data: { bids: [], asks: [] }, req_id: '1' }
const data = { side: 'buy', limit_price: '1', order_open: '1', order_id: 'x', size_delta: '1' }

const say = (ws: WebSocket, frame: object): void =>
  ws.send(JSON.stringify({ channel: 'book', market: MARKET, ...frame }))

describe('socket client against a server that misbehaves', () => {
  let server: WebSocketServer
  let client: SocketClient
  let subscriptions: Record<string, unknown>[]
  let connections: WebSocket[]

  /** Answers the nth subscription as told. */
  async function serve(
    onSubscribe: (ws: WebSocket, nth: number) => void,
    pingEveryMs = timing.pingEveryMs,
  ): Promise<void> {
    subscriptions = []
    connections = []
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    server.on('connection', (ws) => {
      connections.push(ws)
      ws.on('message', (text: Buffer) => {
        const frame = JSON.parse(text.toString()) as Record<string, unknown>
        if (frame.op !== 'subscribe') return
        subscriptions.push(frame)
        onSubscribe(ws, subscriptions.length)
      })
    })
    await once(server, 'listening')
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    client = createSocketClient({ url, WebSocket, timing: { ...timing, pingEveryMs } })
  }
  afterEach(() => {
    client.close()
    for (const ws of connections) ws.terminate()
    server.close()
  })

  it('ignores what it has seen and asks again for what it has missed (STR-006)', async () => {
    await serve((ws, nth) => {
      if (nth === 1) say(ws, { ...empty, seq: 5 })
      for (const seq of nth === 1 ? [6, 6, 8] : [7, 8]) {
        say(ws, { type: 'update', seq, prev_seq: seq - 1, data })
      }
    })
    const { updates, snapshots } = followBook(client, MARKET)
    await eventually(() => updates.length === 3)
    expect(updates).to.deep.equal([6, 7, 8])
    expect(snapshots).to.deep.equal([5])
    expect(subscriptions.map((frame) => frame.since_seq)).to.deep.equal([undefined, 6])
  })

  it('hands on nothing that arrives after it was closed', async () => {
    let isGone = false
    await serve((ws) => {
      for (const seq of [5, 6]) say(ws, { ...empty, seq })
      ws.on('close', () => (isGone = true))
    })
    const seen: number[] = []
    client.subscribe('book', MARKET, {
      onSnapshot(_, seq) {
        seen.push(seq)
        client.close()
      },
      onUpdate() {},
    })
    await eventually(() => isGone)
    expect(seen).to.deep.equal([5])
  })

  it('starts over from the snapshot that follows resume_too_old', async () => {
    await serve((ws, nth) => {
      if (nth === 2) say(ws, { type: 'error', code: 'resume_too_old', req_id: '1' })
      say(ws, { ...empty, seq: nth })
      if (nth === 1) ws.close(1001)
    })
    const { snapshots } = followBook(client, MARKET)
    await eventually(() => snapshots.length === 2)
    expect(snapshots).to.deep.equal([1, 2])
  })

  it('subscribes again after stream_reset', async () => {
    await serve((ws, nth) => {
      if (nth === 1) {
        say(ws, { ...empty, seq: 5 })
        say(ws, { type: 'error', code: 'stream_reset', req_id: '1' })
      } else say(ws, { type: 'update', seq: 6, prev_seq: 5, data })
    })
    const { updates } = followBook(client, MARKET)
    await eventually(() => updates.length === 1)
    expect(subscriptions[1]).to.include({ since_seq: 5 })
  })

  it('says how long nothing has arrived, from what arrived last', async () => {
    await serve((ws) => say(ws, { ...empty, seq: 5 }))
    const { snapshots } = followBook(client, MARKET)
    await eventually(() => snapshots.length === 1)
    const first = client.quietMs()
    await eventually(() => client.quietMs() > first + 20)
    connections.at(-1)?.send(JSON.stringify({ type: 'pong' }))
    await eventually(() => client.quietMs() < 20)
  })

  it('connects anew when nothing arrives any more', async () => {
    await serve((ws) => say(ws, { ...empty, seq: 5 }), 20)
    followBook(client, MARKET)
    await eventually(() => connections.length >= 2)
    expect(subscriptions.length).to.be.greaterThan(0)
  })
})
