import { expect } from 'chai'
import {
  decodeCancelsRequest,
  encodeCancelsAnswer,
  type CancelsReply,
  type CancelsRequest,
} from '../../../bus-schemas/cancels.js'
import { decodeOrderRequest } from '../../../bus-schemas/orders.js'
import { askCancels, askPlaceOrder } from '../../../bus-schemas/subjects.js'
import { createSocketLeases } from '../../../actors/ws-fanout/leases.js'
import { SESSION_LIMITS } from '../../../actors/ws-fanout/limits.js'
import { cancelsRefusals } from '../../../core/entry/order-refusals.js'
import { refusals } from '../../../core/entry/refusals.js'
import { LEASE_ID_PATTERN } from '../../../interface/values.js'
import { addressOf, alicesKey, signedAuth } from '../../support/auth-frames.js'
import { assertDocumented } from '../../support/documented-frames.js'
import { eventually } from '../../support/eventually.js'
import { aFuture, anOrder } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'
import { silentLog } from '../../support/intake-stage.js'
import { declareFeed, startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'

/** The lease of which a socket holds a part. */
const leaseOf = ({ lease_id: leaseId = '' }: Frame): string => leaseId.slice(0, 32)
const ENDS_AT_MS = Date.parse('2026-11-21T10:01:00Z')

describe('leases of sockets', () => {
  let rig: FanOutRig
  let asked: CancelsRequest[]
  let answer: (request: CancelsRequest) => CancelsReply | undefined

  beforeEach(async () => {
    rig = await startRig()
    asked = []
    answer = () => ({ kind: 'lease', ends_at_ms: ENDS_AT_MS })
    await rig.bus.answer(askCancels, 'order-intake', (data, replyTo) => {
      const request = decodeCancelsRequest(data)
      asked.push(request)
      const given = answer(request)
      if (given !== undefined) rig.bus.reply(replyTo, encodeCancelsAnswer(given))
    })
  })
  afterEach(() => rig.end())

  const reply = async (client: SocketClient, frame: object): Promise<Frame> => {
    const from = client.frames.length
    client.send({ req_id: 'q', ...frame })
    const got = await client.next(({ req_id }) => req_id === 'q', from)
    assertDocumented(got)
    return got
  }
  const authenticated = async (): Promise<SocketClient> => {
    const client = await rig.connect()
    await reply(client, await signedAuth())
    return client
  }
  const kinds = () => asked.map(({ kind }) => kind)

  it('opens a lease that ends with the socket (CAN-029)', async () => {
    const client = await authenticated()
    const opened = await reply(client, { op: 'cancel_on_disconnect' })
    expect(opened).to.include({ type: 'lease', seconds: 30 })
    expect(opened.lease_id).to.match(new RegExp(LEASE_ID_PATTERN)).and.have.length(40)
    // It is asked for once.
    expect(await reply(client, { op: 'cancel_on_disconnect', seconds: 60 })).to.deep.equal(opened)
    client.ws.terminate()
    await eventually(() => kinds().includes('end_lease'))
    expect(kinds()).to.deep.equal(['open_lease', 'end_lease'])
    for (const each of asked) {
      expect(each).to.include({ market: rig.market.market, authenticated: addressOf(alicesKey) })
      expect(JSON.parse(each.body)).to.deep.equal({ lease_id: leaseOf(opened), seconds: 30 })
    }
  })

  it('opens it as well in a market that is listed later, as soon as that answers', async () => {
    const client = await authenticated()
    const leaseId = leaseOf(await reply(client, { op: 'cancel_on_disconnect' }))
    const { market } = aFuture()
    let asks = 0
    answer = (request) => {
      if (request.market !== market) return { kind: 'lease', ends_at_ms: ENDS_AT_MS }
      asks += 1
      if (asks === 1) return { kind: 'refused', refusal: refusals.cancelTarget }
      return { kind: 'lease', ends_at_ms: ENDS_AT_MS }
    }
    await declareFeed(rig.bus, market)
    await rig.fanOut().follow(aFuture())
    await eventually(() => asks === 2)
    client.send({ op: 'ping', req_id: 'p' })
    await client.next(({ req_id }) => req_id === 'p')
    client.ws.terminate()
    await eventually(() => asked.filter(({ kind }) => kind === 'end_lease').length === 2)
    const later = asked.filter((request) => request.market === market)
    expect(later.map(({ kind }) => kind)).to.deep.equal(['open_lease', 'open_lease', 'end_lease'])
    for (const each of later) {
      expect(each).to.include({ authenticated: addressOf(alicesKey) })
      expect(JSON.parse(each.body)).to.deep.equal({ lease_id: leaseId, seconds: 30 })
    }
  })

  it('has an order cancelled that comes after its socket, while another socket holds the lease', async () => {
    const first = await authenticated()
    const second = await authenticated()
    const { lease_id: gone } = await reply(first, { op: 'cancel_on_disconnect' })
    await reply(second, { op: 'cancel_on_disconnect' })
    expect(kinds()).to.deep.equal(['open_lease'])
    first.ws.terminate()
    await first.closed
    const order = anOrder({ owner: addressOf(alicesKey), leaseId: gone ?? '' })
    const placed = aChange(1, order, { kind: 'OrderPlaced', order, rank: 1 }, { open: 5n })
    await rig.publish([placed])
    await eventually(() => kinds().includes('end_lease'))
    expect(JSON.parse(asked.at(-1)?.body ?? '')).to.deep.equal({ lease_id: gone, seconds: 30 })
  })

  it('puts the lease on the orders that its owner places by the socket, and on no other (CAN-030)', async () => {
    const placed: unknown[] = []
    await rig.bus.answer(askPlaceOrder, 'order-intake', (data) => {
      placed.push(JSON.parse(decodeOrderRequest(data).body))
    })
    const client = await authenticated()
    const owner = addressOf(alicesKey)
    const place = (order: object) => client.send({ op: 'place', req_id: 'p', order })
    place({ owner_address: owner })
    const { lease_id: leaseId } = await reply(client, { op: 'cancel_on_disconnect' })
    const other = { owner_address: '0x00000000000000000000000000000000000000ff' }
    place({ owner_address: owner })
    place(other)
    place({ owner_address: owner, lease_id: 'own' })
    await eventually(() => placed.length === 4)
    expect(placed).to.deep.equal([
      { owner_address: owner },
      { owner_address: owner, lease_id: leaseId },
      other,
      { owner_address: owner, lease_id: 'own' },
    ])
  })

  it('sets and disarms a dead-man switch', async () => {
    const client = await authenticated()
    const set = { op: 'cancel_all_after', seconds: 60 }
    expect(await reply(client, set)).to.deep.equal({
      type: 'lease',
      seconds: 60,
      ends_at: '2026-11-21T10:01:00.000Z',
      req_id: 'q',
    })
    answer = () => ({ kind: 'lease', ends_at_ms: 0 })
    const { market } = rig.market
    expect(await reply(client, { ...set, seconds: 0, market })).to.deep.equal({
      type: 'lease',
      seconds: 0,
      req_id: 'q',
    })
    expect(asked.map(({ body }) => JSON.parse(body) as unknown)).to.deep.equal([
      { owner_address: addressOf(alicesKey), seconds: 60 },
      { owner_address: addressOf(alicesKey), seconds: 0, market },
    ])
  })

  it('answers a dead-man switch over several markets with the earliest of its ends', async () => {
    const later = aFuture().market
    await declareFeed(rig.bus, later)
    await rig.fanOut().follow(aFuture())
    const client = await authenticated()
    for (const aheadMs of [-5_000, 5_000]) {
      answer = ({ market }) => ({
        kind: 'lease',
        ends_at_ms: market === later ? ENDS_AT_MS + aheadMs : ENDS_AT_MS,
      })
      const set = await reply(client, { op: 'cancel_all_after', seconds: 60 })
      const earliest = Math.min(ENDS_AT_MS, ENDS_AT_MS + aheadMs)
      expect(set).to.deep.include({ ends_at: new Date(earliest).toISOString() })
    }
  })

  it('cancels all orders of its owner, in every market or where the frame says (STR-063)', async () => {
    const other = { orderId: 'b', code: 'order_of_another_owner' as const }
    answer = () => ({
      kind: 'cancels',
      feed_seq: 7,
      left: 2,
      outcomes: [{ kind: 'not_cancelled', ...other }],
    })
    const client = await authenticated()
    const { market } = rig.market
    const all = await reply(client, { op: 'cancel_all' })
    expect(all).to.deep.include({
      type: 'result',
      op: 'cancel_all',
      status: 200,
      left: 2,
      feed_seqs: { [market]: 7 },
    })
    expect(all).to.have.nested.property('orders[0].market', market)
    const narrow = { market, side: 'buy', subaccount_id: '7', reason: 'storm' }
    await reply(client, { op: 'cancel_all', ...narrow })
    const owner_address = addressOf(alicesKey)
    expect(asked.map(({ kind, body }) => [kind, JSON.parse(body) as unknown])).to.deep.equal([
      ['cancel_all', { owner_address }],
      ['cancel_all', { owner_address, ...narrow }],
    ])
    expect(asked.map(({ authenticated: by }) => by)).to.deep.equal([owner_address, owner_address])
    answer = () => ({ kind: 'refused', refusal: cancelsRefusals.tooManyLeases })
    expect(await reply(client, { op: 'cancel_all' })).to.include({
      type: 'result',
      op: 'cancel_all',
      code: cancelsRefusals.tooManyLeases.code,
    })
  })

  it('refuses a cancel of all orders where so many of the connection have no answer', async () => {
    const most = SESSION_LIMITS.maxCancelAllsInFlight
    answer = () => undefined
    const client = await authenticated()
    for (let n = 0; n <= most; n += 1) client.send({ op: 'cancel_all', req_id: `c${n}` })
    const refused = await client.next(({ req_id }) => req_id === `c${most}`)
    expect(refused).to.include({ status: 500, code: 'overloaded' })
    expect(asked.length).to.be.at.most(most)
  })

  it('says of a cancel of all orders what some markets have done when another did not answer', async () => {
    const { market } = aFuture()
    await declareFeed(rig.bus, market)
    await rig.fanOut().follow(aFuture())
    answer = (request) =>
      request.market === market
        ? { kind: 'refused', refusal: refusals.cancelTarget }
        : { kind: 'cancels', feed_seq: 7, left: 1, outcomes: [] }
    const partly = await reply(await authenticated(), { op: 'cancel_all' })
    expect(partly).to.deep.include({
      type: 'result',
      op: 'cancel_all',
      status: 500,
      code: 'cancel_target_unresolved',
      retry_after_seconds: 1,
      orders: [],
      left: 1,
    })
    expect(partly).to.have.nested.property('failed_markets[0].market', market)
  })

  it('refuses frames that say nothing, and asks no market', async () => {
    const unknown = await rig.connect()
    const client = await authenticated()
    const lease = { op: 'cancel_on_disconnect' }
    const all = { op: 'cancel_all_after' }
    const cases: [SocketClient, object, object][] = [
      [
        unknown,
        lease,
        { code: 'auth_required', message: 'authenticate before cancel_on_disconnect' },
      ],
      [unknown, { ...all, seconds: 60 }, { code: 'auth_required' }],
      [unknown, { op: 'cancel_all' }, { code: 'auth_required' }],
      [client, { op: 'cancel_all', market: 'none' }, { code: 'unknown_market' }],
      [client, { op: 'cancel_all', market: '' }, { code: 'unknown_market' }],
      [
        client,
        { ...lease, seconds: 9 },
        { code: 'bad_op', field: 'seconds', message: 'seconds is missing or not valid' },
      ],
      [client, { ...lease, seconds: 0 }, { code: 'bad_op', field: 'seconds' }],
      [client, all, { code: 'bad_op', field: 'seconds' }],
      [client, { ...all, seconds: '60' }, { code: 'bad_op', field: 'seconds' }],
      [client, { ...all, seconds: 86_401 }, { code: 'bad_op', field: 'seconds' }],
      [client, { ...all, seconds: 60, market: 'none' }, { code: 'unknown_market' }],
      [client, { ...all, seconds: 60, market: null }, { code: 'unknown_market' }],
      [client, { ...all, seconds: 60, market: '' }, { code: 'unknown_market' }],
    ]
    for (const [who, frame, refused] of cases) {
      expect(await reply(who, frame), JSON.stringify(frame)).to.include({
        type: 'error',
        ...refused,
      })
    }
    expect(asked).to.deep.equal([])
  })

  it('says when a lease could not be set, and takes it back', async () => {
    answer = () => ({ kind: 'refused', refusal: cancelsRefusals.tooManyLeases })
    const client = await authenticated()
    expect(await reply(client, { op: 'cancel_on_disconnect' })).to.include({
      code: 'lease_failed',
      type: 'error',
    })
    expect(await reply(client, { op: 'cancel_all_after', seconds: 10 })).to.include({
      code: 'lease_failed',
    })
    await eventually(() => kinds().includes('end_lease'))
  })

  it('asks for one again after what broke when it was asked for', async () => {
    const sent: string[] = []
    const part = { leaseId: 'held', seconds: () => 30, leave: () => undefined }
    const asked = [Promise.reject(new Error('no bus')), Promise.resolve(part)]
    const socket = {
      connection: { send: (frame: string) => sent.push(frame) },
      findMarket: () => undefined,
      listedMarkets: () => ['M'],
    }
    const keeper = {
      hold: () => asked.shift() ?? Promise.resolve(undefined),
      ask: () => Promise.resolve([]),
    }
    const leases = createSocketLeases(keeper, socket, silentLog)
    const request = () =>
      leases.request({ op: 'cancel_on_disconnect', reqId: 'q', fields: {} }, addressOf(alicesKey))
    request()
    await eventually(() => sent.length === 1)
    expect(sent[0]).to.include('lease_failed')
    request()
    await eventually(() => sent.length === 2)
    expect(sent[1]).to.include('"lease_id":"held"')
    expect(leases.leaseId()).to.equal('held')
  })

  it('writes a lease again when half of it is spent, and says when it has ended', async () => {
    const client = await authenticated()
    answer = ({ kind }) =>
      kind === 'renew_lease'
        ? { kind: 'refused', refusal: cancelsRefusals.leaseEnded }
        : { kind: 'lease', ends_at_ms: ENDS_AT_MS }
    await reply(client, { op: 'cancel_on_disconnect', seconds: 10 })
    const ended = await client.next(({ code }) => code === 'lease_ended')
    assertDocumented(ended)
    await eventually(() => kinds().includes('end_lease'))
    // Another one may be asked for.
    expect(await reply(client, { op: 'cancel_on_disconnect' })).to.include({ type: 'lease' })
  })

  it('ends its leases when the process stops', async () => {
    const client = await authenticated()
    await reply(client, { op: 'cancel_on_disconnect' })
    await rig.restart()
    expect(kinds()).to.deep.equal(['open_lease', 'end_lease'])
  })
})
