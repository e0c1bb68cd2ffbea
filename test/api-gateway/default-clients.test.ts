import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { WebSocketServer } from 'ws'
import { relayUpgrades, type UpgradeRelay } from '../../api-gateway/ws-upgrade.js'
import { listen } from '../../runtime/http/server.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import { silentLog } from '../support/intake-stage.js'

const lines = (...head: string[]): string => `${head.join('\r\n')}\r\n\r\n`
const LAST = lines('GET /healthz HTTP/1.1', 'Host: x', 'Connection: close')

/** What a library sends first by itself: recorded where the library was at hand, else written from what is published of it. */
interface FirstRequest {
  readonly client: string
  readonly kind: 'rest' | 'post' | 'head of a post' | 'socket' | 'http2'
  /** The call that was recorded. */
  readonly recorded?: string
  readonly writtenFrom?: string
  /** Each character is a byte. */
  readonly bytes: string
}

const requests = JSON.parse(
  readFileSync(new URL('../../../test/api-gateway/first-requests.json', import.meta.url), 'utf8'),
) as readonly FirstRequest[]
const ofKind = (kind: FirstRequest['kind']) => requests.filter((each) => each.kind === kind)

describe('what HTTP libraries offer by themselves', () => {
  let gateway: GatewayStage
  let relay: UpgradeRelay
  const fanout = createServer()
  const sockets = new WebSocketServer({ server: fanout, perMessageDeflate: true })
  before(async () => {
    const port = await listen(fanout, 0, '127.0.0.1')
    gateway = await aGatewayStage()
    relay = relayUpgrades({
      server: gateway.server,
      fanoutUrls: [new URL(`http://127.0.0.1:${port}`)],
      trustedProxies: 0,
      log: silentLog,
    })
  })
  after(async () => {
    await relay.stop()
    sockets.close()
    fanout.closeAllConnections()
    await new Promise((resolve) => fanout.close(resolve))
    await gateway.close()
  })

  const statusesOf = (answers: string): string[] =>
    [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '')

  /** Sends the bytes, and what `then` gives once these words came back; resolves with all that came when the connection ends. */
  function converse(
    bytes: string,
    { words, then }: { readonly words: string; readonly then?: Buffer },
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(gateway.port, '127.0.0.1')
      let got = ''
      let isSaid = false
      socket.on('error', reject)
      socket.on('close', () => resolve(got))
      socket.on('data', (chunk: Buffer) => {
        got += chunk.toString('latin1')
        if (isSaid || !got.includes(words)) return
        isSaid = true
        if (then === undefined) socket.end()
        else socket.write(then)
      })
      socket.write(Buffer.from(bytes, 'latin1'))
    })
  }

  it('is of at least ten clients, each with its source', () => {
    const families = [
      ...['curl', 'java.net.http', 'Apache', 'OkHttp', '.NET', 'Go', 'requests', 'httpx'],
      ...['aiohttp', 'reqwest'],
    ]
    for (const family of families) {
      expect(requests.filter(({ client }) => client.includes(family))).not.to.deep.equal([], family)
    }
    for (const { client, recorded, writtenFrom } of requests) {
      expect([recorded, writtenFrom].filter(Boolean), client).to.have.length(1)
    }
  })

  for (const { client, bytes } of ofKind('rest')) {
    it(`is ignored, and the connection serves on: ${client}`, async () => {
      const isLast = /HTTP\/1\.0|^Connection:.*close/m.test(bytes)
      const answers = await gateway.raw(isLast ? bytes : `${bytes}${LAST}`)
      expect(statusesOf(answers)).to.deep.equal(isLast ? ['200'] : ['200', '200'])
      expect(answers).to.contain('"unix_ms"')
    })
  }

  for (const { client, bytes } of ofKind('post')) {
    it(`does not lose the body: ${client}`, async () => {
      gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'no' } })
      const asked = gateway.asked.length
      const answers = await gateway.raw(`${bytes}${LAST}`)
      expect(statusesOf(answers)).to.deep.equal(['400', '200'])
      const body = bytes.slice(bytes.indexOf('\r\n\r\n') + 4)
      expect(gateway.asked.slice(asked).map((each) => each.body)).to.deep.equal([body])
    })
  }

  for (const { client, bytes } of ofKind('head of a post')) {
    it(`is told to send the body that it holds back: ${client}`, async () => {
      gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'no' } })
      const asked = gateway.asked.length
      const body = '{"order_id":"order-1"}'
      const then = Buffer.from(`${body}${LAST}`)
      const answers = await converse(bytes, { words: '100 Continue', then })
      expect(statusesOf(answers)).to.deep.equal(['100', '400', '200'])
      expect(gateway.asked.slice(asked).map((each) => each.body)).to.deep.equal([body])
    })
  }

  for (const { client, bytes } of ofKind('socket')) {
    it(`opens a socket: ${client}`, async () => {
      const answer = await converse(bytes, { words: '\r\n\r\n' })
      expect(answer).to.match(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
      const offers = bytes.includes('permessage-deflate')
      expect(answer.includes('Sec-WebSocket-Extensions')).to.equal(offers)
    })
  }

  for (const { client, bytes } of ofKind('http2')) {
    it(`is told which version is served: ${client}`, async () => {
      const answer = await gateway.raw(bytes)
      expect(statusesOf(answer)).to.deep.equal(['505'])
      expect(answer).to.contain('send HTTP/1.1: HTTP/2 is not served')
    })
  }

  it('takes a body that comes after its head, as Java sends it', async () => {
    const [post] = ofKind('post')
    if (post === undefined) throw new Error('no recorded post')
    const end = post.bytes.indexOf('\r\n\r\n') + 4
    const pieces = [post.bytes.slice(0, end), `${post.bytes.slice(end)}${LAST}`]
    const answers = await gateway.inPieces(pieces)
    expect(statusesOf(answers)).to.deep.equal(['400', '200'])
    expect(gateway.asked.at(-1)?.body).to.equal(post.bytes.slice(end))
  })
})
