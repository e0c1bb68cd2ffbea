import { expect } from 'chai'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { createAdmission } from '../../../actors/ws-fanout/admission.js'
import { SESSION_LIMITS } from '../../../actors/ws-fanout/limits.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { busyHistory } from '../../support/random-history.js'
import { CONTINUATION, FIN, openRaw, PING, rawFrame, TEXT, upgradeHead } from './raw-socket.js'

const MARKET = 'cNGN-USDC'
const subscribe = { op: 'subscribe', channel: 'book', market: MARKET }
const ping = JSON.stringify({ op: 'ping' })

describe('ws-fanout against hostile clients', () => {
  let rig: FanOutRig
  afterEach(() => rig.end())

  /** A well-behaved client is served all the while. */
  async function neighbourIsServed(): Promise<void> {
    const neighbour = await rig.connect()
    neighbour.send({ op: 'ping' })
    await neighbour.next(({ type }) => type === 'pong')
  }

  const broken: [what: string, code: number, frames: () => Buffer[]][] = [
    [
      'an unmasked frame',
      1002,
      () => [rawFrame({ first: FIN | TEXT, payload: ping, isMasked: false })],
    ],
    ['a reserved bit', 1002, () => [rawFrame({ first: FIN | 0x40 | TEXT, payload: ping })]],
    ['a reserved opcode', 1002, () => [rawFrame({ first: FIN | 0x3, payload: ping })]],
    ['a ping in pieces', 1002, () => [rawFrame({ first: PING, payload: 'x' })]],
    [
      'a ping of 126 bytes',
      1002,
      () => [rawFrame({ first: FIN | PING, payload: 'x'.repeat(126) })],
    ],
    ['a continuation of nothing', 1002, () => [rawFrame({ first: FIN | CONTINUATION })]],
    [
      'invalid UTF-8 that is split across fragments',
      1007,
      () => [
        rawFrame({ first: TEXT, payload: Buffer.from([0x22, 0xe2, 0x82]) }),
        rawFrame({ first: FIN | CONTINUATION, payload: Buffer.from([0x22, 0x22]) }),
      ],
    ],
    [
      '20,000 empty fragments',
      1008,
      () => [
        rawFrame({ first: TEXT }),
        ...Array.from({ length: 20_000 }, () => rawFrame({ first: CONTINUATION })),
      ],
    ],
    [
      'fragments that add up to more than 64 KiB',
      1009,
      () => [
        rawFrame({ first: TEXT, payload: 'x'.repeat(60_000) }),
        rawFrame({ first: FIN | CONTINUATION, payload: 'x'.repeat(6_000) }),
      ],
    ],
  ]
  for (const [what, code, frames] of broken) {
    it(`closes ${code} on ${what}`, async () => {
      rig = await startRig()
      await eventually(() => rig.fanOut().standing().ready)
      const raw = await openRaw(rig.fanOut().port)
      expect(raw.head).to.match(/^HTTP\/1.1 101 /)
      raw.write(...frames())
      expect(await raw.closeCode()).to.equal(code)
      raw.socket.destroy()
      await neighbourIsServed()
    })
  }

  it('reads valid UTF-8 that is split inside a character', async () => {
    rig = await startRig()
    const client = await rig.connect()
    const raw = await openRaw(rig.fanOut().port)
    const text = Buffer.from('{"op":"ping","req_id":"€"}')
    const half = text.indexOf(0x82)
    raw.write(
      rawFrame({ first: TEXT, payload: text.subarray(0, half) }),
      rawFrame({ first: FIN | CONTINUATION, payload: text.subarray(half) }),
    )
    const answered = new Promise<string>((resolve) =>
      raw.socket.on('data', (data) => resolve(data.toString())),
    )
    expect(await answered).to.contain('"req_id":"€"')
    raw.socket.destroy()
    client.ws.terminate()
  })

  it('closes 1008 on too many messages, others unaffected (STR-055)', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, maxMessages: 100 } })
    const client = await rig.connect()
    for (let n = 0; n < 101; n++) client.send(ping)
    expect(await client.closed).to.equal(1008)
    expect(client.frames).to.have.length(100)
    await neighbourIsServed()
  })

  it('counts protocol pings too (STR-055)', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, maxMessages: 100 } })
    const client = await rig.connect()
    for (let n = 0; n < 100; n++) {
      client.ws.ping()
      await once(client.ws, 'pong')
    }
    client.ws.ping()
    expect(await client.closed).to.equal(1008)
  })

  it('counts messages anew when their window is over', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, maxMessages: 3, messageWindowMs: 50 } })
    const client = await rig.connect()
    for (let n = 1; n <= 9; n++) {
      client.send({ op: 'ping', req_id: `${n}` })
      await client.next(({ req_id }) => req_id === `${n}`)
      if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 60))
    }
    expect(client.ws.readyState).to.equal(client.ws.OPEN)
  })

  it('closes 1008 on one subscription too many; ended and repeated ones do not count (STR-054)', async () => {
    const markets = [aMarket(), aPerp()]
    rig = await startRig({ markets, limits: { ...SESSION_LIMITS, maxSubscriptions: 2 } })
    const client = await rig.connect()
    client.send(subscribe)
    client.send({ ...subscribe, market: 'USDCcNGN-SPOT' })
    client.send({ ...subscribe, channel: 'trades' })
    client.send({ ...subscribe, channel: 'trades', op: 'unsubscribe' })
    client.send({ ...subscribe, market: 'cNGN-PERP' })
    await client.next(({ market }) => market === 'cNGN-PERP')
    client.send({ ...subscribe, channel: 'trades' })
    expect(await client.closed).to.equal(1008)
  })

  const openFrom = (address: string) =>
    openRaw(rig.fanOut().port, { 'X-Forwarded-For': `9.9.9.9, ${address}` })

  it('bounds the sockets of an address as the gateway tells it, and of all (STR-056)', async () => {
    const limits = { ...SESSION_LIMITS, maxSocketsPerAddress: 2, maxSockets: 6 }
    rig = await startRig({ limits })
    await eventually(() => rig.fanOut().standing().ready)
    const first = await openFrom('10.0.0.1')
    const second = await openFrom('10.0.0.1')
    expect((await openFrom('10.0.0.1')).head).to.match(/^HTTP\/1.1 429 /)
    // What the client wrote before the gateway's own entry does not count, for it or for others.
    const forged = { 'X-Forwarded-For': '10.0.0.2, 10.0.0.1' }
    expect((await openRaw(rig.fanOut().port, forged)).head).to.match(/^HTTP\/1.1 429 /)
    const others = [await openFrom('9.9.9.9'), await openFrom('10.0.0.2')]
    first.socket.destroy()
    await eventually(() => rig.fanOut().clients() === 3)
    others.push(await openFrom('10.0.0.1'))
    others.push(await openFrom('127.0.0.1'), await openFrom('127.0.0.1'))
    for (const { head } of [second, ...others]) expect(head).to.match(/^HTTP\/1.1 101 /)
    const full = await openFrom('10.0.0.3')
    expect(full.head).to.match(/^HTTP\/1.1 503 [^]*Retry-After/)
    for (const { socket } of [second, ...others]) socket.destroy()
    await eventually(() => rig.fanOut().clients() === 0)
  })

  it('takes the address from the proxies in front, the gateway’s relay among them or not', async () => {
    rig = await startRig({
      trustedProxies: 2,
      limits: { ...SESSION_LIMITS, maxSocketsPerAddress: 1 },
    })
    await eventually(() => rig.fanOut().standing().ready)
    const statusFrom = async (forwarded: string) => {
      const { head, socket } = await openRaw(rig.fanOut().port, { 'X-Forwarded-For': forwarded })
      sockets.push(socket)
      return head.slice(9, 12)
    }
    const sockets: Socket[] = []
    expect(await statusFrom('6.6.6.6, 10.0.0.1, 10.9.9.9')).to.equal('101')
    expect(await statusFrom('7.7.7.7, 10.0.0.1, 10.9.9.9')).to.equal('429')
    // The relay names the client alone.
    expect(await statusFrom('10.0.0.1')).to.equal('429')
    expect(await statusFrom('10.0.0.2')).to.equal('101')
    for (const socket of sockets) socket.destroy()
  })

  it('does not believe what a client from elsewhere writes, and counts its network (STR-056)', () => {
    const limits = { ...SESSION_LIMITS, maxSockets: 10, maxSocketsPerAddress: 1 }
    const parts = { isAllowedOrigin: () => false, isReady: () => true, trustedProxies: 0, limits }
    const admission = createAdmission(parts)
    const from = (remoteAddress: string, forwarded: string) =>
      ({
        socket: { remoteAddress },
        headers: { 'x-forwarded-for': forwarded, 'sec-websocket-version': '13' },
      }) as unknown as IncomingMessage
    const leave = admission.enter(from('203.0.113.1', '1.1.1.1'))
    expect(admission.refuse(from('203.0.113.1', '2.2.2.2'))?.refusal.status).to.equal(429)
    expect(admission.refuse(from('203.0.113.2', '1.1.1.1'))).to.equal(undefined)
    leave()
    expect(admission.refuse(from('203.0.113.1', '1.1.1.1'))).to.equal(undefined)
    admission.enter(from('2001:db8::1', ''))
    expect(admission.refuse(from('2001:db8::2', ''))?.refusal.status).to.equal(429)
    expect(admission.refuse(from('2001:db8:0:1::2', ''))).to.equal(undefined)
  })

  it('does not count sockets from this machine by address', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, maxSocketsPerAddress: 1 } })
    for (let n = 0; n < 5; n++) await neighbourIsServed()
  })

  it('closes a handshake that stops half-way, and answers 431 to a head of more than 8 KiB', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, handshakeWithinMs: 100 } })
    await eventually(() => rig.fanOut().standing().ready)
    const half = connect(rig.fanOut().port, '127.0.0.1')
    half.write(upgradeHead().slice(0, 40))
    half.resume()
    await new Promise((resolve) => half.once('close', resolve))
    const large = await openRaw(rig.fanOut().port, { 'X-Large': 'x'.repeat(9_000) })
    expect(large.head).to.match(/^HTTP\/1.1 431 /)
  })

  it('does not repeat what it does not know', async () => {
    rig = await startRig()
    const client = await rig.connect()
    const market = 'm'.repeat(60_000)
    client.send({ ...subscribe, market })
    expect(await client.next(({ type }) => type === 'error')).to.include({ code: 'unknown_market' })
    expect(client.texts[0]?.length).to.be.below(200)
    client.send({ ...subscribe, market: 'm'.repeat(1_000_000) })
    expect(await client.closed).to.equal(1009)
    expect(client.frames).to.have.length(1)
  })

  it('keeps nothing of a client that subscribes and leaves without end', async function () {
    // Each wait below has its own bound; a loaded machine needs many of them.
    rig = await startRig()
    const changes = busyHistory(110)
    const trades = { ...subscribe, channel: 'trades' }
    const client = await rig.connect()
    for (let n = 0; n < 950; n++) {
      client.send(trades)
      client.send({ ...trades, op: 'unsubscribe', req_id: `out${n}` })
      if (n % 95 !== 0) continue
      await rig.publish(changes.slice((n / 95) * 50, (n / 95) * 50 + 50), 1)
      await client.next(({ req_id }) => req_id === `out${n}`)
    }
    await client.next(({ req_id }) => req_id === 'out949')
    const from = client.frames.length
    const witness = await rig.connect()
    witness.send({ ...subscribe, since_seq: 0 })
    await rig.publish(changes.slice(500), 1)
    await witness.next(({ seq }) => seq === changes.length)
    client.send({ op: 'ping' })
    await client.next(({ type }) => type === 'pong')
    expect(client.frames.slice(from).map(({ type }) => type)).to.deep.equal(['pong'])
  })
})
