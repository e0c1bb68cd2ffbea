import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { routes } from '../../api-gateway/routes.js'
import { gatewayDocument, undocumented } from '../support/documented.js'
import { type GatewayStage, aGatewayStage } from '../support/gateway-stage.js'

type Json = Record<string, unknown>

interface Documented extends Json {
  readonly path: string
  readonly method: string
  readonly operationId: string
  readonly summary: string
  readonly tags: string[]
  readonly security: unknown[]
  readonly parameters?: { name: string; in: string; required: boolean; schema: Json }[]
  readonly responses: Record<string, { description: string; content: Json; headers: Json }>
}

const operations = Object.entries(gatewayDocument.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...(operation as Documented),
    path,
    method: method.toUpperCase(),
  })),
)

/** Every object of the document, with where it stands. */
function objectsIn(value: unknown, where = '#'): [string, Json][] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.entries(value).flatMap(([key, each]) => objectsIn(each, `${where}/${key}`))
  return Array.isArray(value) ? below : [[where, value as Json], ...below]
}

const resolve = (ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((found, key) => (found as Json | undefined)?.[key], gatewayDocument)

/** Answers of these statuses have no body. */
const isEmpty = (status: string): boolean => ['204', '304'].includes(status)

describe('the OpenAPI document', () => {
  it('has every route and nothing else (REA-040)', () => {
    const named = routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(operations.map(({ method, path }) => `${method} ${path}`)).to.have.members(named)
    expect(named).to.include('GET /v1/orders/{order_id}')
  })

  it('is OpenAPI 3.1 as far as its parts can be told', () => {
    const { openapi, info, tags } = JSON.parse(JSON.stringify(gatewayDocument)) as Json & {
      tags: Json[]
    }
    expect(openapi).to.equal('3.1.0')
    expect(info).to.include.keys('title', 'version')
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).to.equal(ids.length)
    for (const operation of operations) {
      const { path, method, parameters = [] } = operation
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = parameters.filter((each) => each.in === 'path')
      expect(
        declared.map(({ name }) => name),
        path,
      ).to.deep.equal(inPath)
      expect(declared.every(({ required }) => required)).to.equal(true)
      expect(operation.summary, path).to.be.a('string')
      expect(tags.map(({ name }) => name)).to.include.members(operation.tags)
      expect(operation.responses, path).to.have.any.keys('200', '101', '204')
      for (const [status, answer] of Object.entries(operation.responses)) {
        expect(status).to.match(/^[1-5]\d\d$/)
        expect(answer.description, `${method} ${path} ${status}`).to.match(/\w/)
        expect(Object.keys(answer.content ?? {})).to.have.length(isEmpty(status) ? 0 : 1)
      }
    }
  })

  it('refers only to what it has, and has only what it refers to', () => {
    const refs = objectsIn(gatewayDocument).flatMap(([where, { $ref }]) =>
      typeof $ref === 'string' ? [{ where, $ref }] : [],
    )
    expect(refs.filter(({ $ref }) => resolve($ref) === undefined)).to.deep.equal([])
    const referred = new Set(refs.map(({ $ref }) => $ref))
    const { schemas, headers } = gatewayDocument.components as Record<string, Json>
    const unused = [
      ...Object.keys(schemas ?? {}).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(headers ?? {}).map((name) => `#/components/headers/${name}`),
    ].filter((ref) => !referred.has(ref))
    expect(unused).to.deep.equal([])
  })

  it('has only schemas of JSON Schema 2020-12, and examples that fit them', () => {
    const ajv = new Ajv2020({ strictTypes: false, validateFormats: false })
    ajv.addVocabulary(['components'])
    const { schemas } = gatewayDocument.components
    for (const [name, schema] of Object.entries(schemas)) {
      expect(name).to.match(/^[A-Za-z0-9._-]+$/)
      const validate = ajv.compile({ ...schema, components: { schemas } })
      const { examples = [] } = schema as { examples?: unknown[] }
      for (const example of examples) expect(validate(example), `${name}`).to.equal(true)
    }
  })

  it('declares as a security scheme what a private operation takes', () => {
    const { securitySchemes } = gatewayDocument.components as Json
    expect(securitySchemes).to.have.all.keys('serviceAuth', 'indexToken')
    const securityOf = (path: string, method: string) =>
      operations.find((each) => each.path === path && each.method === method)?.security
    for (const path of ['/v1/orders', '/v1/fills', '/v1/close-outs', '/v1/balances']) {
      expect(securityOf(path, 'GET'), path).to.deep.equal([{ serviceAuth: [] }])
    }
    expect(securityOf('/v1/orders/cancel', 'POST')).to.deep.equal([{}, { serviceAuth: [] }])
    expect(securityOf('/v1/markets', 'GET')).to.deep.equal([])
    // Whatever takes one of the headers says so.
    for (const { path, method, parameters = [], security } of operations) {
      const names = parameters.flatMap(({ name, in: where }) => (where === 'header' ? [name] : []))
      const proves = names.includes('X-Service-Auth') || names.includes('X-Index-Token')
      expect([method, path, security.length > 0]).to.deep.equal([method, path, proves])
    }
  })

  it('says of each number of the engine what it counts in each kind of market', () => {
    const { schemas } = gatewayDocument.components as { schemas: Record<string, Json> }
    const names = [
      ...['volume', 'quote_volume', 'size', 'desired_amount', 'filled_quote', 'limit_price'],
      ...['open', 'high', 'low', 'close', 'last'],
    ]
    const shapes = ['Stats24h', 'Candle', 'Trade', 'Fill', 'Order', 'Level']
    expect(schemas).to.include.keys(shapes)
    const told = shapes.flatMap((shape) =>
      Object.entries((schemas[shape]?.properties ?? {}) as Record<string, Json>)
        .filter(([name]) => names.includes(name))
        .map(([name, { description }]) => [`${shape}.${name}`, description] as const),
    )
    expect(told.length).to.be.greaterThan(15)
    const silent = told.filter(([, text]) => !/cNGN.*futures|USDC.*futures/s.test(String(text)))
    expect(silent).to.deep.equal([])
  })

  it('has no alternatives beside fields, of which a generated client would make any type', () => {
    const both = (value: unknown): object[] => {
      if (typeof value !== 'object' || value === null) return []
      const inner = Object.values(value).flatMap(both)
      return 'properties' in value && 'anyOf' in value ? [value, ...inner] : inner
    }
    expect(both(gatewayDocument)).to.deep.equal([])
  })

  it('describes every schema that has a name', () => {
    const silent = Object.entries(gatewayDocument.components.schemas)
      .filter(([, { description, type }]) => description === undefined && type === 'object')
      .map(([name]) => name)
    expect(silent).to.deep.equal([])
  })
})

