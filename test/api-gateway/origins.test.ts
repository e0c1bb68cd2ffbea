import { expect } from 'chai'
import { allowedOrigins, originsEnv } from '../../runtime/http/origins.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

describe('origins of web pages', () => {
  let gateway: GatewayStage
  before(async () => {
    gateway = await aGatewayStage()
  })
  after(() => gateway.close())

  const OURS = 'https://app.example'
  const OTHER = 'https://elsewhere.example'
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    gateway.send(method, path, { headers, ...(method === 'POST' && { body: {} }) })

  it('lets an allowed page read answers and refusals, with the headers of the interface', async () => {
    for (const [path, status] of [
      ['/v1/markets', 200],
      ['/v1/book?symbol=NOPE', 400],
      ['/v1/nowhere', 404],
    ] as const) {
      const answer = await send('GET', path, { origin: OURS })
      expect(answer.status).to.equal(status)
      expect(answer.headers).to.include({ 'access-control-allow-origin': OURS, vary: 'Origin' })
      expect(answer.headers['access-control-expose-headers']).to.contain('X-Request-Id')
      expect(answer.headers).not.to.have.property('access-control-allow-credentials')
    }
  })

  it('answers preflights of an allowed page, for what clients send', async () => {
    const preflight = (origin: string) =>
      gateway.raw(
        [
          ...['OPTIONS /v1/orders HTTP/1.1', 'Host: venue', `Origin: ${origin}`],
          ...['Access-Control-Request-Method: POST', 'Connection: close', '', ''],
        ].join('\r\n'),
      )
    const allowed = await preflight(OURS)
    expect(allowed).to.match(/^HTTP\/1.1 204 /)
    expect(allowed).to.contain('Access-Control-Allow-Methods: GET,POST\r\n')
    expect(allowed).to.match(/Access-Control-Allow-Headers: Content-Type.*X-Service-Auth\r\n/)
    const other = await preflight(OTHER)
    expect(other).to.match(/^HTTP\/1.1 405 /)
    expect(other).not.to.match(/access-control-allow/i)
  })

  it('refuses what changes something from another page, before it is read (AUT-036)', async () => {
    for (const path of ['/v1/orders', '/v1/orders/cancel', '/v1/deposits', '/v1/withdrawals']) {
      const { status, json } = await send('POST', path, { origin: OTHER })
      expect([path, status]).to.deep.equal([path, 403])
      expect(json).to.include({ code: 'origin_not_allowed', error: 'origin is not allowed' })
      expect((await send('POST', path, { origin: 'null' })).status).to.equal(403)
    }
    expect(gateway.asked).to.deep.equal([])
  })

  it('answers other pages’ reads without letting them see the answer, and servers as ever (AUT-038)', async () => {
    const read = await send('GET', '/v1/markets', { origin: OTHER })
    expect(read.status).to.equal(200)
    expect(read.headers).not.to.have.property('access-control-allow-origin')
    gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'seen' } })
    expect((await send('POST', '/v1/orders')).json.error).to.equal('seen')
    expect((await send('POST', '/v1/orders', { origin: OURS })).json.error).to.equal('seen')
  })

  it('come from the two lists and the public address', () => {
    const isAllowed = allowedOrigins(
      originsEnv.parse({
        ALLOWED_ORIGINS: 'https://a.example, https://b.example',
        WS_ALLOWED_ORIGINS: 'https://c.example',
        PUBLIC_URL: 'https://venue.example/under/a/path',
      }),
    )
    for (const name of ['a', 'b', 'c', 'venue']) {
      expect(isAllowed(`https://${name}.example`), name).to.equal(true)
    }
    expect(isAllowed('https://d.example')).to.equal(false)
    expect(isAllowed('http://a.example')).to.equal(false)
    expect(allowedOrigins(originsEnv.parse({}))('https://a.example')).to.equal(false)
    expect(allowedOrigins(originsEnv.parse({ ALLOWED_ORIGINS: '*' }))('https://x.y')).to.equal(true)
  })
})
