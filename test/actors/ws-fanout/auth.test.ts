import { expect } from 'chai'
import { SESSION_LIMITS } from '../../../actors/ws-fanout/limits.js'
import {
  addressOf,
  alicesKey,
  bobsKey,
  signedAuth,
  type FrameTerms,
} from '../../support/auth-frames.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** A frame's terms, its times in seconds from the moment it is made. */
interface Terms extends FrameTerms {
  readonly from?: number
  readonly to?: number
}

function atNow({ from, to, ...terms }: Terms): FrameTerms {
  const nowSec = Math.floor(Date.now() / 1_000)
  if (from === undefined || to === undefined) return terms
  return { ...terms, issuedAt: nowSec + from, expiry: nowSec + to }
}

/** The answer to one auth frame. */
async function answer(client: SocketClient, frame: object): Promise<Frame> {
  const from = client.frames.length
  client.send(frame)
  return client.next(({ type }) => type === 'ack' || type === 'error', from)
}

describe('ws-fanout auth', () => {
  let rig: FanOutRig
  beforeEach(async () => {
    rig = await startRig()
  })
  afterEach(() => rig.end())

  const accepted: [what: string, terms: Terms][] = [
    ['an address with its checksum', {}],
    ['an address in lower case', { spelling: (address) => address.toLowerCase() }],
    ['a clock that is a minute ahead', { from: 55, to: 300 }],
    ['five minutes', { from: 0, to: 300 }],
    [
      'a text with the address in lower case where the frame has its checksum',
      { alter: (text) => text.replace(/0x[0-9a-fA-F]{40}/, (address) => address.toLowerCase()) },
    ],
  ]
  for (const [what, terms] of accepted) {
    it(`accepts ${what}`, async () => {
      const client = await rig.connect()
      expect(await answer(client, await signedAuth(atNow(terms)))).to.deep.equal({
        type: 'ack',
        message: 'authenticated',
      })
    })
  }

  const refused: [what: string, terms: Terms, reason: RegExp][] = [
    ['another domain', { domain: 'evil.example' }, /does not match/],
    ['another product', { product: 'other' }, /does not match/],
    ['the text of the order history', { purpose: 'history' }, /does not match/],
    ['a line break at the end', { alter: (text) => `${text}\n` }, /does not match/],
    ['an expired frame', { from: -200, to: -1 }, /expired/],
    ['a frame from the future', { from: 70, to: 90 }, /future/],
    ['an expiry before its issue', { from: 50, to: 40 }, /after/],
    ['more than five minutes', { from: 0, to: 301 }, /at most 300/],
    ['no nonce', { nonce: '' }, /nonce/],
    ['a nonce that writes lines of its own', { nonce: 'a\nIssued At: 1' }, /nonce/],
  ]
  for (const [what, terms, reason] of refused) {
    it(`refuses ${what} (AUT-030)`, async () => {
      const client = await rig.connect()
      const refusal = await answer(client, await signedAuth(atNow(terms)))
      expect(refusal).to.include({ type: 'error', code: 'auth_failed' })
      expect(refusal.message).to.match(reason)
    })
  }

  it("refuses the chain's twins of a signature, another owner's address, and what is not a frame", async () => {
    const good = await signedAuth()
    const signature = `${String(good.signature)}`
    const s = BigInt(`0x${signature.slice(66, 130)}`)
    const highS = (ORDER - s).toString(16).padStart(64, '0')
    const v = Number.parseInt(signature.slice(130), 16)
    const client = await rig.connect()
    for (const wrong of [
      { signature: `${signature.slice(0, 66)}${highS}${v === 27 ? '1c' : '1b'}` },
      { signature: `${signature.slice(0, 130)}0${v - 27}` },
      { signature: signature.slice(0, 130) },
      { signature: undefined },
      { address: addressOf(bobsKey) },
      { issued_at: '1' },
      { expiry: Number(good.expiry) + 1 },
    ]) {
      expect(await answer(client, { ...good, ...wrong })).to.include({ code: 'auth_failed' })
    }
    expect(await answer(client, { op: 'auth', req_id: 'q' })).to.include({ req_id: 'q' })
    // None of these used up the nonce.
    expect(await answer(client, good)).to.include({ message: 'authenticated' })
  })

  it('takes a nonce once: on one socket, on another, on another worker and after a restart (AUT-031)', async () => {
    const frame = await signedAuth({ nonce: 'once' })
    const used = { code: 'auth_failed', message: 'nonce was used before' }
    const client = await rig.connect()
    expect(await answer(client, frame)).to.include({ type: 'ack' })
    expect(await answer(client, frame)).to.include(used)
    expect(await answer(await rig.connect(), frame)).to.include(used)
    const lowerCase = await signedAuth({ nonce: 'once', spelling: (it) => it.toLowerCase() })
    expect(await answer(await rig.connect(), lowerCase)).to.include(used)

    const other = await startRig({ bus: rig.bus.connect() })
    expect(await answer(await other.connect(), frame)).to.include(used)
    const bob = await signedAuth({ nonce: 'once', privateKey: bobsKey })
    expect(await answer(await other.connect(), bob)).to.include({ type: 'ack' })
    await other.end()
    await rig.restart()
    expect(await answer(await rig.connect(), frame)).to.include(used)
  })

  it('lets one of many sockets have a nonce that all send at once', async () => {
    const frame = await signedAuth()
    const clients = await Promise.all(Array.from({ length: 10 }, () => rig.connect()))
    const answers = await Promise.all(clients.map((client) => answer(client, frame)))
    expect(answers.filter(({ type }) => type === 'ack')).to.have.length(1)
  })

  it('keeps the first address until the connection closes (STR-040)', async () => {
    const client = await rig.connect()
    expect(await answer(client, await signedAuth())).to.include({ type: 'ack' })
    const bobs = await signedAuth({ privateKey: bobsKey })
    expect(await answer(client, bobs)).to.include({ code: 'auth_failed' })
    expect(await answer(client, await signedAuth())).to.include({ type: 'ack' })
    expect(await answer(await rig.connect(), bobs), 'it was not used up').to.include({
      type: 'ack',
    })
  })

  it('judges frames in the order in which they came', async () => {
    const client = await rig.connect()
    client.send({ op: 'ping', req_id: '1' })
    client.send({ ...(await signedAuth()), req_id: '2' })
    client.send({ op: 'ping', req_id: '3' })
    client.send({ ...(await signedAuth({ privateKey: bobsKey })), req_id: '4' })
    client.send({ op: 'ping', req_id: '5' })
    await client.next(({ req_id }) => req_id === '5')
    expect(client.frames.map(({ req_id, type }) => `${req_id} ${type}`)).to.deep.equal([
      '1 pong',
      '2 ack',
      '3 pong',
      '4 error',
      '5 pong',
    ])
  })

  it('refuses while a nonce cannot be checked, and goes on when it can (AUT-032)', async () => {
    const client = await rig.connect()
    rig.bus.setConnected(false)
    const refusal = await answer(client, await signedAuth({ privateKey: alicesKey }))
    expect(refusal).to.include({ code: 'auth_failed' })
    expect(refusal.message).to.contain('could not be checked')
    rig.bus.setConnected(true)
    expect(await answer(client, await signedAuth())).to.include({ type: 'ack' })
  })

  it('judges by the words and the clock it was given (AUT-035)', async () => {
    const words = { domain: 'venue.example', product: 'acme' }
    await rig.restart({ words, nowMs: () => 1_000_000_000_000 })
    const client = await rig.connect()
    const terms = { ...words, issuedAt: 1_000_000_000, expiry: 1_000_000_010 }
    expect(await answer(client, await signedAuth(terms))).to.include({ type: 'ack' })
    expect(await answer(client, await signedAuth(words))).to.include({ code: 'auth_failed' })
  })

  it('takes so many frames of an address at once, of whichever sockets and owners (STR-057)', async () => {
    await rig.restart({ limits: { ...SESSION_LIMITS, authsAtOnce: 2, authEveryMs: 3_600_000 } })
    const from = (address?: string) =>
      rig.connect(address === undefined ? {} : { headers: { 'X-Forwarded-For': address } })
    const send = async (client: SocketClient, terms?: FrameTerms): Promise<unknown> => {
      const { type, message } = await answer(client, await signedAuth(terms))
      return type === 'ack' ? type : message
    }
    const first = await from('10.0.0.1')
    expect(await send(first)).to.equal('ack')
    expect(await send(first, { domain: 'evil.example' })).to.match(/does not match/)
    const tooMany = 'too many auth frames from this address: wait a second'
    expect(await send(first)).to.equal(tooMany)
    expect(await send(await from('10.0.0.1'), { privateKey: bobsKey })).to.equal(tooMany)
    expect(await send(await from('10.0.0.2'))).to.equal('ack')
    const local = await from()
    for (let n = 0; n < 3; n += 1) expect(await send(local)).to.equal('ack')
    await rig.restart({ limits: { ...SESSION_LIMITS, authsAtOnce: 1, authEveryMs: 20 } })
    const later = await from('10.0.0.1')
    expect(await send(later)).to.equal('ack')
    while ((await send(later)) !== 'ack');
  })
})
