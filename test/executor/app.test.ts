import { expect } from 'chai'
import type { Server } from 'node:http'
import type { Acceptance } from '../../chain/sender/tracking.js'
import { createApp, serveApp } from '../../executor/app.js'
import { executorEnv } from '../../executor/config.js'
import type { MatchAdmission } from '../../executor/admit.js'
import type { ExecuteAnswer } from '../../executor/execute.js'
import type { Objection } from '../../executor/payload.js'
import type { MeasuredRequest } from '../../runtime/http/server.js'
import { createLog } from '../../runtime/process/log.js'
import { eventually } from '../support/eventually.js'
import { aBody } from './execute-body.js'

const config = {
  ...executorEnv.parse({
    EXECUTOR_PORT: '0',
    NATS_URL: 'nats://127.0.0.1:4222',
    RPC_URL: 'http://127.0.0.1:8545',
    DEPLOYMENT_FILE: 'deployment.json',
    DATA_DIR: 'var',
  }),
  key: { file: 'key' },
  door: { secret: 'word', hosts: [] },
}

describe('the service of the executor', () => {
  let answer: ExecuteAnswer
  let answered: MeasuredRequest[]
  let servers: Server[]
  let logged: string[]
  let objections: Objection[]
  let admission: MatchAdmission
  let known: Set<string>
  let acceptance: Acceptance
  beforeEach(() => {
    answer = { kind: 'refused', revert: 'TM_X' }
    ;[answered, servers, logged, objections] = [[], [], [], []]
    admission = { kind: 'admitted' }
    known = new Set()
  })
  afterEach(() => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })

  /** The address where it says that it listens. */
  async function serve(): Promise<string> {
    const log = createLog('executor', 'info', { write: (line) => logged.push(line) })
    const app = createApp({
      execute: () => Promise.resolve(answer),
      isKnown: (id) => known.has(id),
      idOf: (_, key = '0xid') => key,
      checkTerms: () => objections,
      admit: () => Promise.resolve(admission),
      trouble: () => undefined,
      acceptForeign: () => Promise.resolve(acceptance),
      readReversals: () => Promise.resolve([]),
      faults: { standing: () => undefined },
      door: config.door,
      log,
      onFatal: () => undefined,
      onAnswer: (one) => answered.push(one),
    })
    servers.push(await serveApp(app, config, log))
    const [first = '{}'] = logged
    return (JSON.parse(first) as { url: string }).url
  }
  const post = (url: string, headers: Record<string, string> = {}, body: unknown = aBody()) => {
    const json = { 'content-type': 'application/json', ...headers }
    return fetch(`${url}/execute`, { method: 'POST', headers: json, body: JSON.stringify(body) })
  }

  it('listens on this machine alone by default, and says where', async () => {
    const url = await serve()
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:[1-9][0-9]*$/)
    expect((await fetch(`${url}/healthz`)).status).to.equal(200)
    expect((await fetch(`${url}/HEALTHZ`)).status).to.equal(404)
  })

  it('asks for the secret on loopback too, and closes the connection of a caller without it (SET-048)', async () => {
    const url = await serve()
    for (const refused of [await post(url), await fetch(`${url}/faults`)]) {
      expect(refused.status).to.equal(401)
      expect(refused.headers.get('www-authenticate')).to.equal('Bearer')
      expect(refused.headers.get('connection')).to.equal('close')
    }
    const taken = await post(url, { authorization: 'Bearer word' })
    expect(taken.status).to.equal(422)
    expect(taken.headers.get('www-authenticate')).to.equal(null)
  })

  it('tells the code of each refusal', async () => {
    const url = await serve()
    const secret = { authorization: 'Bearer word' }
    const codeOf = async (asking: Promise<Response>): Promise<string | undefined> => {
      const before = answered.length
      await asking
      await eventually(() => answered.length > before)
      return answered.at(-1)?.code
    }
    expect(await codeOf(post(url))).to.equal('secret_required')
    const key = { 'idempotency-key': 'x'.repeat(201) }
    expect(await codeOf(post(url, { ...secret, ...key }))).to.equal('invalid_idempotency_key')
    expect(await codeOf(post(url, secret, {}))).to.equal('invalid_payload')
    for (const [said, code] of [
      [answer, 'would_revert'],
      [{ kind: 'unavailable', why: 'frozen' }, 'unavailable'],
      [{ kind: 'unknown', hash: '0xaa' }, 'outcome_unknown'],
      [{ kind: 'mismatch' }, 'idempotency_key_reused'],
    ] as const) {
      answer = said
      expect(await codeOf(post(url, secret))).to.equal(code)
    }
    const get = (path: string) => codeOf(fetch(`${url}${path}`, { headers: secret }))
    expect(await get('/reversals?after=x')).to.equal('invalid_after')
    expect(await get('/reversals?limit=0')).to.equal('invalid_limit')
    expect(await get('/faults')).to.equal('unavailable')
  })

  it('refuses what is not to be settled with 422, what the market does not tell with 503', async () => {
    const url = await serve()
    const ask = async (key = '') => {
      const response = await post(url, { authorization: 'Bearer word', 'idempotency-key': key })
      return [response.status, await response.json()] as const
    }
    const detail = { field: 'actions.0', message: 'has 0 left' }
    const body = { error: 'not to be settled: actions.0: has 0 left', details: [detail] }
    admission = { kind: 'refused', objection: { ...detail, guilty: 'venue' } }
    expect(await ask()).to.deep.equal([422, { ...body, guilty: 'venue' }])
    admission = { kind: 'refused', objection: detail }
    expect(await ask()).to.deep.equal([422, body])
    // What was sent before is answered from its record, with its key or without.
    known = new Set(['sent', '0xid'])
    for (const key of ['sent', '']) expect((await ask(key))[1]).to.have.property('revert', 'TM_X')
    known = new Set()
    admission = { kind: 'unavailable', why: 'the market is silent' }
    expect(await ask()).to.deep.equal([503, { error: 'the market is silent' }])
    objections = [{ field: 'order_data.taker_fee', message: 'must be 7', isUnsettleable: true }]
    expect((await ask())[0]).to.equal(422)
    objections.push({ field: 'market', message: 'is not settled here' })
    expect((await ask())[0]).to.equal(400)
  })

  it('accepts a foreign transaction by its hash, or says why it does not', async () => {
    const url = await serve()
    const accept = async (body: unknown, headers: Record<string, string> = {}) => {
      const json = { 'content-type': 'application/json', authorization: 'Bearer word' }
      const response = await fetch(`${url}/accept-foreign`, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: JSON.stringify(body),
      })
      return [response.status, await response.json()] as const
    }
    const hash = `0x${'AB'.repeat(32)}` as const
    const by = { hash, blockNumber: 7n, blockHash: hash }
    const frozen = { evmNonce: 3, by }
    acceptance = { kind: 'accepted', foreign: [frozen] }
    const transactions = [{ evm_nonce: 3, tx_hash: hash, block_number: '7' }]
    expect(await accept({ tx_hash: hash })).to.deep.equal([200, { transactions }])
    for (const [kind, words] of [
      [{ kind: 'not_frozen' }, 'no foreign transaction'],
      [{ kind: 'another', frozen }, hash],
      [{ kind: 'not_final', frozen }, 'not final yet'],
      [{ kind: 'unexplained', evmNonce: 3 }, 'nonce 3'],
      [{ kind: 'own', ...frozen }, 'EXECUTOR_ACCEPT_NONCES=4'],
    ] as const) {
      acceptance = kind
      const [status, body] = await accept({ tx_hash: hash })
      expect([status, JSON.stringify(body)]).to.satisfy(([code, text]: [number, string]) => {
        return code === 422 && text.includes(words)
      })
    }
    expect((await accept({ tx_hash: '0x12' }))[0]).to.equal(400)
    expect((await accept({ tx_hash: hash }, { authorization: '' }))[0]).to.equal(401)
    expect((await accept({ tx_hash: hash }, { 'content-type': 'text/plain' }))[0]).to.equal(415)
  })

  it('says that an account was spent elsewhere, where it was', async () => {
    const url = await serve()
    answer = { kind: 'refused', revert: 'TM_X', isSpentElsewhere: true }
    const taken = await post(url, { authorization: 'Bearer word' })
    expect(await taken.json()).to.deep.equal({
      error: 'the match would revert: TM_X',
      revert: 'TM_X',
      spent_elsewhere: true,
    })
  })
})
