import { expect } from 'chai'
import type { OrderReply } from '../../bus-schemas/orders.js'
import { refusals } from '../../core/entry/refusals.js'
import { anOrder, progressOf } from '../support/builders.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const order = anOrder()
const progress = progressOf(order)
const placed: OrderReply = {
  kind: 'order',
  feed_seq: 5,
  market: order.market,
  order,
  progress,
}

describe('order routes of the gateway', () => {
  let gateway: GatewayStage

  beforeEach(async () => {
    gateway = await aGatewayStage()
  })
  afterEach(() => gateway.close())

  const post = (body: unknown = { order_id: 'order-1' }) =>
    gateway.send('POST', '/v1/orders', { body })
  const cancel = () => gateway.send('POST', '/v1/orders/cancel', { body: { nonce: '1' } })
  const lookUp = (id = 'order-1') => gateway.send('GET', `/v1/orders/${id}`)

  for (const path of ['/v1/orders', '/v1/orders/cancel']) {
    it(`POST ${path} passes the body on as it came and answers the order (ORD-001)`, async () => {
      gateway.answerWith(placed)
      const body = '{ "order_id" : "order-1", "nonce":"1" }'
      const answer = await gateway.send('POST', path, { body })
      expect(answer.status).to.equal(200)
      expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(answer.json).to.have.all.keys('order')
      expect(answer.json.order).to.include({
        order_id: 'order-1',
        status: 'active',
        market: 'cNGN-USDC',
      })
      const request_id = answer.headers['x-request-id']
      expect(gateway.asked).to.deep.equal([{ request_id, body }])
    })
  }

  it('answers a refusal with its status, its text first (ORD-031)', async () => {
    gateway.answerWith({ kind: 'refused', refusal: refusals.signature })
    const answer = await post()
    expect(answer.status).to.equal(400)
    expect(Object.keys(answer.json)).to.deep.equal(['error', 'code', 'field', 'request_id'])
    expect(answer.json.error).to.equal('signature does not authorize this action')
  })

  it('shows the stored order to a client that repeats it, once it can be read (ORD-021)', async () => {
    const refusal = { ...refusals.duplicateOrderId, existingOrderId: 'order-1' }
    gateway.answerWith({ kind: 'refused', refusal })
    setTimeout(() => gateway.readModel.orders.set('order-1', { order, progress }), 60)
    const after = await post()
    expect(after.json).to.include({ error: 'duplicate order: order_id already used' })
    expect(after.json.order).to.include({ order_id: 'order-1' })
  })

  it('says that nothing is known to a client that repeats what its market may not have decided (ORD-025)', async () => {
    const repeated = { ...refusals.duplicateOrderId, existingOrderId: 'order-1' }
    const decided = { market: order.market, seq: 7 }
    gateway.readModel.projected = 6
    for (const refusal of [repeated, { ...repeated, decided }]) {
      gateway.answerWith({ kind: 'refused', refusal })
      const answer = await post()
      expect(answer.status).to.equal(500)
      expect(answer.json).to.include({ code: 'outcome_unknown' })
      expect(answer.headers['retry-after']).to.equal('1')
      const batch = { orders: [{ order_id: 'order-1' }] }
      const { headers, json } = await gateway.send('POST', '/v1/orders/batch', { body: batch })
      expect(json).to.have.nested.property('results[0].code', 'outcome_unknown')
      expect(headers['retry-after']).to.equal('1')
    }
    gateway.readModel.projected = 7
    const gone = await post()
    expect(gone.status).to.equal(409)
    expect(gone.json).to.deep.include({ detail: { held_by: 'an_order_no_longer_stored' } })
  })

  it('answers 500 within three seconds when there is no answer (ORD-004)', async function () {
    const [placing, cancelling] = await Promise.all([post(), cancel()])
    expect(gateway.waits).to.deep.equal([3_000, 3_000])
    expect([placing.status, cancelling.status]).to.deep.equal([500, 500])
    expect(placing.json.error).to.equal('outcome not known: safe to retry with the same order_id')
    expect(cancelling.json.error).to.equal('failed to resolve cancel target')
    for (const { headers } of [placing, cancelling]) expect(headers['retry-after']).to.equal('1')
  })

  it('answers 500 at once and sends nothing while the bus is away (ORD-005)', async () => {
    gateway.answerWith(placed)
    gateway.bus.setConnected(false)
    const [placing, cancelling] = await Promise.all([post(), cancel()])
    expect(gateway.waits).to.deep.equal([])
    expect([placing.status, cancelling.status]).to.deep.equal([500, 500])
    gateway.bus.setConnected(true)
    expect(gateway.asked).to.deep.equal([])
  })

  it('answers a constant 500 without a stack when something breaks (ORD-006)', async () => {
    gateway.answerWith({ ...placed, market: 'unlisted' })
    const answer = await post()
    expect(answer.status).to.equal(500)
    expect(answer.json).to.deep.equal({
      error: 'internal error',
      code: 'internal',
      request_id: answer.headers['x-request-id'],
    })
  })

  it('looks an order up, flat and as `order`; 404 for what was never taken (ORD-079)', async () => {
    gateway.readModel.orders.set('order-1', { order, progress })
    const answer = await lookUp()
    expect(answer.status).to.equal(200)
    expect(answer.json).to.include({
      order_id: 'order-1',
      cancel_reason: '',
      remaining_amount: '153000',
    })
    expect(answer.json.order).to.include({ order_id: 'order-1' })
    for (const id of ['unknown', '%00', '..%2f..%2fetc', '%zz', 'x'.repeat(10_000), 'cancel']) {
      const missing = await lookUp(id)
      expect([id.slice(0, 20), missing.status]).to.deep.equal([id.slice(0, 20), 404])
      expect(missing.json.error).to.equal('order not found')
    }
  })

  it('waits until reads show what was answered', async () => {
    gateway.answerWith(placed)
    gateway.readModel.projected = 4
    await post()
    const looking = lookUp()
    setTimeout(() => {
      gateway.readModel.orders.set('order-1', { order, progress })
      gateway.readModel.projected = 5
    }, 30)
    expect((await looking).status).to.equal(200)
  })

  it('answers 503 rather than an older state than was answered (REA-033)', async () => {
    gateway.answerWith(placed)
    await post()
    const paths = [
      '/v1/orders/order-1',
      '/v1/markets',
      '/v1/book?symbol=cNGN-USDC',
      '/v1/trades?symbol=cNGN-USDC',
    ]
    for (const path of paths) {
      const answer = await gateway.send('GET', path)
      expect([path, answer.status]).to.deep.equal([path, 503])
      expect(answer.json.error).to.equal('reads are catching up: retry shortly')
    }
    gateway.readModel.projected = 5
    for (const path of paths.slice(1)) {
      expect((await gateway.send('GET', path)).status).to.equal(200)
    }
  })
})
