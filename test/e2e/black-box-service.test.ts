import { expect } from 'chai'
import { createVisitor, MARKET, type Json, type Visitor } from './black-box/client.js'
import { expectError, expectShape, isInteger, ISO, isObject } from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

/** Every path of the interface that this venue serves, and its methods. */
const INTERFACE = {
  '/v1/orders': ['get', 'post'],
  '/v1/orders/cancel': ['post'],
  '/v1/orders/{order_id}': ['get'],
  '/v1/fills': ['get'],
  '/v1/deposits': ['post'],
  '/v1/deposits/{action_hash}': ['get'],
  '/v1/withdrawals': ['post'],
  '/v1/withdrawals/{action_hash}': ['get'],
  '/v1/book': ['get'],
  '/v1/trades': ['get'],
  '/v1/candles': ['get'],
  '/v1/markets': ['get'],
  '/v1/integrations/tickers': ['get'],
  '/v1/health': ['get'],
  '/v1/time': ['get'],
  '/healthz': ['get'],
  '/readyz': ['get'],
} as const

describe('a trader asks about the service', function () {
  let gateway: string
  let visitor: Visitor
  before(async function () {
    const { devnet } = await sharedVenue()
    gateway = devnet.gateway_url
    visitor = createVisitor(devnet)
  })

  const load = async (path: string) => {
    const response = await fetch(new URL(path, gateway))
    return { response, text: await response.text() }
  }

  it('whether it lives and is ready', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, headers } = await visitor.get(path)
      expect(status, path).to.equal(200)
      expect(headers.get('x-request-id'), path).to.match(/^.+$/)
    }
  })

  it('how far each market has come', async () => {
    const { body, status } = await visitor.get('/v1/health')
    expect(status).to.equal(200)
    expectShape(body, { status: 'ok', now: ISO, markets: isObject })
    const market = (body.markets as Record<string, Json>)[MARKET]
    expectShape(market, { head_seq: isInteger, lag: isInteger })
  })

  it('what time it is', async () => {
    const before = Date.now()
    const { body } = await visitor.get('/v1/time')
    expectShape(body, { now: ISO })
    const told = Date.parse(body.now as string)
    expect(told).to.be.within(before - 1_000, Date.now() + 1_000)
  })

  describe('for its description', () => {
    const document = async () => (await visitor.get<Json>('/v1/openapi.json')).body

    it('as OpenAPI 3.1, with every path of the interface', async () => {
      const answer = await visitor.get('/v1/openapi.json')
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('content-type')).to.match(/^application\/json/)
      expect(answer.body.openapi).to.match(/^3\.1\./)
      const paths = answer.body.paths as Record<string, Json>
      for (const [path, methods] of Object.entries(INTERFACE))
        expect(paths[path], path).to.include.keys(...methods)
    })

    it('with references that all lead somewhere inside of it', async () => {
      const body = await document()
      const references = [...JSON.stringify(body).matchAll(/"\$ref":"([^"]+)"/g)].map(
        ([, to]) => to,
      )
      expect(references).not.to.be.empty
      for (const reference of new Set(references)) {
        expect(reference).to.match(/^#\//)
        const steps = (reference ?? '').slice(2).split('/')
        const found = steps.reduce<unknown>((at, step) => (at as Json | undefined)?.[step], body)
        expect(isObject(found), reference).to.equal(true)
      }
    })

    it('with statuses and a body for each answer of an operation', async () => {
      const paths = (await document()).paths as Record<string, Record<string, Json>>
      for (const [path, methods] of Object.entries(INTERFACE))
        for (const method of methods) {
          const responses = paths[path]?.[method]?.responses as Record<string, Json>
          expect(responses, path).to.include.keys('200')
          for (const [status, response] of Object.entries(responses))
            expect(response.content ?? response.$ref, `${path} ${status}`).not.to.equal(undefined)
        }
    })
  })

  describe('for a page to read', () => {
    it('which names no other host, and may load from none', async () => {
      const { response, text } = await load('/docs')
      expect(response.status).to.equal(200)
      expect(response.headers.get('content-type')).to.match(/^text\/html/)
      expect(text).not.to.match(/(src|href)="(https?:)?\/\//)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).to.include("default-src 'none'")
      expect(policy).not.to.match(/https?:|\*/)
    })

    it('and everything that it names is served, as what it is', async () => {
      const { text } = await load('/docs')
      const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
      expect(named.length).to.be.at.least(3)
      const types = { css: /^text\/css/, js: /javascript/, png: /^image\/png/, json: /json/ }
      for (const path of named) {
        const { response } = await load(`/${path}`)
        expect(response.status, path).to.equal(200)
        const type = types[path.split('.').at(-1) as keyof typeof types]
        expect(response.headers.get('content-type'), path).to.match(type)
      }
    })

    it('and nothing else is', async () => {
      for (const path of ['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/nothing'])
        expectError(await visitor.get(path), 404, /./)
    })
  })

  it('and each path answers other methods with 405 and what it allows', async () => {
    for (const path of ['/v1/fills', '/v1/candles', '/v1/integrations/tickers', '/v1/time']) {
      const answer = await visitor.post(path, {})
      expectError(answer, 405, /./)
      expect(answer.headers.get('allow'), path).to.match(/\bGET\b/)
    }
  })
})
