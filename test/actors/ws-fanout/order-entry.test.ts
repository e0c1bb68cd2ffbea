import { expect } from 'chai'
import { SESSION_LIMITS } from '../../../actors/ws-fanout/limits.js'
import {
  decodeOrderRequest,
  encodeOrderAnswer,
  type OrderReply,
} from '../../../bus-schemas/orders.js'
import {
  askCancelOrder,
  askPlaceOrder,
  askReduceOrder,
  askReplaceOrder,
} from '../../../bus-schemas/subjects.js'
import { refusals } from '../../../core/entry/refusals.js'
import { amountE18, E18 } from '../../../core/money.js'
import { createOrderRate } from '../../../runtime/process/order-rate.js'
import { aFill, anOrder, progressOf } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'
import { assertDocumented } from '../../support/documented-frames.js'
import { eventually } from '../../support/eventually.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'

/** A request that reached the intake, to be answered when the test says so. */
interface Asked {
  readonly what: 'place' | 'cancel' | 'replace' | 'reduce'
  readonly body: string
  readonly answer: (answer: OrderReply) => void
}

const order = anOrder()
const taken: OrderReply = {
  kind: 'order',
  feed_seq: 1,
  market: order.market,
  order,
  progress: progressOf(order),
}

describe('order entry by the socket', () => {
  let rig: FanOutRig
  let client: SocketClient
  let asked: Asked[]

  async function start(options: Parameters<typeof startRig>[0] = {}): Promise<void> {
    rig = await startRig(options)
    asked = []
    for (const [what, subject] of [
      ['place', askPlaceOrder],
      ['cancel', askCancelOrder],
      ['replace', askReplaceOrder],
      ['reduce', askReduceOrder],
    ] as const) {
      await rig.bus.answer(subject, 'intake', (data, replyTo) => {
        const { body } = decodeOrderRequest(data)
        const answer = (it: OrderReply) => rig.bus.reply(replyTo, encodeOrderAnswer(it))
        asked.push({ what, body, answer })
      })
    }
    client = await rig.connect()
  }
  afterEach(() => rig.end())

  const resultOf = async (reqId: string): Promise<Frame> => {
    const frame = await client.next(({ req_id }) => req_id === reqId)
    assertDocumented(frame)
    return frame
  }

  it('passes on the order as it came, and answers by req_id in the order of the decisions (STR-049)', async () => {
    await start()
    const orders = [{ order_id: 'a' }, { order_id: 'b' }]
    for (const [n, it] of orders.entries()) client.send({ op: 'place', req_id: `r${n}`, order: it })
    client.send({ op: 'cancel', req_id: 'r2', order: { nonce: '1' } })
    await eventually(() => asked.length === 3)
    expect(asked.map(({ what, body }) => [what, JSON.parse(body) as unknown])).to.deep.equal([
      ['place', orders[0]],
      ['place', orders[1]],
      ['cancel', { nonce: '1' }],
    ])
    asked[2]?.answer(taken)
    expect(await resultOf('r2')).to.deep.include({ type: 'result', op: 'cancel', status: 200 })
    asked[1]?.answer(taken)
    const placed = await resultOf('r1')
    expect(placed).to.have.nested.property('order.order_id', order.orderId)
    asked[0]?.answer({ kind: 'refused', refusal: refusals.signature })
    expect(await resultOf('r0')).to.include({
      type: 'result',
      op: 'place',
      status: 400,
      code: 'invalid_signature',
      error: 'signature does not authorize this action',
    })
  })

  it('replaces and reduces by the socket as over REST (STR-062)', async () => {
    await start()
    const replacement = { order_id: 'b', replaces_nonce: '1' }
    const reduction = { nonce: '1', desired_amount: '4' }
    client.send({ op: 'replace', req_id: 'r0', order: replacement })
    client.send({ op: 'reduce', req_id: 'r1', order: reduction })
    await eventually(() => asked.length === 2)
    expect(asked.map(({ what, body }) => [what, JSON.parse(body) as unknown])).to.deep.equal([
      ['replace', replacement],
      ['reduce', reduction],
    ])
    const replaced = { order: anOrder({ orderId: 'gone' }), progress: progressOf(order) }
    asked[0]?.answer({ ...taken, replaced })
    const answer = await resultOf('r0')
    expect(answer).to.deep.include({ type: 'result', op: 'replace', status: 200 })
    expect(answer).to.have.nested.property('order.order_id', order.orderId)
    expect(answer).to.have.nested.property('replaced.order_id', 'gone')
    asked[1]?.answer({ kind: 'refused', refusal: refusals.activeOrderNotFound })
    expect(await resultOf('r1')).to.include({
      op: 'reduce',
      status: 404,
      code: 'active_order_not_found',
    })
  })

  it('shows figures only of the fills that the answer counts (STR-049)', async () => {
    await start()
    const fill = aFill({ amount: amountE18(1_000n * E18), takerOrderId: order.orderId })
    await rig.publish([
      aChange(1, order, { kind: 'OrderPlaced', order, rank: 1 }, { pending: 2_000n }),
      aChange(2, order, { kind: 'OrderFilled', fill }, { filled: 1_000n, pending: 1_000n }),
    ])
    const witness = await rig.connect()
    witness.send({ op: 'subscribe', channel: 'book', market: order.market, req_id: 'w' })
    expect(await witness.next(({ req_id }) => req_id === 'w')).to.include({ seq: 2 })
    const shown = []
    for (const units of [0n, 1_000n, 2_000n]) {
      client.send({ op: 'cancel', req_id: `r${units}`, order: {} })
      await eventually(() => asked.length > shown.length)
      const progress = progressOf(order, { filled: amountE18(units * E18) })
      asked.at(-1)?.answer({ ...taken, progress })
      const { order: record } = (await resultOf(`r${units}`)) as { order?: Record<string, unknown> }
      shown.push([record?.filled_amount, record?.filled_quote, record?.fee_paid])
    }
    expect(shown).to.deep.equal([
      ['0', undefined, '0'],
      ['1000', '0.65', '0.001625'],
      ['2000', undefined, undefined],
    ])
  })

  it('says that nothing is known of a repeat until its market has decided the first (ORD-025)', async () => {
    await start()
    const repeat = { ...refusals.duplicateOrderId, existingOrderId: 'a' }
    for (const reqId of ['r0', 'r1']) {
      client.send({ op: 'place', req_id: reqId, order: { order_id: 'a' } })
    }
    await eventually(() => asked.length === 2)
    asked[0]?.answer({ kind: 'refused', refusal: repeat })
    expect(await resultOf('r0')).to.include({
      status: 500,
      code: 'outcome_unknown',
      retry_after_seconds: 1,
    })
    const decided = { market: order.market, seq: 1 }
    asked[1]?.answer({ kind: 'refused', refusal: { ...repeat, decided } })
    expect(await resultOf('r1')).to.include({ status: 409, code: 'duplicate_order_id' })
  })

  it('counts the orders of each owner, says what is left, and refuses beyond the limit but never a cancel', async () => {
    let atMs = 0
    await start({ orderRate: createOrderRate({ perSec: 1, elapsedMs: () => atMs }) })
    const send = (reqId: string, owner = order.owner) =>
      client.send({ op: 'place', req_id: reqId, order: { owner_address: owner } })
    for (let n = 0; n < 10; n += 1) send(`r${n}`)
    await eventually(() => asked.length === 10)
    // Those that are not answered count for this socket, or its owner could send any number at once.
    send('beyond')
    expect(await resultOf('beyond')).to.deep.include({
      status: 500,
      code: 'too_many_orders',
      retry_after_seconds: 0,
      rate_limit: { limit: 10, remaining: 10, reset_seconds: 0 },
    })
    for (const it of asked) it.answer(taken)
    expect(await resultOf('r0')).to.deep.include({
      rate_limit: { limit: 10, remaining: 9, reset_seconds: 1 },
    })
    await resultOf('r9')
    const other = await rig.connect()
    other.send({ op: 'place', req_id: 'o', order: { owner_address: order.owner } })
    expect(await other.next(({ req_id }) => req_id === 'o')).to.deep.include({
      status: 500,
      retry_after_seconds: 1,
      rate_limit: { limit: 10, remaining: 0, reset_seconds: 10 },
    })
    client.send({ op: 'cancel', req_id: 'c', order: { owner_address: order.owner } })
    await eventually(() => asked.length === 11)
    asked[10]?.answer(taken)
    expect(await resultOf('c')).not.to.have.property('rate_limit')
    atMs = 1_000
    send('later')
    await eventually(() => asked.length === 12)
    // Another client can send this in the owner's name: it does not count.
    asked[11]?.answer({ kind: 'refused', refusal: refusals.signature })
    expect(await resultOf('later')).not.to.have.property('rate_limit')
  })

  it('refuses what is not an order as REST does, and a frame without req_id (STR-049)', async () => {
    await start()
    client.send({ op: 'place', req_id: 'r0' })
    await eventually(() => asked.length === 1)
    expect(asked[0]?.body).to.equal('null')
    asked[0]?.answer({ kind: 'refused', refusal: refusals.invalidJsonBody })
    expect(await resultOf('r0')).to.include({ status: 400, code: 'invalid_json' })
    client.send({ op: 'place', order: {} })
    const error = await client.next(({ type }) => type === 'error')
    expect(error).to.include({ code: 'bad_op', field: 'req_id' })
    client.send(`{"op":"place","req_id":"deep","order":${'['.repeat(30)}${']'.repeat(30)}}`)
    expect(await client.next(({ req_id }) => req_id === 'deep')).to.include({ code: 'bad_json' })
    client.send(`{"op":"cancel_all","req_id":"far","x":${'['.repeat(30)}${']'.repeat(30)}}`)
    expect(await client.next(({ req_id }) => req_id === 'far')).to.include({ code: 'bad_json' })
    expect(asked).to.have.length(1)
  })

  it('refuses what exceeds the bound of unanswered requests, and takes more after an answer (STR-050)', async () => {
    await start({ limits: { ...SESSION_LIMITS, maxOrdersInFlight: 2 } })
    for (const n of [0, 1, 2]) client.send({ op: 'place', req_id: `r${n}`, order: {} })
    expect(await resultOf('r2')).to.include({ status: 500, code: 'overloaded' })
    await eventually(() => asked.length === 2)
    asked[0]?.answer(taken)
    expect(await resultOf('r0')).to.include({ status: 200 })
    client.send({ op: 'cancel', req_id: 'r3', order: {} })
    await eventually(() => asked.length === 3)
    asked[1]?.answer(taken)
    asked[2]?.answer({ kind: 'refused', refusal: refusals.activeOrderNotFound })
    expect(await resultOf('r3')).to.include({ status: 404, code: 'active_order_not_found' })
  })

  it('says that the outcome is not known when there is no bus', async () => {
    await start()
    rig.bus.isConnected = () => false
    client.send({ op: 'place', req_id: 'r0', order: {} })
    expect(await resultOf('r0')).to.include({ status: 500, code: 'outcome_unknown' })
    client.send({ op: 'cancel', req_id: 'r1', order: {} })
    expect(await resultOf('r1')).to.include({ status: 500, code: 'cancel_target_unresolved' })
  })

  it('opens no socket to a page of an origin that is not allowed (AUT-037)', async () => {
    await start()
    const origin = 'https://elsewhere.example'
    const refused = await rig.connect({ origin }).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Error)
    const allowed = await rig.connect({ origin: 'https://app.example' })
    allowed.send({ op: 'place', req_id: 'r0', order: {} })
    await eventually(() => asked.length === 1)
    asked[0]?.answer(taken)
    expect(await allowed.next(({ req_id }) => req_id === 'r0')).to.include({ status: 200 })
  })
})
