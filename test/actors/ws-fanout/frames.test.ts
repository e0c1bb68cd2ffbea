import { expect } from 'chai'
import { request, type IncomingMessage } from 'node:http'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { busyHistory } from '../../support/random-history.js'

const MARKET = 'cNGN-USDC'
const subscribe = { op: 'subscribe', channel: 'book', market: MARKET }

describe('ws-fanout frames', () => {
  let rig: FanOutRig
  beforeEach(async () => {
    rig = await startRig()
  })
  afterEach(() => rig.end())

  const refused: [what: string, frame: object | string, code: string, message: string][] = [
    ['text that is not JSON', 'hello', 'bad_json', 'invalid frame'],
    ['an empty frame', '', 'bad_json', 'invalid frame'],
    ['an array', '[]', 'bad_op', 'unknown op'],
    ['null', 'null', 'bad_op', 'unknown op'],
    ['a number', '5', 'bad_op', 'unknown op'],
    ['no op', {}, 'bad_op', 'unknown op'],
    ['an op that is not text', { op: 1 }, 'bad_op', 'unknown op'],
    ['an unknown op', { op: 'toString' }, 'bad_op', 'unknown op'],
    ['no channel', { op: 'subscribe' }, 'bad_channel', 'unknown channel'],
    ['an unknown channel', { ...subscribe, channel: 'candles' }, 'bad_channel', 'unknown channel'],
    ['an inherited name', { ...subscribe, channel: '__proto__' }, 'bad_channel', 'unknown channel'],
    ['no market', { op: 'subscribe', channel: 'book' }, 'unknown_market', 'no such market'],
    ['an unknown market', { ...subscribe, market: 'NOPE' }, 'unknown_market', 'no such market'],
    ['a market that is not text', { ...subscribe, market: 7 }, 'unknown_market', 'no such market'],
    ['an unknown pair', { ...subscribe, market: '0xdead:0' }, 'unknown_market', 'no such market'],
    [
      'unsubscribing from an unknown market',
      { ...subscribe, op: 'unsubscribe', market: 'NOPE' },
      'unknown_market',
      'no such market',
    ],
    [
      'a negative since_seq',
      { ...subscribe, since_seq: -1 },
      'bad_op',
      'since_seq is missing or not valid',
    ],
    [
      'a fractional since_seq',
      { ...subscribe, since_seq: 1.5 },
      'bad_op',
      'since_seq is missing or not valid',
    ],
    [
      'a since_seq in text',
      { ...subscribe, since_seq: '5' },
      'bad_op',
      'since_seq is missing or not valid',
    ],
    [
      'a req_id that is not text',
      { op: 'ping', req_id: 5 },
      'bad_op',
      'req_id is missing or not valid',
    ],
    [
      'orders without authentication',
      { op: 'subscribe', channel: 'orders' },
      'auth_required',
      'authenticate before subscribing to orders',
    ],
  ]
  for (const [what, frame, code, message] of refused) {
    it(`answers ${what} with ${code} and stays open (STR-027, STR-030)`, async () => {
      const client = await rig.connect()
      client.send(frame)
      client.send({ op: 'ping' })
      await client.next(({ type }) => type === 'pong')
      expect(client.frames).to.have.length(2)
      expect(client.frames[0]).to.include({ type: 'error', code, message })
    })
  }

  it('names the field that is wrong', async () => {
    const client = await rig.connect()
    client.send({ ...subscribe, since_seq: -1 })
    expect(await client.next(({ type }) => type === 'error')).to.include({ field: 'since_seq' })
  })

  it('echoes req_id in every reply, and only then adds it (STR-025)', async () => {
    const client = await rig.connect()
    const sent = [
      { op: 'ping' },
      { op: 'nothing' },
      { ...subscribe, market: 'NOPE' },
      subscribe,
      subscribe,
      { ...subscribe, op: 'unsubscribe' },
    ]
    sent.forEach((frame, i) => client.send({ ...frame, req_id: `q${i}` }))
    client.send({ op: 'ping' })
    await client.next((frame) => frame.type === 'pong' && frame.req_id === undefined)
    expect(client.frames.map(({ type, req_id }) => [type, req_id])).to.deep.equal([
      ['pong', 'q0'],
      ['error', 'q1'],
      ['error', 'q2'],
      ['snapshot', 'q3'],
      ['ack', 'q4'],
      ['ack', 'q5'],
      ['pong', undefined],
    ])
    expect(client.frames.at(-1)).to.deep.equal({ type: 'pong' })
  })

  it('reads op and channel without regard to case and blanks around them (STR-026)', async () => {
    const client = await rig.connect()
    client.send({ op: ' SUBSCRIBE ', channel: 'Book', market: MARKET })
    expect(await client.next(({ type }) => type === 'snapshot')).to.include({ channel: 'book' })
  })

  it('takes one subscription under any name of the market and names the market canonically (STR-021, STR-023)', async () => {
    const client = await rig.connect()
    const pair = `${rig.market.assetAddress}:0`
    for (const market of ['USDCcNGN-SPOT', MARKET, pair])
      client.send({ ...subscribe, market, req_id: market })
    await client.next(({ req_id }) => req_id === pair)
    await rig.publish(busyHistory(1))
    await client.next(({ seq }) => seq === 5)
    const updates = client.frames.filter(({ type }) => type === 'update')
    expect(updates.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5])
    expect(client.frames.filter(({ type }) => type === 'snapshot')).to.have.length(1)
    expect(client.frames.every(({ market }) => market === MARKET)).to.equal(true)
    client.send({ ...subscribe, op: 'unsubscribe', market: 'USDCcNGN-SPOT' })
    const ack = await client.next(({ message }) => message === 'unsubscribed')
    expect(ack).to.deep.equal({
      type: 'ack',
      channel: 'book',
      market: MARKET,
      message: 'unsubscribed',
    })
  })

  it('sends nothing of a channel after acknowledging that it was left (STR-024)', async () => {
    const client = await rig.connect()
    const changes = busyHistory(40)
    for (let at = 0; at < changes.length; at += 10) {
      const publishing = rig.publish(changes.slice(at, at + 10), 1)
      client.send({ ...subscribe, req_id: `in${at}` })
      client.send({ ...subscribe, op: 'unsubscribe', req_id: `out${at}` })
      await Promise.all([publishing, client.next(({ req_id }) => req_id === `out${at}`)])
    }
    let subscribed = false
    for (const { type } of client.frames) {
      if (type === 'snapshot') subscribed = true
      else if (type === 'ack') subscribed = false
      else expect(subscribed).to.equal(true)
    }
    expect(client.frames.filter(({ type }) => type === 'ack')).to.have.length(20)
  })

  it('acknowledges leaving what was never joined', async () => {
    const client = await rig.connect()
    client.send({ op: 'unsubscribe', channel: 'trades', market: MARKET })
    client.send({ op: 'unsubscribe', channel: 'orders' })
    await client.next(({ channel }) => channel === 'orders')
    expect(client.frames.map(({ message }) => message)).to.deep.equal([
      'unsubscribed',
      'unsubscribed',
    ])
  })

  it('closes 1003 on binary, 1007 on broken text, 1009 on more than 64 KiB (STR-053)', async () => {
    const binary = await rig.connect()
    binary.ws.send(Buffer.from('{"op":"ping"}'), { binary: true })
    expect(await binary.closed).to.equal(1003)
    const broken = await rig.connect()
    broken.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
    expect(await broken.closed).to.equal(1007)
    const large = await rig.connect()
    large.send({ op: 'ping', market: 'x'.repeat(64 * 1024) })
    expect(await large.closed).to.equal(1009)
  })

  it('knows how it stands', async () => {
    await rig.publish(busyHistory(2))
    const client = await rig.connect()
    client.send({ ...subscribe, since_seq: 0 })
    await client.next(({ seq }) => seq === 10)
    expect(rig.fanOut().standing()).to.deep.equal({
      ready: true,
      detail: '1 clients',
      positions: { [MARKET]: 10 },
    })
  })

  function upgrade(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = request({ port: rig.fanOut().port, host: '127.0.0.1', path })
      const all = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-version': '13',
        ...headers,
      }
      for (const [name, value] of Object.entries(all)) asked.setHeader(name, value)
      asked.on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(response)
      })
      asked.on('response', (response) => {
        response.resume()
        resolve(response)
      })
      asked.on('error', reject)
      asked.end()
    })
  }

  it('accepts upgrades of /v1/ws from allowed origins and from clients without one (AUT-037, AUT-038)', async () => {
    const status = async (path: string, headers = {}): Promise<number | undefined> =>
      (await upgrade(path, headers)).statusCode
    expect(await status('/v1/ws')).to.equal(101)
    expect(await status('/v1/ws?x=1', { origin: 'https://app.example' })).to.equal(101)
    expect(await status('/v1/ws', { origin: 'https://evil.example' })).to.equal(403)
    expect(await status('/v1/other')).to.equal(404)
    expect(await status('/v1/ws', { 'sec-websocket-version': '12' })).to.equal(426)
    const offered = await upgrade('/v1/ws', { 'sec-websocket-extensions': 'permessage-deflate' })
    expect(offered.headers['sec-websocket-extensions']).to.equal(undefined)
    const plain = await fetch(`http://127.0.0.1:${rig.fanOut().port}/v1/ws`)
    expect(plain.headers.get('upgrade')).to.equal('websocket')
    expect(plain.status).to.equal(426)
    expect(await plain.json()).to.deep.equal({
      error: 'this endpoint speaks WebSocket',
      code: 'upgrade_required',
      request_id: plain.headers.get('x-request-id'),
    })
    const post = await fetch(`http://127.0.0.1:${rig.fanOut().port}/v1/ws`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).to.deep.equal([405, 'HEAD, GET'])
  })

  it('names each request, by the caller’s own id when it has a harmless one', async () => {
    const idOf = async (headers: Record<string, string>) =>
      (await upgrade('/v1/ws', headers)).headers['x-request-id']
    expect(await idOf({ 'x-request-id': 'mine-1' })).to.equal('mine-1')
    expect(await idOf({})).to.match(/^[0-9a-f-]{36}$/)
    const refused = { 'x-request-id': 'mine-2', origin: 'https://evil.example' }
    expect(await idOf(refused)).to.equal('mine-2')
  })

  it('answers upgrades 503 while it still reads the feed', async () => {
    await rig.publish(busyHistory(1))
    const follow = () => Promise.resolve({ stop: () => Promise.resolve() })
    await rig.restart({ bus: { ...rig.bus, follow } })
    expect((await upgrade('/v1/ws', {})).statusCode).to.equal(503)
    expect(rig.fanOut().standing()).to.include({ ready: false, detail: 'reading the feed' })
  })
})
