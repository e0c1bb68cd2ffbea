import { expect } from 'chai'
import type { OrderReply } from '../../bus-schemas/orders.js'
import { controlRefusals } from '../../core/entry/order-refusals.js'
import { createOrderRate } from '../../runtime/process/order-rate.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'
import { anOrder, progressOf } from '../support/builders.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const order = anOrder()
const placed: OrderReply = {
  kind: 'order',
  feed_seq: 5,
  market: order.market,
  order,
  progress: progressOf(order),
}
const refused = (refusal: Refusal): OrderReply => ({ kind: 'refused', refusal })
const OWNER = `0x${'Ab'.repeat(20)}`

describe('the orders that an owner may send', () => {
  let gateway: GatewayStage
  let atMs: number
  beforeEach(async () => {
    atMs = 0
    const orderRate = createOrderRate({ perSec: 1, elapsedMs: () => atMs })
    gateway = await aGatewayStage({ orderRate })
  })
  afterEach(() => gateway.close())

  const send = async (answer: OrderReply, path = '/v1/orders', owner = OWNER) => {
    gateway.answerWith(answer)
    const { status, headers, json } = await gateway.send('POST', path, {
      body: { order_id: 'order-1', owner_address: owner },
    })
    const left = ['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`])
    return { status, json, left: left.join(), retry: headers['retry-after'] }
  }

  it('are counted down in every answer, refused beyond the limit with the time to wait, and back after it', async () => {
    expect((await send(placed)).left).to.equal('10,9,1')
    for (let sent = 1; sent < 10; sent += 1) await send(placed)
    const before = gateway.asked.length
    const beyond = await send(placed)
    expect(beyond).to.deep.include({ status: 500, left: '10,0,10', retry: '1' })
    expect(beyond.json).to.include({ code: 'too_many_orders' })
    expect(gateway.asked).to.have.length(before)
    // An owner is its address, in whatever case; another one is not concerned.
    expect((await send(placed, '/v1/orders', OWNER.toLowerCase())).status).to.equal(500)
    expect((await send(placed, '/v1/orders', `0x${'cd'.repeat(20)}`)).left).to.equal('10,9,1')
    atMs = 1_000
    expect(await send(placed)).to.deep.include({ status: 200, left: '10,0,10' })
  })

  it('never count a cancel, nor limit one (ORD-084)', async () => {
    for (let sent = 0; sent < 10; sent += 1) await send(placed)
    expect(await send(placed, '/v1/orders/cancel')).to.deep.include({ status: 200, left: ',,' })
  })

  it('count what its owner has signed, and nothing that another client could send (ORD-085)', async () => {
    for (const answer of [refused(refusals.signature), refused(refusals.duplicateOrderId)]) {
      expect((await send(answer)).left).to.equal(',,')
    }
    expect((await send(refused(controlRefusals.postOnlyWouldCross))).left).to.equal('10,9,1')
  })

  it('are any number by default (ORD-084)', async () => {
    expect(createOrderRate({ perSec: 0 })).to.equal(undefined)
    const unlimited = await aGatewayStage()
    unlimited.answerWith(placed)
    const { headers } = await unlimited.send('POST', '/v1/orders', {
      body: { owner_address: OWNER },
    })
    expect(headers).not.to.have.property('ratelimit-limit')
    await unlimited.close()
  })

  it('count each order of a batch, and refuse those beyond the limit one by one', async () => {
    gateway.answerWith(placed)
    const orders = Array.from({ length: 12 }, (_, n) => ({
      order_id: `b${n}`,
      owner_address: OWNER,
    }))
    const { status, json } = await gateway.send('POST', '/v1/orders/batch', {
      body: { orders },
      judged: false,
    })
    expect(status).to.equal(200)
    const results = json.results as { status: number; code?: string }[]
    expect(results.map((it) => it.code ?? it.status)).to.deep.equal([
      ...Array<number>(10).fill(200),
      ...['too_many_orders', 'too_many_orders'],
    ])
    expect((await send(placed)).status).to.equal(500)
  })
})
