import { expect } from 'chai'
import { KEY_UNREAD_MS, KeyWatch } from '../../../actors/ws-fanout/key-watch.js'
import {
  decodeSessionKeysQuestion,
  encodeSessionKeysAnswer,
  MAX_ASKED_KEYS,
  type AskedKey,
} from '../../../bus-schemas/owner-accounts.js'
import {
  decodeCancelsRequest,
  encodeCancelsAnswer,
  type CancelsRequest,
} from '../../../bus-schemas/cancels.js'
import { askCancels, askSessionKeys } from '../../../bus-schemas/subjects.js'
import type { Address } from '../../../core/action.js'
import { addressOf, alicesKey, bobsKey, signedAuth } from '../../support/auth-frames.js'
import { eventually } from '../../support/eventually.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import type { SocketClient } from '../../support/socket-client.js'

const alice = addressOf(alicesKey)
const bob = addressOf(bobsKey)
const nameOf = ({ owner, key }: AskedKey): string => `${owner} ${key}`
const soonSec = (): bigint => BigInt(Math.floor(Date.now() / 1_000) + 3_600)

describe('a socket of a session key', () => {
  let rig: FanOutRig
  /** Ends of registered keys, by owner and key. */
  let registered: Map<string, bigint>
  let isWhole = true
  beforeEach(async () => {
    rig = await startRig()
    registered = new Map()
    isWhole = true
    await rig.bus.answer(askSessionKeys, 'chain-reader', (data, replyTo) => {
      const { keys } = decodeSessionKeysQuestion(data)
      const endsSec = keys.map((key) => registered.get(nameOf(key)) ?? 0n)
      rig.bus.reply(replyTo, encodeSessionKeysAnswer(isWhole ? { endsSec } : {}))
    })
  })
  afterEach(() => rig.end())

  const answer = async (client: SocketClient, frame: object) => {
    const from = client.frames.length
    client.send(frame)
    return client.next(({ type }) => type === 'ack' || type === 'error', from)
  }
  const register = (): void => void registered.set(nameOf({ owner: alice, key: bob }), soonSec())
  const byKey = () => signedAuth({ privateKey: bobsKey, owner: alice })

  it("follows the owner's orders, and is closed once the key has ended (AUT-042)", async () => {
    register()
    const client = await rig.connect()
    expect(await answer(client, await byKey())).to.include({ message: 'authenticated' })
    client.send({ op: 'subscribe', channel: 'orders' })
    await client.next(({ type, channel }) => type === 'snapshot' && channel === 'orders')
    const owners = await rig.connect()
    expect(await answer(owners, await signedAuth())).to.include({ message: 'authenticated' })
    registered.clear()
    expect(await client.closed).to.equal(1008)
    expect(client.frames.at(-1)).to.include({ type: 'error', code: 'session_key_ended' })
    expect(owners.ws.readyState, 'the owner’s own socket stays').to.equal(owners.ws.OPEN)
  })

  it('is not opened by a key of another owner, an ended one, or an unknown one; its nonce stays (AUT-041)', async () => {
    const frame = await byKey()
    const client = await rig.connect()
    const ended = { type: 'error', code: 'session_key_ended' }
    expect(await answer(client, frame)).to.include(ended)
    registered.set(nameOf({ owner: bob, key: bob }), soonSec())
    expect(await answer(client, frame), 'of another owner').to.include(ended)
    registered.set(nameOf({ owner: alice, key: bob }), 1n)
    expect(await answer(client, frame), 'expired').to.include(ended)
    isWhole = false
    const unread = await answer(client, frame)
    expect(unread).to.include({ code: 'auth_failed' })
    expect(unread.message).to.contain('could not be checked')
    isWhole = true
    register()
    expect(await answer(client, frame)).to.include({ message: 'authenticated' })
    expect(await answer(await rig.connect(), frame), 'sent again').to.include({
      message: 'nonce was used before',
    })
  })

  it('holds a lease for the owner, which ends with the key (AUT-042)', async () => {
    const asked: CancelsRequest[] = []
    await rig.bus.answer(askCancels, 'order-intake', (data, replyTo) => {
      asked.push(decodeCancelsRequest(data))
      rig.bus.reply(replyTo, encodeCancelsAnswer({ kind: 'lease', ends_at_ms: 1 }))
    })
    register()
    const client = await rig.connect()
    client.send({ op: 'cancel_on_disconnect', req_id: 'early' })
    const early = await client.next(({ req_id }) => req_id === 'early')
    expect(early).to.include({ code: 'auth_required' })
    expect(await answer(client, await byKey())).to.include({ type: 'ack' })
    client.send({ op: 'cancel_on_disconnect', req_id: 'held' })
    expect(await client.next(({ req_id }) => req_id === 'held')).to.include({ type: 'lease' })
    registered.clear()
    expect(await client.closed).to.equal(1008)
    await eventually(() => asked.some(({ kind }) => kind === 'end_lease'))
    expect(asked.map(({ authenticated }) => authenticated)).to.deep.equal([alice, alice])
  })

  it('stays open when the owner authenticates it anew', async () => {
    register()
    const client = await rig.connect()
    expect(await answer(client, await byKey())).to.include({ type: 'ack' })
    expect(await answer(client, await signedAuth())).to.include({ type: 'ack' })
    const other = await rig.connect()
    expect(await answer(other, await byKey())).to.include({ type: 'ack' })
    registered.clear()
    expect(await other.closed).to.equal(1008)
    client.send({ op: 'ping', req_id: 'alive' })
    await client.next(({ req_id }) => req_id === 'alive')
  })
})

