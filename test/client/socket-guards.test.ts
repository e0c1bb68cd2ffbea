import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  decodeCancelsRequest,
  encodeCancelsAnswer,
  type CancelsReply,
  type CancelsRequest,
} from '../../bus-schemas/cancels.js'
import { decodeOrderRequest, encodeOrderAnswer } from '../../bus-schemas/orders.js'
import {
  askCancels,
  askPlaceOrder,
  askReduceOrder,
  askReplaceOrder,
} from '../../bus-schemas/subjects.js'
import {
  createSocketClient,
  OutcomeUnknown,
  signFrame,
  VenueRefused,
  type NewOrder,
  type ReduceOrder,
  type SocketClient,
  type SocketClientOptions,
} from '../../client/index.js'
import { refusals } from '../../core/entry/refusals.js'
import { addressOf, alicesKey } from '../support/auth-frames.js'
import { anOrder, progressOf } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { startRig, type FanOutRig } from '../support/fan-out-rig.js'

const account = privateKeyToAccount(alicesKey)
const owner = addressOf(alicesKey)
const order = anOrder({ owner })
const taken = {
  kind: 'order' as const,
  feed_seq: 1,
  market: order.market,
  order,
  progress: progressOf(order),
}
const ENDS_AT_MS = Date.parse('2026-11-21T10:01:00.000Z')
const body = { order_id: order.orderId, owner_address: owner } as NewOrder

const failureOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('what a socket client does for a market maker', () => {
  let rig: FanOutRig
  let client: SocketClient
  let asked: CancelsRequest[]
  /** Subjects and bodies of what was asked of orders. */
  let orders: { readonly subject: string; readonly body: Record<string, unknown> }[]
  let answer: (request: CancelsRequest) => CancelsReply

  beforeEach(async () => {
    rig = await startRig()
    ;[asked, orders] = [[], []]
    answer = () => ({ kind: 'lease', ends_at_ms: ENDS_AT_MS })
    await rig.bus.answer(askCancels, 'order-intake', (data, replyTo) => {
      const request = decodeCancelsRequest(data)
      asked.push(request)
      rig.bus.reply(replyTo, encodeCancelsAnswer(answer(request)))
    })
    for (const subject of [askPlaceOrder, askReplaceOrder, askReduceOrder]) {
      await rig.bus.answer(subject, 'intake', (data, replyTo) => {
        const sent = JSON.parse(decodeOrderRequest(data).body) as Record<string, unknown>
        orders.push({ subject, body: sent })
        const refused = { kind: 'refused' as const, refusal: refusals.signature }
        const replaced = { order: anOrder({ orderId: 'gone' }), progress: progressOf(order) }
        const good = subject === askReplaceOrder ? { ...taken, replaced } : taken
        rig.bus.reply(replyTo, encodeOrderAnswer(sent.order_id === 'bad' ? refused : good))
      })
    }
    await eventually(() => rig.fanOut().standing().ready)
  })
  afterEach(async () => {
    client.close()
    await rig.end()
  })

  function connect(options: Partial<SocketClientOptions> = {}): void {
    client = createSocketClient({
      url: rig.url(),
      WebSocket,
      timing: { minBackoffMs: 5, maxBackoffMs: 20, pingEveryMs: 1_000 },
      authenticate: () => signFrame(account, { purpose: 'socket', domain: 'localhost' }),
      ...options,
    })
  }
  const kinds = () => asked.map(({ kind }) => kind)

  it('replaces and reduces, and sends a batch at once whose results keep its order', async () => {
    connect()
    await eventually(() => client.isOpen())
    const { order: placed, replaced } = await client.replaceOrder({ ...body, replaces_nonce: '1' })
    expect([placed.order_id, replaced.order_id]).to.deep.equal([order.orderId, 'gone'])
    const reduction: ReduceOrder = { owner_address: owner, nonce: '1', desired_amount: '4' }
    expect((await client.reduceOrder(reduction)).order_id).to.equal(order.orderId)
    const results = await client.placeOrders([
      body,
      { ...body, order_id: 'bad' },
      { ...body, replaces_order_id: 'gone' },
    ])
    const words = results.map((it) => ('error' in it ? it.error.code : it.order.order_id))
    expect(words).to.deep.equal([order.orderId, 'invalid_signature', order.orderId])
    expect(results[2]).to.have.nested.property('replaced.order_id', 'gone')
    expect(orders.map(({ subject }) => subject)).to.deep.equal([
      ...[askReplaceOrder, askReduceOrder],
      ...[askPlaceOrder, askPlaceOrder, askReplaceOrder],
    ])
  })

  it('cancels all orders of its address, for which it authenticates by itself', async () => {
    answer = () => ({
      kind: 'cancels',
      feed_seq: 7,
      left: 1,
      outcomes: [{ kind: 'not_cancelled', orderId: 'b', code: 'active_order_not_found' }],
    })
    connect()
    await eventually(() => client.isOpen())
    const { orders: cancelled, left } = await client.cancelAll({ side: 'buy' })
    expect([cancelled.map(({ order_id }) => order_id), left]).to.deep.equal([['b'], 1])
    expect(asked[0]).to.include({ kind: 'cancel_all', authenticated: owner })
    const refused = await failureOf(client.cancelAll({ market: 'none' }))
    expect(refused).to.be.instanceOf(VenueRefused)
    expect(refused).to.include({ code: 'unknown_market', retry: 'never' })
    answer = () => ({ kind: 'refused', refusal: refusals.cancelTarget })
    const open = await failureOf(client.cancelAll())
    expect(open).to.be.instanceOf(OutcomeUnknown)
    expect(open).to.include({ code: 'cancel_target_unresolved', retry: 'same', retryAfterSec: 1 })
  })

  it('says at once that it cannot cancel all orders where it has no key or no valid one', async () => {
    connect({ authenticate: undefined } as never)
    await eventually(() => client.isOpen())
    const without = await failureOf(client.cancelAll())
    expect(without).to.include({ code: 'auth_failed', retry: 'never' })
    client.close()
    connect({ authenticate: () => signFrame(account, { purpose: 'socket', domain: 'elsewhere' }) })
    await eventually(() => client.isOpen())
    const bad = await failureOf(client.cancelAll())
    expect(bad).to.include({ code: 'auth_failed', retry: 'never' })
  })

  it('places nothing until the lease of the connection is held, and asks for it on each', async () => {
    const held: string[] = []
    connect({ lease: { seconds: 20, onHeld: (leaseId) => held.push(leaseId) } })
    const early = await failureOf(client.placeOrder(body))
    expect(early).to.be.instanceOf(OutcomeUnknown)
    expect(orders).to.deep.equal([])
    await eventually(() => held.length === 1)
    await client.placeOrder(body)
    expect(orders[0]?.body).to.deep.include({ lease_id: held[0] })
    const { port } = rig.fanOut()
    await rig.restart({ port })
    await eventually(() => held.length === 2)
    expect(kinds().filter((kind) => kind === 'open_lease')).to.have.length(2)
    await client.placeOrder(body)
    expect(orders[1]?.body).to.deep.include({ lease_id: held[1] })
    expect(held[1]).to.not.equal(held[0])
  })

  it('asks again for a lease that the venue could not set', async () => {
    const seen: string[] = []
    answer = () => ({ kind: 'refused', refusal: refusals.cancelTarget })
    connect({
      lease: {
        onRefused(code) {
          seen.push(code)
          answer = () => ({ kind: 'lease', ends_at_ms: ENDS_AT_MS })
        },
        onHeld: () => seen.push('held'),
      },
    })
    await eventually(() => seen.includes('held'))
    expect(seen).to.deep.equal(['lease_failed', 'held'])
  })

  it('keeps a dead man’s switch armed on each connection, until it is disarmed', async () => {
    const armed: string[] = []
    connect()
    const stop = client.deadMan({ seconds: 10, onArmed: (endsAt) => armed.push(endsAt) })
    await eventually(() => armed.length === 1)
    expect(armed).to.deep.equal(['2026-11-21T10:01:00.000Z'])
    const { port } = rig.fanOut()
    await rig.restart({ port })
    await eventually(() => armed.length === 2)
    stop()
    await eventually(() => asked.length === 3)
    expect(asked.map(({ body: sent }) => JSON.parse(sent) as unknown)).to.deep.equal([
      { owner_address: owner, seconds: 10 },
      { owner_address: owner, seconds: 10 },
      { owner_address: owner, seconds: 0 },
    ])
  })

  it('disarms a dead man’s switch when the connection is back, and does not arm it again', async () => {
    let armed = 0
    connect()
    const stop = client.deadMan({ seconds: 10, onArmed: () => (armed += 1) })
    await eventually(() => armed === 1)
    const { port } = rig.fanOut()
    await rig.fanOut().stop()
    await eventually(() => !client.isOpen())
    stop()
    await rig.restart({ port })
    await eventually(() => asked.length === 2)
    const seconds = asked.map(({ body }) => (JSON.parse(body) as { seconds: number }).seconds)
    expect(seconds).to.deep.equal([10, 0])
    expect(armed).to.equal(1)
  })
})
