import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createNetServer, type AddressInfo, type Socket } from 'node:net'
import { WebSocket as Client, WebSocketServer, type WebSocket } from 'ws'
import { relayUpgrades, type UpgradeRelay } from '../../api-gateway/ws-upgrade.js'
import { closeServer, createHttpServer, listen } from '../../runtime/http/server.js'
import { eventually } from '../support/eventually.js'
import { startRig } from '../support/fan-out-rig.js'
import { freePort } from '../support/free-port.js'
import { silentLog } from '../support/intake-stage.js'

describe('the relay of /v1/ws', () => {
  let gateway: Server
  let relay: UpgradeRelay
  let port: number
  let fanout: Server
  let fanoutUrl: URL
  let sockets: WebSocketServer
  const heads: Record<string, string | string[] | undefined>[] = []

  beforeEach(async () => {
    heads.length = 0
    fanout = createServer()
    sockets = new WebSocketServer({ server: fanout, path: '/v1/ws', perMessageDeflate: false })
    sockets.on('connection', (_socket, request) => {
      heads.push({ ...request.headers, url: request.url })
    })
    const fanoutPort = await listen(fanout, 0, '127.0.0.1')
    gateway = createHttpServer((_request, response) => void response.end('rest'))
    fanoutUrl = new URL(`ws://127.0.0.1:${fanoutPort}`)
    relay = relayUpgrades({
      server: gateway,
      fanoutUrls: [fanoutUrl],
      trustedProxies: 0,
      log: silentLog,
    })
    port = await listen(gateway, 0, '127.0.0.1')
  })

  afterEach(async () => {
    await relay.stop()
    for (const socket of sockets.clients) socket.terminate()
    await closeServer(gateway, 0)
    if (fanout.listening) await closeServer(fanout, 0)
  })

  const opened = async (path = '/v1/ws', headers = {}): Promise<WebSocket> => {
    const client = new Client(`ws://127.0.0.1:${port}${path}`, { headers })
    await new Promise((resolve, reject) => client.on('open', resolve).on('error', reject))
    return client
  }
  const closed = (client: WebSocket): Promise<number> =>
    new Promise((resolve) => client.on('close', resolve))
  /** Sends an upgrade by hand and returns what comes back until the connection closes. */
  const rawUpgrade = (path: string, at = port): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      const socket = connect(at, '127.0.0.1')
      socket.on('data', (chunk) => (text += chunk.toString()))
      socket.on('close', () => resolve(text))
      socket.write(headOf(path))
    })
  const headOf = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`

  it('carries frames both ways and tells the fan-out who is asking', async () => {
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)))
    const client = await opened('/v1/ws?x=1', { 'x-forwarded-for': '10.0.0.9' })
    const echo = new Promise((resolve) => client.on('message', resolve))
    client.send('{"op":"ping"}')
    expect(String(await echo)).to.equal('{"op":"ping"}')
    expect(heads[0]).to.include({ url: '/v1/ws?x=1', 'x-forwarded-for': '127.0.0.1' })
    client.terminate()
  })

  it('answers 503 when a fan-out accepts the connection and then stays silent', async () => {
    const silent = createNetServer((socket) => socket.on('error', () => undefined))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port: silentPort } = silent.address() as AddressInfo
    const server = createHttpServer((_request, response) => void response.end())
    const fanoutUrls = [new URL(`ws://127.0.0.1:${silentPort}`)]
    const options = { server, fanoutUrls, trustedProxies: 0, log: silentLog, handshakeMs: 50 }
    const other = relayUpgrades(options)
    const answer = await rawUpgrade('/v1/ws', await listen(server, 0, '127.0.0.1'))
    expect(answer).to.match(/^HTTP\/1\.1 503 /)
    expect(answer).to.include('fanout_unavailable')
    await other.stop()
    await closeServer(server, 0)
    silent.close()
  })

  it('refuses an upgrade with more headers than are read, and passes on all others', async () => {
    const headers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, '1']))
    const client = await opened('/v1/ws', headers(90))
    expect(heads[0]).to.include({ a89: '1' })
    client.terminate()
    const refused = await opened('/v1/ws', headers(101)).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Error).with.property('message').that.includes('431')
    expect(heads).to.have.length(1)
  })

  it('passes on how the fan-out closes, and that the client is gone', async () => {
    const client = await opened()
    for (const socket of sockets.clients) socket.close(1001, 'restart')
    expect(await closed(client)).to.equal(1001)

    const leaving = await opened()
    leaving.terminate()
    await eventually(() => sockets.clients.size === 0)
  })

  it('passes on a refusal of the fan-out', async () => {
    const answer = await rawUpgrade('/v1/ws')
    expect(answer).to.match(/^HTTP\/1.1 400 /)
  })

  it('gives connections to the workers in turn, passing over one that is away', async () => {
    const counts = [0, 0]
    const workers = await Promise.all(
      counts.map(async (_, i) => {
        const http = createServer()
        const wss = new WebSocketServer({ server: http })
        wss.on('connection', () => (counts[i] = (counts[i] ?? 0) + 1))
        const workerPort = await listen(http, 0, '127.0.0.1')
        return { http, wss, url: new URL(`ws://127.0.0.1:${workerPort}`) }
      }),
    )
    const second = createHttpServer((_request, response) => void response.end('rest'))
    const away = new URL(`ws://127.0.0.1:${await freePort()}`)
    const fanoutUrls = [...workers.map(({ url }) => url), away]
    const relaying = relayUpgrades({
      server: second,
      fanoutUrls,
      trustedProxies: 0,
      log: silentLog,
    })
    const secondPort = await listen(second, 0, '127.0.0.1')
    for (let n = 0; n < 9; n += 1) {
      const client = new Client(`ws://127.0.0.1:${secondPort}/v1/ws`)
      await new Promise((resolve, reject) => client.on('open', resolve).on('error', reject))
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(9)
    expect(Math.min(...counts)).to.equal(3)
    await relaying.stop()
    await closeServer(second, 0)
    for (const { http, wss } of workers) {
      for (const socket of wss.clients) socket.terminate()
      await closeServer(http, 0)
    }
  })

  it('answers 503 in JSON while the fan-out is away', async () => {
    await closeServer(fanout, 0)
    const answer = await rawUpgrade('/v1/ws')
    expect(answer).to.match(/^HTTP\/1.1 503 /)
    expect(answer).to.match(/\r\nRetry-After: 1\r\n[^]*\r\n\r\n\{"error":/)
  })

  it('answers 404 in JSON to an upgrade of another path', async () => {
    for (const path of ['/', '/v1/ws/x', '/v1/orders']) {
      expect(await rawUpgrade(path)).to.match(/^HTTP\/1.1 404 [^]*\r\n\r\n\{"error":/)
    }
  })

  it('pauses the fan-out while the client does not read, and loses nothing', async function () {
    const frame = 'x'.repeat(256 * 1024)
    const frames = 200
    let source: Socket | undefined
    fanout.on('upgrade', (_request, socket: Socket) => (source = socket))
    sockets.on('connection', (socket) => {
      for (let i = 0; i < frames; i += 1) socket.send(frame)
    })
    const client = new Client(`ws://127.0.0.1:${port}/v1/ws`)
    let received = 0
    client.on('message', (data: Buffer) => (received += data.length))
    await new Promise((resolve) => client.on('open', resolve))
    client.pause()
    // Most of the 50 MiB stays with the sender: what lies between is kernel buffers and one high-water mark a side.
    let waiting = -1
    await eventually(() => {
      const before = waiting
      waiting = source?.writableLength ?? 0
      return waiting > 0 && waiting === before
    })
    expect(waiting).to.be.greaterThan(20 * 1024 * 1024)
    client.resume()
    await eventually(() => received === frames * frame.length)
    client.terminate()
  })

  /** A second gateway whose only worker listens on a port. */
  const gatewayTo = async (workerPort: number) => {
    const second = createHttpServer((_request, response) => void response.end('rest'))
    const fanoutUrls = [new URL(`ws://127.0.0.1:${workerPort}`)]
    const relaying = relayUpgrades({
      server: second,
      fanoutUrls,
      trustedProxies: 0,
      log: silentLog,
    })
    return { second, relaying, at: await listen(second, 0, '127.0.0.1') }
  }

  it('has the fan-out close its connections with 1001 when it stops', async () => {
    const rig = await startRig()
    const { second, relaying, at } = await gatewayTo(rig.fanOut().port)
    const client = new Client(`ws://127.0.0.1:${at}/v1/ws`)
    await new Promise((resolve, reject) => client.on('open', resolve).on('error', reject))
    const code = closed(client)
    await relaying.stop()
    expect(await code).to.equal(1001)
    await eventually(() => rig.fanOut().clients() === 0)
    await closeServer(second, 0)
    await rig.end()
  })

  it('passes on as many headers as it reads to a fan-out that takes them', async () => {
    const rig = await startRig()
    const { second, relaying, at } = await gatewayTo(rig.fanOut().port)
    const firstLine = (headers: number): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(at, '127.0.0.1')
        socket.once('data', (chunk) => {
          resolve(chunk.toString().split('\r\n', 1)[0] ?? '')
          socket.destroy()
        })
        const own = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
        const more = Array.from({ length: headers - 5 }, (_, n) => `a${n}: 1\r\n`)
        socket.write(headOf('/v1/ws', own + more.join('')))
      })
    expect(await firstLine(100)).to.equal('HTTP/1.1 101 Switching Protocols')
    expect(await firstLine(101)).to.match(/^HTTP\/1.1 431 /)
    await relaying.stop()
    await closeServer(second, 0)
    await rig.end()
  })

  it('cuts a connection that the fan-out does not end when it stops', async () => {
    const heard: Socket[] = []
    const deaf = createNetServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', () => heard.push(socket))
    })
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve))
    const { second, relaying, at } = await gatewayTo((deaf.address() as AddressInfo).port)
    const client = connect(at, '127.0.0.1')
    client.on('error', () => undefined)
    const cut = new Promise((resolve) => client.on('close', resolve))
    client.write(headOf('/v1/ws'))
    await eventually(() => heard.length > 0)
    await relaying.stop()
    await cut
    for (const socket of heard) socket.destroy()
    await closeServer(second, 0)
    deaf.close()
  })

  it('leaves ordinary requests alone', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/ws`)
    expect(await response.text()).to.equal('rest')
  })
})
