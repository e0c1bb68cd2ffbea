import { expect } from 'chai'
import { signedBody } from '../support/intake-stage.js'
import { anOrderStage, type OrderStage } from './stage/order-stage.js'

interface Result {
  readonly status: number
  readonly code?: string
  readonly order?: { readonly order_id: string }
}

describe('changes of orders and batches, on a gateway with its intake', () => {
  let stage: OrderStage
  before(async () => {
    stage = await anOrderStage()
  })
  after(() => stage.close())

  const post = (path: string, body: unknown) => stage.send('POST', path, { body })

  it('answers a replacement with both orders', async () => {
    const first = await signedBody()
    const second = await signedBody()
    await post('/v1/orders', first)
    const body = { ...second, replaces_nonce: first.nonce }
    const { status, json } = await post('/v1/orders/replace', body)
    expect([status, json.error]).to.deep.equal([200, undefined])
    expect(json).to.have.nested.property('order.order_id', second.order_id)
    expect(json).to.have.nested.property('replaced.order_id', first.order_id)
    expect(json).to.have.nested.property('replaced.status', 'cancelled')
  })

  it('answers a reduction with the order', async () => {
    const first = await signedBody({ amount: '10' })
    await post('/v1/orders', first)
    const { owner_address, nonce } = first
    const reduction = { owner_address, nonce, desired_amount: '4' }
    const { status, json } = await post('/v1/orders/reduce', reduction)
    expect([status, json.error]).to.deep.equal([200, undefined])
    expect(json).to.have.nested.property('order.desired_amount', '4')
  })

  it('takes the id of an order in place of its nonce (CAN-047)', async () => {
    const first = await signedBody({ amount: '10' })
    const second = await signedBody({ amount: '10' })
    const third = await signedBody({ amount: '10' })
    await post('/v1/orders', first)
    const { owner_address } = first
    const named = { owner_address, order_id: first.order_id }
    const reduced = await post('/v1/orders/reduce', { ...named, desired_amount: '4' })
    expect(reduced.json).to.have.nested.property('order.desired_amount', '4')
    const replacing = { ...second, replaces_order_id: first.order_id }
    const replaced = await post('/v1/orders/replace', replacing)
    expect(replaced.json).to.have.nested.property('replaced.order_id', first.order_id)
    const cancel = { owner_address, order_id: second.order_id }
    const cancelled = await post('/v1/orders/cancel', cancel)
    expect([cancelled.status, cancelled.json.error]).to.deep.equal([200, undefined])
    expect(cancelled.json).to.have.nested.property('order.status', 'cancelled')

    await post('/v1/orders', third)
    const other = { owner_address: `0x${'0d'.repeat(20)}`, order_id: third.order_id }
    const itself = await signedBody()
    const refused: readonly [string, object, number, string][] = [
      ['/v1/orders/cancel', other, 403, 'order_of_another_owner'],
      ['/v1/orders/reduce', { ...other, desired_amount: '4' }, 403, 'order_of_another_owner'],
      ['/v1/orders/cancel', { owner_address, order_id: 'never' }, 404, 'active_order_not_found'],
      ['/v1/orders/cancel', { owner_address }, 400, 'nonce_required'],
      ['/v1/orders/cancel', { owner_address, order_id: 7 }, 400, 'invalid_text'],
      [
        '/v1/orders/replace',
        { ...itself, replaces_order_id: itself.order_id },
        404,
        'active_order_not_found',
      ],
    ]
    for (const [path, body, status, code] of refused) {
      const answer = await stage.send('POST', path, { body, judged: false })
      expect([answer.status, answer.json.code], JSON.stringify(body)).to.deep.equal([status, code])
    }
    // A nonce beside an id counts alone.
    const both = { owner_address, nonce: third.nonce, order_id: 'never' }
    expect((await post('/v1/orders/cancel', both)).status).to.equal(200)
  })

  it('answers each order of a batch in its place, and places those that are good (ORD-074)', async () => {
    const first = await signedBody()
    const second = await signedBody()
    const repeated = first
    const bad = { ...(await signedBody()), side: 'hold' }
    const body = { orders: [first, bad, 7, second, repeated] }
    const options = { body, judged: false }
    const { status, json } = await stage.send('POST', '/v1/orders/batch', options)
    expect(status).to.equal(200)
    const results = json.results as Result[]
    expect(results.map((it) => [it.status, it.code ?? it.order?.order_id])).to.deep.equal([
      [200, first.order_id],
      [400, 'invalid_side'],
      [400, 'invalid_json'],
      [200, second.order_id],
      [409, 'duplicate_order_id'],
    ])
    expect(results[4]).to.have.nested.property('order.order_id', first.order_id)
    const again = await post('/v1/orders', second)
    expect(again.status).to.equal(409)
  })

  it('replaces the order that one of a batch names (ORD-092)', async () => {
    const first = await signedBody({ amount: '10' })
    const second = await signedBody({ amount: '10' })
    const third = await signedBody({ amount: '10' })
    await post('/v1/orders', first)
    const replacing = { ...second, replaces_nonce: first.nonce }
    const { json } = await post('/v1/orders/batch', { orders: [third, replacing] })
    const [placed, replacement] = json.results as (Result & { readonly replaced?: unknown })[]
    expect(placed?.order?.order_id).to.equal(third.order_id)
    expect(placed).to.not.have.property('replaced')
    expect(replacement?.order?.order_id).to.equal(second.order_id)
    expect(replacement).to.have.nested.property('replaced.order_id', first.order_id)
    expect(replacement).to.have.nested.property('replaced.status', 'cancelled')
  })

  it('takes twenty orders at once', async () => {
    const orders = await Promise.all(Array.from({ length: 20 }, () => signedBody()))
    const { json } = await post('/v1/orders/batch', { orders })
    const ids = (json.results as Result[]).map((it) => it.order?.order_id)
    expect(ids).to.deep.equal(orders.map((it) => it.order_id))
  })

  it('refuses a batch of more than 64 KiB as a whole', async () => {
    const before = await stage.kept()
    const order = { ...(await signedBody()), note: 'x'.repeat(64 * 1024) }
    const { status } = await post('/v1/orders/batch', { orders: [order] })
    expect(status).to.equal(413)
    expect(await stage.kept()).to.deep.equal(before)
  })
})
