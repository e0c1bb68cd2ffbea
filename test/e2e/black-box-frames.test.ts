import { expect } from 'chai'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '../support/venue.js'
import { createChainUser, type ChainUser } from './black-box/chain.js'
import { nowSec, until, type Hex, type Json } from './black-box/client.js'
import { asHeader, getWith, signedFrame, SOCKET_WISH, type FrameWish } from './black-box/frames.js'
import { expectError } from './black-box/shapes.js'
import { listen } from './black-box/socket.js'
import { sharedVenue } from './stage/shared-venue.js'

const DAY = 86_400
const HISTORIES = ['/v1/orders', '/v1/fills'] as const
const FAILED = /^auth failed: .+$/
const NOT_BASE64_JSON = 'X-Service-Auth must be base64url-encoded JSON'

describe('a trader shows who it is', function () {
  const key = generatePrivateKey()
  const other = generatePrivateKey()
  let devnet: Devnet
  before(async function () {
    ;({ devnet } = await sharedVenue())
  })

  const headerOf = async (wish: FrameWish = {}, signer: Hex = key) =>
    asHeader(await signedFrame(devnet, signer, wish))
  /** Both histories are refused so, and no cache may keep it. */
  const refused = async (header: string | undefined, error: string | RegExp) => {
    for (const path of HISTORIES) {
      const answer = await getWith(devnet, path, header)
      expectError(answer, 401, error)
      expect(answer.headers.get('cache-control')).to.equal('no-store')
    }
  }
  const taken = async (header: string) => {
    for (const path of HISTORIES) {
      const { status, body, headers } = await getWith(devnet, path, header)
      expect(body).to.deep.equal({ [path.slice(4)]: [] })
      expect(status).to.equal(200)
      expect(headers.get('cache-control')).to.equal('no-store')
    }
  }

  describe('and is let in', () => {
    it('by one frame for both histories, used again, empty for an owner that never traded (AUT-029)', async () => {
      const header = await headerOf()
      await taken(header)
      await taken(header)
    })

    it('by a frame that is good for a day', async () => {
      await taken(await headerOf({ validFor: DAY }))
    })

    it('with padding behind the base64url (AUT-033)', async () => {
      const frame = await signedFrame(devnet, key)
      for (const nonce of ['a', 'bb', 'ccc']) {
        const text = JSON.stringify({ ...frame, ignored: nonce })
        const padded = Buffer.from(text).toString('base64').replaceAll('+', '-')
        await taken(padded.replaceAll('/', '_'))
      }
    })

    it('with the address in lower case, in the frame, the text, or both (AUT-026)', async () => {
      const address = privateKeyToAccount(key).address.toLowerCase()
      const signedAddress = (text: string) => text.toLowerCase()
      await taken(await headerOf({ signedAddress }))
      await taken(await headerOf({ signedAddress, more: { address } }))
    })

    it('although its clock is some seconds ahead', async () => {
      await taken(await headerOf({ issuedIn: 30 }))
    })
  })

  describe('but not', () => {
    it('without the header', async () => {
      await refused(undefined, 'X-Service-Auth header is required')
      await refused('', 'X-Service-Auth header is required')
    })

    it('by text that is no base64url, or holds no JSON', async () => {
      const frame = JSON.stringify(await signedFrame(devnet, key))
      for (const header of [
        frame,
        'not base64url!',
        Buffer.from('{"address":').toString('base64url'),
        Buffer.from([0xff, 0xfe, 0x00]).toString('base64url'),
      ])
        await refused(header, NOT_BASE64_JSON)
    })

    it('by JSON that is no object', async () => {
      for (const json of [[], 'text', 7, null]) await refused(asHeader(json), FAILED)
    })

    for (const field of ['address', 'signature', 'nonce', 'issued_at', 'expiry'])
      it(`by a frame without ${field}`, async () => {
        await refused(await headerOf({ more: { [field]: undefined } }), FAILED)
      })

    it('by fields of other types', async () => {
      const { issued_at, expiry } = await signedFrame(devnet, key)
      const broken: Json[] = [
        { address: '0x12' },
        { address: 12 },
        { signature: '0x' },
        { signature: 'no hex' },
        { nonce: 5 },
        { nonce: '' },
        { issued_at: `${issued_at as number}` },
        { expiry: `${expiry as number}` },
        { expiry: 1.5 },
        { expiry: -1 },
      ]
      for (const more of broken) await refused(await headerOf({ more }), FAILED)
    })

    it('by a frame that has expired, or expires before it is issued', async () => {
      await refused(await headerOf({ issuedIn: -700 }), FAILED)
      await refused(await headerOf({ issuedIn: 30, validFor: -10 }), FAILED)
    })

    it('by a frame from far in the future (AUT-028)', async () => {
      await refused(await headerOf({ issuedIn: 300 }), FAILED)
    })

    it('by a frame that is good for more than a day (AUT-029)', async () => {
      await refused(await headerOf({ validFor: DAY + 1 }), FAILED)
    })

    it('by the text of the WebSocket (AUT-025)', async () => {
      await refused(await headerOf({ wish: SOCKET_WISH }), FAILED)
    })

    it('for another domain', async () => {
      await refused(await headerOf({ domain: 'elsewhere.example' }), FAILED)
    })

    it('under another address', async () => {
      const { address } = privateKeyToAccount(other)
      await refused(await headerOf({ more: { address } }), FAILED)
    })

    for (const [field, value] of [
      ['nonce', 'another'],
      ['issued_at', 1_700_000_000],
      ['expiry', Math.floor(Date.now() / 1000) + 900],
    ] as const)
      it(`with another ${field} than was signed`, async () => {
        await refused(await headerOf({ more: { [field]: value } }), FAILED)
      })

    it('with a malleated signature (AUT-027)', async () => {
      const frame = await signedFrame(devnet, key)
      const signature = frame.signature as Hex
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
      const s = order - BigInt(`0x${signature.slice(66, 130)}`)
      const v = signature.endsWith('1b') ? '1c' : '1b'
      const high = `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
      await refused(asHeader({ ...frame, signature: high }), FAILED)
    })

    it('before its query was looked at', async () => {
      const answer = await getWith(devnet, '/v1/fills?limit=0&before=x')
      expectError(answer, 401, 'X-Service-Auth header is required')
    })
  })

  describe('by a session key', () => {
    const sessionKey = generatePrivateKey()
    const NO_KEY =
      'auth failed: signer_address is no session key of address, or its registration has ended'
    let owner: Hex
    let user: ChainUser
    before(() => {
      const [, , , , , account] = devnet.accounts
      owner = account?.address as Hex
      user = createChainUser(devnet, account?.private_key as Hex)
    })
    const keyed = (wish: FrameWish = {}) => headerOf({ owner, ...wish }, sessionKey)
    const soon = async (header: string, status: number) => {
      const answer = await until(
        () => getWith(devnet, '/v1/fills', header),
        (it) => it.status === status,
      )
      return answer.body
    }
    const keyIn = async (expiresIn: number, signer: Hex = sessionKey) => {
      await user.registerSessionKey(
        privateKeyToAccount(signer).address,
        BigInt(nowSec() + expiresIn),
      )
    }
    const opened = async () => {
      const auth = await signedFrame(devnet, sessionKey, {
        owner,
        wish: SOCKET_WISH,
        validFor: 240,
      })
      const socket = await listen(devnet, { op: 'auth', ...auth })
      await socket.next(({ type }) => type === 'ack' || type === 'error')
      return { auth, socket }
    }

    it('that is not registered, has expired, or is another owner’s: refused (AUT-041)', async () => {
      await refused(await keyed(), NO_KEY)
      const late = generatePrivateKey()
      await keyIn(-60, late)
      await refused(await headerOf({ owner }, late), NO_KEY)
      await keyIn(3_600)
      const header = await keyed()
      await soon(header, 200)
      const [, , , , ann] = devnet.accounts
      await refused(await keyed({ owner: ann?.address as Hex }), NO_KEY)
      await refused(await keyed({ more: { address: ann?.address } }), FAILED)
    })

    it('that is registered: let in, to the socket too, where a frame that is sent again is refused (AUT-040)', async () => {
      await taken(await keyed())
      const { auth, socket } = await opened()
      expect(socket.frames.map(({ type }) => type)).to.deep.equal(['ack'])
      const again = await listen(devnet, { op: 'auth', ...auth })
      const { message } = await again.next(({ type }) => type !== 'ack')
      expect(message).to.equal('nonce was used before')
      for (const one of [socket, again]) one.close()
    })

    it('whose deregistration begins: refused, and its socket is closed (AUT-042)', async () => {
      const header = await keyed()
      const { socket } = await opened()
      await taken(header)
      await user.deregisterSessionKey(privateKeyToAccount(sessionKey).address)
      expect(await socket.closed).to.equal(1008)
      expect(socket.frames.at(-1)).to.include({ type: 'error', code: 'session_key_ended' })
      expect(await soon(header, 401)).to.include({ error: NO_KEY, code: 'session_key_ended' })
    })
  })

  describe('and asks for pages', () => {
    it('not of a size that is none', async () => {
      const header = await headerOf()
      for (const path of HISTORIES)
        for (const limit of ['0', '101', '-1', 'x', '1.5', '']) {
          const answer = await getWith(devnet, `${path}?limit=${limit}`, header)
          expectError(answer, 400, 'limit must be between 1 and 100')
          expect(answer.headers.get('cache-control')).to.equal('no-store')
        }
    })

    it('not from a place that no page named', async () => {
      const header = await headerOf()
      for (const path of HISTORIES)
        for (const before of ['', 'x', '0', '1790000000000', 'b3JkZXJzOjE6MQ%3D%3D']) {
          const answer = await getWith(devnet, `${path}?before=${before}`, header)
          expectError(answer, 400, 'before must be a next_before value returned by this endpoint')
        }
    })

    it('and not by a parameter that names another owner', async () => {
      const owner = devnet.accounts[0]?.address
      const header = await headerOf()
      for (const path of HISTORIES) {
        const query = `owner_address=${owner}&owner=${owner}&address=${owner}`
        const { status, body } = await getWith(devnet, `${path}?${query}`, header)
        expect(status).to.equal(200)
        expect(body).to.deep.equal({ [path.slice(4)]: [] })
      }
    })
  })
})
