import { expect } from 'chai'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { refusals } from '../../core/entry/refusals.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

describe('requests that the gateway does not pass on', () => {
  let gateway: GatewayStage

  beforeEach(async () => {
    gateway = await aGatewayStage()
  })
  afterEach(() => gateway.close())

  const post = (body: unknown, headers: Record<string, string> = {}) =>
    gateway.send('POST', '/v1/orders', { body, headers })

  const refusedAtOnce: [string, string | Buffer][] = [
    ['bytes that are not UTF-8', Buffer.from('{"order_id":"\xff"}', 'latin1')],
    ['nesting beyond eight levels', `{"a":${'['.repeat(8)}${']'.repeat(8)}}`],
    ['nesting of thousands of levels', `{"ui_intent":${'['.repeat(20_000)}`],
  ]
  const notJson: [string, string][] = [
    ['a torn object', '{"order_id":'],
    ['nothing', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '7'],
    ['a string', '"x"'],
  ]
  for (const path of ['/v1/orders', '/v1/orders/cancel']) {
    const expectInvalid = async (body: string | Buffer): Promise<void> => {
      const answer = await gateway.send('POST', path, { body })
      expect(answer.status).to.equal(400)
      expect(answer.json).to.include({ error: 'invalid JSON body', code: 'invalid_json' })
    }
    for (const [what, body] of refusedAtOnce) {
      it(`POST ${path} with ${what} is 400 invalid JSON body, unasked (ORD-030)`, async () => {
        await expectInvalid(body)
        expect(gateway.asked).to.deep.equal([])
      })
    }
    for (const [what, body] of notJson) {
      it(`POST ${path} with ${what} is 400 invalid JSON body, whatever becomes of the question`, async () => {
        gateway.answerWith({ kind: 'refused', refusal: refusals.invalidJsonBody })
        await expectInvalid(body)
        expect(gateway.asked.map((request) => request.body)).to.deep.equal([body])
        gateway.answerWith({ kind: 'refused', refusal: refusals.internal })
        await expectInvalid(body)
        gateway.bus.setConnected(false)
        await expectInvalid(body)
      })
    }
  }

  it('lets brackets inside strings and eight levels through (MON-014)', async () => {
    const body = { text: '[[[[[[[[[[\\"[[[', deep: [[[[[[[]]]]]]] }
    gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'seen' } })
    expect((await post(body)).json.error).to.equal('seen')
    expect(gateway.asked[0]?.body).to.equal(JSON.stringify(body))
  })

  it('takes the mark that some programs put before UTF-8 off a body', async () => {
    gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'seen' } })
    expect((await post(Buffer.from('\ufeff{"order_id":"₦"}'))).json.error).to.equal('seen')
    expect(gateway.asked[0]?.body).to.equal('{"order_id":"₦"}')
  })

  it('puts a body together that comes in pieces, characters cut in the middle', async () => {
    gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'seen' } })
    const body = Buffer.from('{"order_id":"₦🙂"}')
    const pieces = [...body].map((byte) => Buffer.from([byte]))
    const answer = await gateway.inPieces([
      'POST /v1/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
        `Content-Length: ${body.length}\r\n\r\n`,
      ...pieces,
    ])
    expect(answer).to.contain('"error":"seen"')
    expect(gateway.asked.map((request) => request.body)).to.deep.equal([body.toString()])
  })

  it('refuses a body above 64 KiB by its header, unread', async () => {
    const answer = await post(`{"a":"${'x'.repeat(70_000)}"}`, { 'content-length': '70008' })
    expect(answer.status).to.equal(413)
    expect(answer.json).to.include({ error: 'request body too large' })
    expect(answer.headers.connection).to.equal('close')
    const early = await gateway.raw(
      'POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n{',
    )
    expect(early).to.match(/^HTTP\/1.1 413 /)
  })

  it('refuses a body above 64 KiB by its stream and closes the connection', async () => {
    const chunk = `${(0x4000).toString(16)}\r\n${' '.repeat(0x4000)}\r\n`
    const answer = await gateway.raw([
      'POST /v1/orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
      chunk.repeat(5),
      '0\r\n\r\n',
    ])
    expect(answer).to.match(/^HTTP\/1.1 413 /)
    expect(answer).to.contain('"error":"request body too large"')
  })

  it('takes a body of exactly 64 KiB (MON-014)', async () => {
    gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'seen' } })
    const answer = await post(`{"a":"${'x'.repeat(64 * 1024 - 8)}"}`)
    expect(answer.json.error).to.equal('seen')
  })

  it('refuses a compressed body without inflating it (OPE-030)', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000))
    const answer = await post(bomb, { 'content-encoding': 'gzip' })
    expect(answer.status).to.equal(415)
    expect(answer.json.error).to.be.a('string')
  })

  it('answers 404 for unknown paths and 405 with Allow for other methods, in JSON (OPE-031)', async () => {
    const cases: [string, string, number, string | undefined][] = [
      ['GET', '/nowhere', 404, undefined],
      ['GET', '/v2/orders', 404, undefined],
      ['GET', '/V1/MARKETS', 404, undefined],
      ['GET', '/v1/orders/a/b', 404, undefined],
      ['POST', '/v1/markets', 405, 'HEAD, GET'],
      ['DELETE', '/v1/orders', 405, 'POST, HEAD, GET'],
      ['PUT', '/v1/orders/abc', 405, 'HEAD, GET'],
      ['TRACE', '/v1/markets', 405, 'HEAD, GET'],
      ['GET', '/v1/orders/cancel', 404, undefined],
      ['PUT', '/v1/orders/cancel', 405, 'POST, HEAD, GET'],
    ]
    for (const [method, path, status, allow] of cases) {
      const answer = await gateway.send(method, path)
      expect([method, path, answer.status]).to.deep.equal([method, path, status])
      expect(answer.json.error).to.be.a('string')
      expect(answer.json.request_id).to.equal(answer.headers['x-request-id'])
      expect(answer.headers.allow).to.equal(allow)
    }
  })

  it('answers broken HTTP in JSON and closes', async () => {
    const cases: [string, number][] = [
      ['NONSENSE\r\n\r\n', 400],
      [
        'GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
        400,
      ],
      [`GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
      ['GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
      ['GET /healthz HTTP/1.1\r\n\r\n', 400],
    ]
    for (const [bytes, status] of cases) {
      const answer = await gateway.raw(bytes)
      expect(answer.slice(0, 12), bytes.slice(0, 40)).to.equal(`HTTP/1.1 ${status}`)
      expect(answer).to.match(
        /\r\n\r\n\{"error":"[^<]+","code":"bad_request","request_id":"[^"]+"\}$/,
      )
      expect(answer).to.match(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/)
    }
  })

  it('answers an absolute request target like its path', async () => {
    const answer = await gateway.raw(
      'GET http://evil.example/healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    )
    expect(answer).to.match(/^HTTP\/1.1 200 /)
  })

  it('never lets an unread body occupy the connection', async () => {
    const answer = await gateway.raw(
      'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nxxxx',
    )
    expect(answer).to.match(/^HTTP\/1.1 404 /)
  })

  it('has every limit of a public server set', () => {
    expect(gateway.server).to.include({
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 75_000,
      maxRequestsPerSocket: 1_000,
    })
  })

  it('refuses more headers than it reads, and reads all others', async () => {
    const head = (line: string, more: number, last: string): string =>
      `${line} HTTP/1.1\r\nHost: x\r\nConnection: ${last}\r\n` +
      `${Array.from({ length: more }, (_, n) => `a${n}: 1\r\n`).join('')}`
    const named = 'X-Request-Id: last-1\r\n\r\n'
    const read = await gateway.raw(`${head('GET /healthz', 97, 'close')}${named}`)
    expect(read).to.match(/^HTTP\/1.1 200 /)
    expect(read.toLowerCase()).to.include('x-request-id: last-1')
    for (const more of [98, 1_500]) {
      const refused = await gateway.raw(`${head('GET /healthz', more, 'close')}${named}`)
      expect(refused).to.match(/^HTTP\/1.1 431 /)
      expect(refused).to.include('more than 100 request headers')
    }
  })

  it('survives a client that hangs up in the middle of its body', async () => {
    const socket = connect(gateway.port, '127.0.0.1')
    await new Promise<void>((resolve) => socket.on('connect', resolve))
    socket.write('POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    socket.destroy()
    expect((await gateway.send('GET', '/healthz')).status).to.equal(200)
  })

  it('names every request, by the caller’s own name when it is harmless (ORD-034)', async () => {
    const named = await gateway.send('GET', '/healthz', { headers: { 'x-request-id': 'abc-1' } })
    expect(named.headers['x-request-id']).to.equal('abc-1')
    const strange = await gateway.send('GET', '/healthz', { headers: { 'x-request-id': 'a b' } })
    expect(strange.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/)
  })
})
