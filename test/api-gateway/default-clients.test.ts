import { expect } from 'chai'
import { connect } from 'node:net'
import { relayUpgrades, type UpgradeRelay } from '../../api-gateway/ws-upgrade.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import { silentLog } from '../support/intake-stage.js'

const lines = (...head: string[]): string => `${head.join('\r\n')}\r\n\r\n`
const LAST = lines('GET /healthz HTTP/1.1', 'Host: x', 'Connection: close')

/** First requests as clients send them by themselves over plain HTTP, from their published sources. */
const FIRST_REQUESTS: Readonly<Record<string, string>> = {
  'Java’s own client': lines(
    ...['GET /v1/time HTTP/1.1', 'Connection: Upgrade, HTTP2-Settings', 'Content-Length: 0'],
    ...['Host: 127.0.0.1:8080', 'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA'],
    ...['Upgrade: h2c', 'User-Agent: Java-http-client/21.0.2'],
  ),
  'curl --http2': lines(
    ...['GET /v1/time HTTP/1.1', 'Host: 127.0.0.1:8080', 'User-Agent: curl/7.88.1', 'Accept: */*'],
    ...['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
    'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
  ),
  'Apache 5 with TLS upgrades': lines(
    ...['GET /v1/time HTTP/1.1', 'Accept-Encoding: gzip, x-gzip, deflate', 'Host: 127.0.0.1:8080'],
    ...['Upgrade: TLS/1.2', 'Connection: keep-alive, Upgrade'],
    'User-Agent: Apache-HttpClient/5.4 (Java/21)',
  ),
  'libwww-perl with TE': lines(
    ...['GET /v1/time HTTP/1.1', 'TE: deflate,gzip;q=0.3', 'Connection: TE, keep-alive'],
    ...['Host: 127.0.0.1:8080', 'User-Agent: libwww-perl/6.68'],
  ),
  'a client that expects something': lines(
    ...['GET /v1/time HTTP/1.1', 'Host: 127.0.0.1:8080', 'Expect: 200-ok', 'Priority: u=1'],
  ),
}

describe('what HTTP libraries offer by themselves', () => {
  let gateway: GatewayStage
  let relay: UpgradeRelay
  before(async () => {
    gateway = await aGatewayStage()
    relay = relayUpgrades({
      server: gateway.server,
      // No WebSocket is opened here.
      fanoutUrls: [new URL('http://127.0.0.1:1')],
      ...{ trustedProxies: 0, log: silentLog },
    })
  })
  after(async () => {
    await relay.stop()
    await gateway.close()
  })

  const statusesOf = (answers: string): string[] =>
    [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '')

  for (const [client, request] of Object.entries(FIRST_REQUESTS)) {
    it(`is ignored, and the connection serves on: ${client}`, async () => {
      const answers = await gateway.raw(`${request}${LAST}`)
      expect(statusesOf(answers)).to.deep.equal(['200', '200'])
      expect(answers).to.contain('"unix_ms"')
    })
  }

  it('does not lose the body of a request that offers another protocol', async () => {
    gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'no' } })
    const body = JSON.stringify({ order_id: 'order-1' })
    const post = lines(
      ...['POST /v1/orders HTTP/1.1', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
      ...[`Content-Length: ${body.length}`, 'Host: x', 'Content-Type: application/json'],
      'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
    )
    const answers = await gateway.raw(`${post}${body}${LAST}`)
    expect(statusesOf(answers)).to.deep.equal(['400', '200'])
    expect(gateway.asked.map((asked) => asked.body)).to.deep.equal([body])
  })

  it('takes a body that comes after its head, as Java sends it', async () => {
    const body = JSON.stringify({ order_id: 'order-2' })
    const socket = connect(gateway.port, '127.0.0.1')
    const chunks: Buffer[] = []
    const ended = new Promise((resolve) => socket.on('close', resolve))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.write(
      lines(
        ...['POST /v1/orders HTTP/1.1', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
        ...[`Content-Length: ${body.length}`, 'Host: x', 'HTTP2-Settings: AAEAAEAAAAI'],
      ),
    )
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(`${body}${LAST}`)
    await ended
    expect(statusesOf(Buffer.concat(chunks).toString())).to.deep.equal(['400', '200'])
    expect(gateway.asked.at(-1)?.body).to.equal(body)
  })
})
