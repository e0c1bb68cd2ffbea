import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import {
  decodeSessionKeysQuestion,
  encodeSessionKeysAnswer,
} from '../../bus-schemas/owner-accounts.js'
import { askSessionKeys } from '../../bus-schemas/subjects.js'
import { frameMessage } from '../../core/entry/auth-frame.js'
import { testPrivateKey } from '../support/builders.js'
import {
  aHistoryGateway,
  authHeader,
  FRAME_WORDS,
  NOW_SEC,
  type HistoryGateway,
} from './stage/history-gateway.js'

const b64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Headers that open nothing, and what is said about each. */
const refused: [string, () => Promise<string> | string | undefined, string][] = [
  ['no header', () => undefined, 'X-Service-Auth header is required'],
  ['an empty header', () => '', 'X-Service-Auth header is required'],
  ['not base64url', () => '{"address":1}', 'X-Service-Auth must be base64url-encoded JSON'],
  [
    'not JSON',
    () => Buffer.from('hello').toString('base64url'),
    'X-Service-Auth must be base64url-encoded JSON',
  ],
  ['no object', () => b64([1]), 'auth failed: the frame must be a JSON object'],
  [
    'no nonce',
    () => authHeader({}, { sent: { nonce: undefined } }),
    'auth failed: nonce is required',
  ],
  ['expired', () => authHeader({ expiry: NOW_SEC }), 'auth failed: the frame has expired'],
  [
    'issued ten minutes ahead',
    () => authHeader({ issued_at: NOW_SEC + 600 }),
    'auth failed: issued_at is in the future',
  ],
  [
    'valid for more than a day',
    () => authHeader({ issued_at: NOW_SEC, expiry: NOW_SEC + 86_401 }),
    'auth failed: the frame may be valid for at most 86400 seconds',
  ],
  [
    'the text of the WebSocket',
    () =>
      authHeader(
        { expiry: NOW_SEC + 60 },
        { text: (f) => frameMessage('socket', FRAME_WORDS, { ...f, issuedAt: f.issued_at }) },
      ),
    'auth failed: signature does not match address',
  ],
  [
    'another domain',
    () =>
      authHeader(
        {},
        {
          text: (f) =>
            frameMessage(
              'history',
              { ...FRAME_WORDS, domain: 'evil.test' },
              { ...f, issuedAt: f.issued_at },
            ),
        },
      ),
    'auth failed: signature does not match address',
  ],
  [
    "another owner's address",
    () => authHeader({ address: `0x${'ab'.repeat(20)}` }),
    'auth failed: signature does not match address',
  ],
]

describe('X-Service-Auth', () => {
  let gateway: HistoryGateway
  before(async () => (gateway = await aHistoryGateway()))
  after(() => gateway.close())

  for (const [name, header, error] of refused) {
    it(`${name}: 401 ${error} (AUT-034)`, async () => {
      const sent = await header()
      for (const path of ['/v1/orders', '/v1/fills', '/v1/close-outs']) {
        const answer = await gateway.get(path, sent)
        expect(answer.status).to.equal(401)
        expect(answer.json).to.include({ error })
        expect(answer.json.code).to.match(/^auth_(required|malformed|failed)$/)
        expect(answer.headers['cache-control']).to.equal('no-store')
      }
    })
  }

  it('one frame opens all histories, as often as wanted', async () => {
    const header = await authHeader({ issued_at: NOW_SEC, expiry: NOW_SEC + 86_400 })
    for (const path of ['/v1/orders', '/v1/fills', '/v1/close-outs', '/v1/orders']) {
      const answer = await gateway.get(path, header)
      expect(answer.status).to.equal(200)
      expect(answer.headers['cache-control']).to.equal('no-store')
    }
  })

  it('is judged before the query (AUT-034)', async () => {
    expect((await gateway.get('/v1/orders?limit=0')).status).to.equal(401)
  })

  it('goes by the configured names (AUT-035)', async () => {
    const words = { domain: 'acme.test', product: 'acme' }
    const own = await aHistoryGateway({ auth: { header: 'X-Acme-Auth', words } })
    try {
      const header = await authHeader(
        {},
        { text: (f) => frameMessage('history', words, { ...f, issuedAt: f.issued_at }) },
      )
      const send = (name: string) => own.send('GET', '/v1/fills', { headers: { [name]: header } })
      expect((await send('x-acme-auth')).status).to.equal(200)
      expect((await send('x-service-auth')).json.error).to.equal('X-Acme-Auth header is required')
    } finally {
      await own.close()
    }
  })
})

describe('X-Service-Auth by a session key', () => {
  const key = privateKeyToAccount(testPrivateKey).address
  const owner = `0x${'ab'.repeat(20)}`
  const asked: object[] = []
  /** What the index of the chain reader has. */
  let endsSec: bigint[] | undefined
  let gateway: HistoryGateway
  before(async () => {
    gateway = await aHistoryGateway()
    const { bus } = gateway
    await bus.answer(askSessionKeys, 'chain-reader', (data, replyTo) => {
      asked.push(...decodeSessionKeysQuestion(data).keys)
      bus.reply(replyTo, encodeSessionKeysAnswer(endsSec === undefined ? {} : { endsSec }))
    })
  })
  after(() => gateway.close())

  const read = async (path: string) =>
    gateway.get(path, await authHeader({ address: owner }, { sent: { signer_address: key } }))
  const paths = ['/v1/orders', '/v1/fills', '/v1/close-outs']

  it('opens the histories of its owner while it is registered, looked up at each use (AUT-041)', async () => {
    endsSec = [BigInt(NOW_SEC + 60)]
    asked.length = 0
    for (const path of paths) expect((await read(path)).status, path).to.equal(200)
    expect(asked).to.deep.equal(paths.map(() => ({ owner, key: key.toLowerCase() })))
    for (const ended of [0n, BigInt(NOW_SEC)]) {
      endsSec = [ended]
      for (const path of [...paths, '/v1/balances']) {
        const { status, json } = await read(path)
        expect(status).to.equal(401)
        expect(json).to.include({ code: 'session_key_ended' })
      }
    }
  })

  it('is refused while it cannot be looked up: before the index is whole, and without an answer', async () => {
    endsSec = undefined
    const refused = { code: 'session_key_unreadable' }
    const behind = await read('/v1/orders')
    expect(behind.status).to.equal(503)
    expect(behind.headers['retry-after']).to.equal('1')
    expect(behind.json).to.include(refused)
    gateway.bus.setConnected(false)
    expect((await read('/v1/orders')).json).to.include(refused)
    gateway.bus.setConnected(true)
  })
})