describe('GET /v1/openapi.json', () => {
  let gateway: GatewayStage
  before(async () => {
    gateway = await aGatewayStage()
  })
  after(() => gateway.close())

  it('is that document', async () => {
    const answer = await gateway.send('GET', '/v1/openapi.json')
    expect(answer.status).to.equal(200)
    expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8')
    expect(answer.json).to.deep.equal(gatewayDocument)
  })

  it('names only what the gateway answers', async () => {
    gateway.answerWith({ kind: 'refused', refusal: { code: 'x', status: 400, message: 'x' } })
    for (const { method, path } of operations) {
      const target = path
        .replace('docs/{asset}', 'docs/start.js')
        .replace('{asset}', 'main.js')
        .replace(/\{\w+\}/g, 'x')
      const { status, json } = await gateway.send(
        method,
        target,
        method === 'POST' ? { body: {} } : {},
      )
      expect([path, status]).not.to.deep.equal([path, 405])
      expect([path, json.error]).not.to.deep.equal([path, 'no such path'])
    }
  })
})

describe('the check of answers against the document', () => {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'a' }
  const time = { now: '2026-11-21T10:00:00.000Z', unix_ms: 1_795_255_200_000 }
  const refusal = { error: 'no such path', code: 'not_found', request_id: 'a' }
  const check = (change: Json, body: unknown = time): string[] =>
    undocumented({
      method: 'GET',
      path: '/v1/time?a=b',
      status: 200,
      headers,
      text: JSON.stringify(body),
      ...change,
    })

  it('has nothing against what is documented', () => {
    expect(check({})).to.deep.equal([])
    expect(check({ path: '/nowhere', status: 404 }, refusal)).to.deep.equal([])
    expect(check({ method: 'DELETE', status: 405 }, refusal)).to.deep.equal([])
  })

  const cases: [string, Json, unknown][] = [
    ['a status', { status: 418 }, time],
    ['a success where nothing is', { path: '/nowhere' }, time],
    ['a missing field', {}, { now: time.now }],
    ['a field of another type', {}, { ...time, unix_ms: '1' }],
    ['an undocumented field', {}, { ...time, more: 1 }],
    [
      'an error without its code',
      { path: '/nowhere', status: 404 },
      { error: 'x', request_id: 'a' },
    ],
    ['a header', { headers: { ...headers, 'x-more': '1' } }, time],
    ['an answer without a name', { headers: { 'content-type': 'application/json' } }, time],
    ['a content type', { headers: { ...headers, 'content-type': 'text/html' } }, time],
    [
      'a request that was carried out',
      { method: 'POST', path: '/v1/orders', sent: { order_id: 7 } },
      { order: {} },
    ],
  ]
  for (const [what, change, body] of cases) {
    it(`finds ${what}`, () => expect(check(change, body)).not.to.deep.equal([]))
  }
})
