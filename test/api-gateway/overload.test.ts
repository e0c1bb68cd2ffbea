import { expect } from 'chai'
import type { OrderReply } from '../../bus-schemas/orders.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const refused = (refusal: Refusal): OrderReply => ({ kind: 'refused', refusal })
const body = { order_id: 'order-1', owner_address: `0x${'ab'.repeat(20)}` }

describe('a venue that is too busy or too full', () => {
  let gateway: GatewayStage
  before(async () => (gateway = await aGatewayStage()))
  after(() => gateway.close())

  for (const refusal of [refusals.overloaded, refusals.tooManyUnchecked, refusals.ownerUnchecked])
    for (const action of ['', '/batch', '/cancel'])
      it(`says ${refusal.code} to /v1/orders${action} with Retry-After`, async () => {
        gateway.answerWith(refused(refusal))
        const sent = action === '/batch' ? { orders: [body, body] } : body
        const { status, headers, json } = await gateway.send('POST', `/v1/orders${action}`, {
          body: sent,
          judged: false,
        })
        expect(headers['retry-after']).to.equal('1')
        const said = action === '/batch' ? (json.results as unknown[]) : [json]
        for (const each of said) expect(each).to.include({ code: refusal.code })
        expect(status).to.equal(action === '/batch' ? 200 : 500)
      })

  it('gives no advice with a refusal that a repeat gets again', async () => {
    gateway.answerWith(refused(refusals.signature))
    const { headers } = await gateway.send('POST', '/v1/orders', { body })
    expect(headers).to.not.have.property('retry-after')
  })
})