describe('the watch of session keys', () => {
  const OWNER: Address = '0xaa'
  const ended: string[] = []
  let nowMs = 0
  let answers: (keys: readonly AskedKey[]) => readonly bigint[] | undefined
  const asked: number[] = []
  const sessionOf = (key: Address | undefined, name: string = key ?? 'owner') => ({
    sessionKey: () => (key === undefined ? undefined : { owner: OWNER, key }),
    endKey: () => void ended.push(name),
  })
  const watchOf = (sessions: readonly ReturnType<typeof sessionOf>[]) =>
    new KeyWatch({
      sessions: () => sessions,
      readEnds: (keys) => {
        asked.push(keys.length)
        return Promise.resolve(answers(keys))
      },
      nowMs: () => nowMs,
      elapsedMs: () => nowMs,
    })
  beforeEach(() => {
    ended.length = 0
    asked.length = 0
    nowMs = 1_000_000
    answers = (keys) => keys.map(() => 1_000_000n)
  })

  it('asks for each key once, so many at once, and for none of the owners’ own sockets', async () => {
    const key = (n: number): Address => `0x${n.toString(16)}`
    const many = Array.from({ length: MAX_ASKED_KEYS + 1 }, (_, n) => sessionOf(key(n)))
    await watchOf([...many, sessionOf(key(0)), sessionOf(undefined)]).look()
    expect(asked).to.deep.equal([MAX_ASKED_KEYS, 1])
    expect(ended).to.deep.equal([])
    await watchOf([sessionOf(undefined)]).look()
    expect(asked).to.have.length(2)
  })

  it('ends every socket of a key at its end, by the clock also while it cannot be read', async () => {
    const watch = watchOf([sessionOf('0x1', 'one'), sessionOf('0x1', 'two'), sessionOf('0x2')])
    answers = (keys) => keys.map(({ key }) => (key === '0x1' ? 1_001n : 9_000n))
    await watch.look()
    expect(ended).to.deep.equal([])
    answers = () => undefined
    nowMs = 1_001_000
    await watch.look()
    expect(ended).to.deep.equal(['one', 'two'])
  })

  it('ends sockets before it asks for further keys, each question of which may take its time (AUT-042)', async () => {
    const key = (n: number): Address => `0x${n.toString(16)}`
    const watch = watchOf(Array.from({ length: 2 * MAX_ASKED_KEYS }, (_, n) => sessionOf(key(n))))
    await watch.look()
    nowMs += KEY_UNREAD_MS + 1
    const endedBefore: number[] = []
    answers = () => void endedBefore.push(ended.length)
    await watch.look()
    expect(endedBefore).to.deep.equal([0, 2 * MAX_ASKED_KEYS])
  })

  it('ends a socket whose key could not be read for half a minute (AUT-042)', async () => {
    const watch = watchOf([sessionOf('0x1')])
    answers = () => undefined
    await watch.look()
    nowMs += KEY_UNREAD_MS
    await watch.look()
    expect(ended).to.deep.equal([])
    nowMs += 1
    await watch.look()
    expect(ended).to.deep.equal(['0x1'])
    ended.length = 0
    answers = () => [9_000n]
    await watch.look()
    expect(ended).to.deep.equal([])
  })
})
