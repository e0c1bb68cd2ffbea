import { expect } from 'chai'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { createApp } from '../../executor/app.js'
import { createLog } from '../../runtime/process/log.js'
import { readBody } from '../support/answer-body.js'
import { serveApp, type ServedApp } from '../support/serve-app.js'
import { aBody, admitAll } from './execute-body.js'

const SECRET = 'not a secret'

describe('the door of the executor', () => {
  let served: ServedApp
  let asked = 0
  let accepted = 0
  before(async () => {
    const app = createApp({
      execute: () => {
        asked += 1
        return Promise.resolve({ kind: 'refused', revert: 'TM_X' })
      },
      isKnown: () => false,
      idOf: () => '0xid',
      checkTerms: () => [],
      admit: admitAll,
      trouble: () => undefined,
      readReversals: () => Promise.resolve([]),
      acceptForeign: () => {
        accepted += 1
        return Promise.resolve({ kind: 'not_frozen' })
      },
      faults: { standing: () => new Map() },
      door: { secret: SECRET, hosts: ['Executor.internal'] },
      log: createLog('executor', 'silent'),
      onFatal: () => undefined,
    })
    served = await serveApp(app)
  })
  beforeEach(() => (asked = 0))
  after(() => served.stop())

  const refusedAtTheDoor: Record<string, { headers: Record<string, string>; status: number }> = {
    'a page of another origin': { headers: { origin: 'https://evil.example' }, status: 403 },
    'a page of a file': { headers: { origin: 'null' }, status: 403 },
    'a page of its own address': { headers: { origin: 'http://127.0.0.1:8081' }, status: 403 },
    'a name that was moved to this address': { headers: { host: 'evil.example' }, status: 403 },
    'a name that begins like its own': { headers: { host: 'localhost.evil.example' }, status: 403 },
    'an address at which it does not listen': { headers: { host: '10.1.2.3:8081' }, status: 403 },
    text: { headers: { 'content-type': 'text/plain' }, status: 415 },
    'a form': { headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 415 },
    'a longer type': { headers: { 'content-type': 'application/jsonx' }, status: 415 },
    'no type': { headers: { 'content-type': '' }, status: 415 },
  }
  for (const [name, { headers, status }] of Object.entries(refusedAtTheDoor)) {
    it(`refuses ${name}, although it has the secret (SET-049)`, async () => {
      expect(await raw(headers)).to.equal(status)
      expect(asked).to.equal(0)
    })
  }

  it('takes its own names, with and without a port, and every spelling of JSON', async () => {
    for (const host of [
      'localhost',
      'LOCALHOST:1',
      '127.0.0.1:8081',
      '[::1]:9',
      '[::1]',
      'Executor.Internal:80',
    ])
      expect(await raw({ host }), host).to.equal(422)
    for (const type of ['application/json', 'Application/JSON; charset=utf-8'])
      expect(await raw({ 'content-type': type }), type).to.equal(422)
  })

  for (const [method, path] of [
    ['POST', '/execute'],
    ['POST', '/accept-foreign'],
    ['GET', '/faults'],
    ['GET', '/reversals'],
  ] as const) {
    it(`asks for its own name and for the secret at ${method} ${path}`, async () => {
      expect(await raw({ host: 'evil.example' }, method, path)).to.equal(403)
      expect(await raw({ origin: 'https://evil.example' }, method, path)).to.equal(403)
      expect(await raw({ authorization: '' }, method, path)).to.equal(401)
      expect(accepted).to.equal(0)
    })
  }

  it('answers /healthz without the secret', async () => {
    const response = await fetch(`${served.url}/healthz`)
    expect([response.status, await readBody(response)]).to.deep.equal([200, { status: 'ok' }])
  })

  /** The status of the answer; `fetch` does not let a caller say its own Host. */
  async function raw(given: Record<string, string>, method = 'POST', path = '/execute') {
    const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' }
    const asking = request(`${served.url}${path}`, { method, headers: { ...headers, ...given } })
    asking.end(method === 'POST' ? JSON.stringify(aBody()) : '')
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
})
