import { Router } from '@koa/router'
import { expect } from 'chai'
import { request, type Server } from 'node:http'
import { InvariantBroken } from '../../../core/assert.js'
import { badRequest } from '../../../core/entry/refusals.js'
import {
  refuseWith,
  type HttpState,
  createHttpApp,
  closeServer,
  createHttpServer,
  listen,
} from '../../../runtime/http/server.js'
import { readBody } from '../../../runtime/http/read-body.js'
import { createLog } from '../../../runtime/process/log.js'

const refuse = refuseWith(({ message, code }, request_id) => ({ error: message, code, request_id }))

describe('an HTTP application', () => {
  let server: Server
  let port: number
  let lines: Record<string, unknown>[]
  let fatal: unknown[]

  beforeEach(async () => {
    lines = []
    fatal = []
    const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
    const router = new Router<HttpState>()
    router.get('/object', (ctx) => {
      ctx.body = { price: '1' }
    })
    router.get('/bigint', (ctx) => {
      ctx.body = { price: 1n }
    })
    router.get('/broken', () => {
      throw new InvariantBroken('two writers')
    })
    router.get('/refused', (ctx) => refuse(ctx, badRequest('too_odd', 'too odd'), { odd: true }))
    router.post('/body', async (ctx) => {
      const read = await readBody(ctx.req, { maxBytes: 10, maxDepth: 1 })
      if ('refusal' in read) return refuse(ctx, read.refusal)
      ctx.body = { read: read.body.toString() }
    })
    const log = createLog('test', 'debug', { write })
    const app = createHttpApp({ router, refuse, log, onFatal: (error) => fatal.push(error) })
    server = createHttpServer(app.callback())
    port = await listen(server, 0, '127.0.0.1')
  })
  afterEach(() => closeServer(server, 0))

  const send = (path: string, body?: string): Promise<[number, string, string | undefined]> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const headers = { 'x-request-id': 'r-1', connection: 'keep-alive' }
      request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
        let text = ''
        expect(response.headers['x-request-id']).to.equal('r-1')
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () =>
          resolve([response.statusCode ?? 0, text, response.headers.connection]),
        )
      })
        .on('error', reject)
        .end(body)
    })

  it('answers objects as JSON and leaves one line in the log', async () => {
    expect((await send('/object')).slice(0, 2)).to.deep.equal([200, '{"price":"1"}'])
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include({
      level: 'debug',
      msg: 'request answered',
      request_id: 'r-1',
      method: 'GET',
      path: '/object',
      status: 200,
    })
  })

  it('answers 500 in JSON to a body that cannot be serialised, its reason in the log alone', async () => {
    const [status, text] = await send('/bigint')
    expect([status, JSON.parse(text)]).to.deep.equal([
      500,
      { error: 'internal error', code: 'internal', request_id: 'r-1' },
    ])
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      ['error', 'request failed'],
      ['warn', 'request answered'],
    ])
    expect(fatal).to.deep.equal([])
  })

  it('reports a broken invariant, once it is answered', async () => {
    expect((await send('/broken'))[0]).to.equal(500)
    expect(fatal.map(String)).to.deep.equal(['InvariantBroken: two writers'])
  })

  it('answers a refusal with its status and further fields, its code in the log', async () => {
    const [status, text] = await send('/refused')
    expect([status, text]).to.deep.equal([
      400,
      '{"error":"too odd","code":"too_odd","request_id":"r-1","odd":true}',
    ])
    expect(lines[0]).to.include({ status: 400, code: 'too_odd' })
  })

  it('keeps the connection after a body that was read, and closes it after any other', async () => {
    expect(await send('/body', '{"a":1}')).to.deep.equal([
      200,
      '{"read":"{\\"a\\":1}"}',
      'keep-alive',
    ])
    expect((await send('/body', '{{}}'))[2]).to.equal('keep-alive')
    expect([
      (await send('/body', 'x'.repeat(11)))[0],
      (await send('/body', 'x'.repeat(11)))[2],
    ]).to.deep.equal([413, 'close'])
    expect((await send('/nowhere', '{}'))[2]).to.equal('close')
  })
})
