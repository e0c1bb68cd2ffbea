import { expect } from 'chai'
import {
  decodeCancelsRequest,
  encodeCancelsAnswer,
  type CancelsReply,
  type CancelsRequest,
} from '../../bus-schemas/cancels.js'
import { askCancels } from '../../bus-schemas/subjects.js'
import { cancelsRefusals } from '../../core/entry/order-refusals.js'
import { refusals } from '../../core/entry/refusals.js'
import { amountE18, E18 } from '../../core/money.js'
import { aMarket } from '../support/builders.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const owner_address = `0x${'c1'.repeat(20)}`
const spot = aMarket()
const other = aMarket({ market: 'cNGN-PERP', aliases: ['USDCcNGN-PERP'], subId: 1n })

describe('cancels of many orders at the gateway', () => {
  let gateway: GatewayStage
  let asked: CancelsRequest[]
  let answers: Map<string, CancelsReply | undefined>

  beforeEach(async () => {
    asked = []
    answers = new Map()
    gateway = await aGatewayStage({ markets: [spot, other] })
    await gateway.bus.answer(askCancels, 'order-intake', (data, replyTo) => {
      const request = decodeCancelsRequest(data)
      asked.push(request)
      const answer = answers.get(request.market)
      if (answer !== undefined) gateway.bus.reply(replyTo, encodeCancelsAnswer(answer))
    })
  })
  afterEach(() => gateway.close())

  const cancelled = (orderId: string): CancelsReply => ({
    kind: 'cancels',
    feed_seq: 0,
    left: 0,
    outcomes: [
      {
        kind: 'cancelled',
        orderId,
        nonce: 7n,
        filled: amountE18(E18),
        pending: amountE18(0n),
      },
    ],
  })
  const nothing: CancelsReply = { kind: 'cancels', feed_seq: 0, outcomes: [], left: 0 }
  const shown = (order_id: string, market: string) => ({
    order_id,
    market,
    outcome: 'cancelled',
    nonce: '7',
    filled_amount: '1',
    pending_amount: '0',
  })
  const post = (path: string, body: unknown, headers = {}) =>
    gateway.send('POST', `/v1/orders/${path}`, { body, headers, judged: true })

  it('asks every market once, with the body and the frame as they came', async () => {
    answers.set(spot.market, cancelled('a')).set(other.market, { ...cancelled('b') })
    const answer = await post('cancel-all', { owner_address }, { 'X-Service-Auth': 'frame' })
    expect(answer.status).to.equal(200)
    expect(answer.json).to.deep.equal({
      orders: [shown('a', spot.market), shown('b', other.market)],
      left: 0,
    })
    expect(asked.map(({ market, kind }) => [market, kind])).to.deep.equal([
      [spot.market, 'cancel_all'],
      [other.market, 'cancel_all'],
    ])
    for (const each of asked) {
      expect(each).to.include({ service_auth: 'frame', body: JSON.stringify({ owner_address }) })
    }
  })

  it('asks the market that is named, by any of its names', async () => {
    answers.set(other.market, nothing)
    const answer = await post('cancel-all', { owner_address, market: 'USDCcNGN-PERP' })
    expect(answer.json).to.deep.equal({ orders: [], left: 0 })
    expect(asked.map(({ market }) => market)).to.deep.equal([other.market])
    expect(answer.headers).to.include({
      deprecation: 'true',
      'x-canonical-market': other.market,
    })
    const canonical = await post('cancel-all', { owner_address, market: other.market })
    expect(canonical.headers).to.not.have.any.keys('deprecation', 'x-canonical-market')
  })

  it('refuses what names no market or is not JSON, and asks no market', async () => {
    const cases: [unknown, number, string][] = [
      [{ owner_address, market: 'nothing' }, 400, 'unknown_market'],
      [{ owner_address, market: 5 }, 400, 'market must be a string'],
      [{ owner_address, market: null }, 400, 'market must be a string'],
      [{ owner_address, market: '' }, 400, 'unknown_market'],
      ['{', 400, 'invalid JSON body'],
    ]
    for (const path of ['cancel-all', 'cancel-all-after']) {
      for (const [body, status, error] of cases) {
        const answer = await gateway.send('POST', `/v1/orders/${path}`, { body })
        expect([answer.status, answer.json.error], path).to.deep.equal([status, error])
      }
    }
    expect(asked).to.deep.equal([])
  })

  it('answers each order of a list, also one that no market knows', async () => {
    answers.set(spot.market, nothing).set(other.market, {
      ...nothing,
      outcomes: [{ kind: 'not_cancelled', orderId: 'b', code: 'order_of_another_owner' }],
    })
    const answer = await post('cancel-list', { owner_address, order_ids: ['a', 'b', 'a'] })
    expect(answer.json).to.deep.equal({
      orders: [
        {
          order_id: 'b',
          market: other.market,
          outcome: 'not_cancelled',
          code: 'order_of_another_owner',
          error: 'the order belongs to another owner',
        },
        {
          order_id: 'a',
          outcome: 'not_cancelled',
          code: 'active_order_not_found',
          error: 'active order not found',
        },
      ],
      left: 0,
    })
  })

  it('answers a refusal of all markets as it is', async () => {
    const refused: CancelsReply = { kind: 'refused', refusal: cancelsRefusals.proofUsed }
    answers.set(spot.market, refused).set(other.market, refused)
    const answer = await post('cancel-all', { owner_address })
    expect([answer.status, answer.json.code]).to.deep.equal([403, 'cancel_proof_used'])
  })

  it('answers 500 with what was done when some markets have failed (CAN-025)', async () => {
    answers.set(spot.market, cancelled('a'))
    answers.set(other.market, { kind: 'refused', refusal: refusals.overloaded })
    const answer = await post('cancel-list', { owner_address, order_ids: ['a', 'c'] })
    expect(answer.status).to.equal(500)
    const { message: error, code } = refusals.overloaded
    expect(answer.json).to.deep.include({
      error,
      code,
      orders: [shown('a', spot.market)],
      failed_markets: [{ market: other.market, code, error }],
    })
  })

  it('shows until when a dead-man switch holds in each market', async () => {
    const endsAt = Date.parse('2026-11-21T10:01:00Z')
    answers.set(spot.market, { kind: 'lease', ends_at_ms: endsAt })
    answers.set(other.market, { kind: 'lease', ends_at_ms: 0 })
    const answer = await post('cancel-all-after', { owner_address, seconds: 60 })
    expect(answer.json).to.deep.equal({
      leases: [
        { market: spot.market, ends_at: '2026-11-21T10:01:00.000Z' },
        { market: other.market },
      ],
    })
  })
})
