import { expect } from 'chai'
import type { Devnet } from '../support/venue.js'
import {
  MARKET,
  SPEC,
  traderOf,
  type Json,
  type OrderJson,
  type BlackBoxTrader,
} from './black-box/client.js'
import { expectError, expectShape, ISO, ORDER, TEXT } from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

const RESTING = { side: 'buy', price: '0.0025', amount: '40' } as const

describe('a trader’s orders', function () {
  let devnet: Devnet
  let ann: BlackBoxTrader
  let bob: BlackBoxTrader
  before(async function () {
    ;({ devnet } = await sharedVenue())
    ann = traderOf(devnet, 4)
    bob = traderOf(devnet, 5)
  })

  describe('placed', () => {
    it('are answered 200 {order}, field by field', async () => {
      const body = await ann.sign(RESTING)
      const answer = await ann.post('/v1/orders', body)
      expect(answer.status).to.equal(200)
      expect(Object.keys(answer.body)).to.deep.equal(['order'])
      expectShape(answer.body.order, ORDER)
      expectShape(answer.body.order, {
        order_id: body.order_id,
        owner_address: ann.address,
        signer_address: ann.address,
        subaccount_id: ann.subaccountId,
        recipient_id: ann.subaccountId,
        nonce: body.nonce,
        side: 'buy',
        asset_address: devnet.wrapped_cngn,
        sub_id: '0',
        desired_amount: '40',
        filled_amount: '0',
        open_amount: '40',
        pending_amount: '0',
        limit_price: '0.0025',
        worst_fee: body.worst_fee as string,
        expiry: body.expiry,
        signature: body.signature,
        status: 'active',
        market: MARKET,
      })
      expect((answer.body.order as Json).action_json).to.deep.equal(body.action_json)
      await ann.cancel(body)
    })

    it('carry a spot_contract in trader terms although none was sent (ORD-062)', async () => {
      const order = await ann.place({ side: 'buy', price: '0.0025', amount: '1000' })
      expect(order.spot_contract).to.deep.equal({
        spec: SPEC,
        ui_intent: { side: 'sell', price: '400', size: '2.5' },
        engine_order: { side: 'buy', price: '0.0025', amount: '1000' },
        balance_delta: { usdc: '-2.5', cngn: '+1000' },
      })
      await ann.cancel(order)
    })

    it('are in the book, the lookup and nowhere else at once', async () => {
      const order = await ann.place(RESTING)
      const { bids, asks } = await ann.book()
      expect(bids.map((it) => it.order_id)).to.include(order.order_id)
      expect(asks.map((it) => it.order_id)).not.to.include(order.order_id)
      const shown = bids.find((it) => it.order_id === order.order_id)
      expect(shown).to.deep.equal(order)
      await ann.cancel(order)
      expect((await ann.book()).bids.map((it) => it.order_id)).not.to.include(order.order_id)
    })

    it('are looked up flat, with three fields more, and once again as order (ORD-078)', async () => {
      const order = await ann.place(RESTING)
      const { status, body } = await ann.get(`/v1/orders/${order.order_id}`)
      expect(status).to.equal(200)
      expectShape(body, { ...ORDER, remaining_amount: '40', updated_at: ISO, cancel_reason: '' })
      expectShape(body.order, ORDER)
      expect(body.order).to.deep.include({ ...order })
      await ann.cancel(order)
      expectShape((await ann.get(`/v1/orders/${order.order_id}`)).body, {
        status: 'cancelled',
        cancel_reason: 'unspecified',
        remaining_amount: '40',
      })
    })

    it('may leave sub_id and filled_amount out (ORD-011)', async () => {
      const { sub_id, filled_amount, ...body } = await ann.sign(RESTING)
      expect([sub_id, filled_amount]).to.deep.equal(['0', '0'])
      const answer = await ann.post('/v1/orders', body)
      expectShape(answer.body.order, { sub_id: '0', filled_amount: '0', status: 'active' })
      await ann.cancel(body)
    })

    it('may carry action_json as text, and unknown fields (ORD-008, ORD-012)', async () => {
      const body = await ann.sign(RESTING)
      const { action_json } = body
      const odd = { ...body, action_json: JSON.stringify(action_json), client_tag: 'x' }
      const answer = await ann.post('/v1/orders', odd)
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200)
      await ann.cancel(body)
    })

    it('are found by ids that need escaping in a path', async () => {
      const orderId = `trader/№ ${process.pid}-${Date.now()}?a=b&c%20#d`
      const order = await ann.place({ ...RESTING, orderId })
      const { body } = await ann.get(`/v1/orders/${encodeURIComponent(orderId)}`)
      expect(body.order_id).to.equal(orderId)
      await ann.cancel(order)
    })

    it('rest with what filled_amount leaves of them', async () => {
      const order = await ann.place({ ...RESTING, more: { filled_amount: '15' } })
      // Figures are those of own fills: what was declared stands apart.
      expectShape(order, { filled_amount: '0', open_amount: '25', status: 'active' })
      expectShape(order, { inherited_filled_amount: '15', remaining_amount: '25' })
      await ann.cancel(order)
      const whole = await ann.place({ ...RESTING, more: { filled_amount: '40' } })
      expectShape(whole, { inherited_filled_amount: '40', open_amount: '0', status: 'filled' })
    })

    it('leave without trailing zeros (MON-006)', async () => {
      const order = await ann.place({ side: 'buy', price: '0.00250', amount: '40.100' })
      expectShape(order, { limit_price: '0.0025', desired_amount: '40.1' })
      await ann.cancel(order)
    })

    it('are warned about a fee bound below the schedule, but taken (ORD-067)', async () => {
      const order = await ann.place({ ...RESTING, worstFee: 0n })
      expect(order.warnings).to.deep.equal(['worst_fee_below_taker_schedule'])
      expect(order.status).to.equal('active')
      await ann.cancel(order)
    })
  })

  describe('in trader terms', () => {
    /** Sell 5 USDC at 250 cNGN: buy 1250 cNGN at 0.004. */
    const engine = { side: 'buy', price: '0.004', amount: '1250' } as const
    const intent = { order_entry_spec: SPEC, ui_intent: { side: 'sell', price: '250', size: '5' } }
    const derived = ['side', 'limit_price', 'desired_amount']
    const without = (body: Json, fields: string[]): Json =>
      Object.fromEntries(Object.entries(body).filter(([field]) => !fields.includes(field)))
    const signed = (more: Json = {}) => ann.sign({ ...engine, more: { ...intent, ...more } })

    it('are derived when the engine fields are left out (ORD-054)', async () => {
      const body = await signed()
      const answer = await ann.post('/v1/orders', without(body, derived))
      const order = answer.body.order as OrderJson
      expectShape(order, { side: 'buy', limit_price: '0.004', desired_amount: '1250' })
      expect(order.spot_contract).to.deep.equal({
        spec: SPEC,
        ui_intent: { side: 'sell', price: '250', size: '5' },
        engine_order: { side: 'buy', price: '0.004', amount: '1250' },
        balance_delta: { usdc: '-5', cngn: '+1250' },
      })
      await ann.cancel(order)
    })

    it('may say both, and must then agree (ORD-054)', async () => {
      const order = await ann.place({ ...engine, more: intent })
      expect(order.side).to.equal('buy')
      await ann.cancel(order)
      for (const [field, value] of [
        ['side', 'sell'],
        ['limit_price', '0.0041'],
        ['desired_amount', '1251'],
      ] as const)
        expectError(
          await ann.post('/v1/orders', { ...(await signed()), [field]: value }),
          400,
          `${field} does not match ui_intent translation`,
        )
    })

    it('accept either neighbour of a reciprocal without end (ORD-057)', async () => {
      // 1 / 300 = 0.00333…; 1 / 150.7 falls between two ticks as well.
      for (const price of ['0.003333333333333333', '0.003333333333333334']) {
        const ui_intent = { side: 'sell', price: '300', size: '2' }
        const body = await ann.sign({
          side: 'buy',
          price,
          amount: '600',
          more: { ...intent, ui_intent },
        })
        const answer = await ann.post('/v1/orders', without(body, derived))
        expectShape(answer.body.order, { limit_price: price, status: 'active' })
        await ann.cancel(body)
      }
    })

    it('may leave the intent’s side to the engine side (ORD-060)', async () => {
      const order = await ann.place({
        ...engine,
        more: { ...intent, ui_intent: { price: '250', size: '5' } },
      })
      expect((order.spot_contract as Json).ui_intent).to.deep.include({ side: 'sell' })
      await ann.cancel(order)
    })

    for (const [title, more, error] of [
      [
        'only the spec',
        { ui_intent: undefined },
        'ui_intent is required when order_entry_spec is provided',
      ],
      [
        'only the intent',
        { order_entry_spec: undefined },
        'order_entry_spec is required when ui_intent is provided',
      ],
      [
        'the earlier spelling of the spec',
        { order_entry_spec: 'usdc_cngn_spot_v1' },
        `order_entry_spec must be "${SPEC}" for this market's ui_intent`,
      ],
      [
        'the perp’s spec',
        { order_entry_spec: 'cngn_usdc_perp_v1' },
        `order_entry_spec must be "${SPEC}" for this market's ui_intent`,
      ],
      [
        'a side it does not know',
        { ui_intent: { side: 'long', price: '250', size: '5' } },
        "ui_intent.side must be 'buy' or 'sell'",
      ],
      [
        'a price of zero',
        { ui_intent: { side: 'sell', price: '0', size: '5' } },
        'ui_intent.price must be greater than zero',
      ],
      [
        'a negative size',
        { ui_intent: { side: 'sell', price: '250', size: '-5' } },
        'ui_intent.size must be greater than zero',
      ],
    ] as const)
      // prettier-ignore
      it(`are refused with ${title} (ORD-051, ORD-052)`, async () => {
        expectError(await ann.post('/v1/orders', await signed(more)), 400, error)
      })
  })

  describe('a second time', () => {
    it('are a 409 that shows the first (ORD-021)', async () => {
      const body = await ann.sign(RESTING)
      await ann.post('/v1/orders', body)
      const again = await ann.post('/v1/orders', body)
      expectError(again, 409, /^duplicate order: /)
      expectShape(again.body.order, { ...ORDER, order_id: body.order_id })
      await ann.cancel(body)
      expectError(await ann.post('/v1/orders', body), 409, /^duplicate order: /)
    })

    it('with the same id or the same nonce are a 409, to any client that asks about the id (ORD-019, ORD-020)', async () => {
      const first = await ann.place(RESTING)
      const { order_id: orderId } = first
      expectError(
        await bob.submit({ ...RESTING, orderId }),
        409,
        'duplicate order: order_id already used',
      )
      const body = await ann.sign(RESTING)
      await ann.post('/v1/orders', body)
      const renamed = { ...body, order_id: `${orderId}-renamed` }
      expectError(await ann.post('/v1/orders', renamed), 409, 'duplicate order: nonce already used')
      for (const order of [first, body]) await ann.cancel(order)
    })

    it('sent twenty times at once are placed once (ORD-024)', async () => {
      const body = await ann.sign(RESTING)
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => ann.post('/v1/orders', body)),
      )
      const count = (status: number) => answers.filter((it) => it.status === status).length
      expect([count(200), count(409)]).to.deep.equal([1, 19])
      const { bids } = await ann.book()
      expect(bids.filter((it) => it.order_id === body.order_id)).to.have.length(1)
      await ann.cancel(body)
    })
  })

  describe('cancelled', () => {
    it('are answered with the order, once (CAN-002, CAN-009)', async () => {
      const order = await ann.place(RESTING)
      const answer = await ann.cancel(order)
      expect(answer.status).to.equal(200)
      expectShape(answer.body.order, { ...ORDER, status: 'cancelled', open_amount: '0' })
      expectShape(answer.body.order, { order_id: order.order_id, cancelled_at: ISO })
      expectError(await ann.cancel(order), 404, 'active order not found')
    })

    it('by an owner address in any case, with a reason that is kept (CAN-006)', async () => {
      const order = await ann.place(RESTING)
      const owner_address = `0x${ann.address.slice(2).toUpperCase()}`
      const answer = await ann.cancel(order, { owner_address, reason: 'repriced' })
      expectShape(answer.body.order, { cancel_reason: 'repriced', status: 'cancelled' })
    })

    it('not by another owner, and not without the two fields (CAN-001)', async () => {
      const order = await ann.place(RESTING)
      expectError(await bob.cancel(order), 404, 'active order not found')
      expectError(await ann.post('/v1/orders/cancel', { nonce: order.nonce }), 400, TEXT)
      const { owner_address } = order
      expectError(await ann.post('/v1/orders/cancel', { owner_address }), 400, 'nonce is required')
      expectError(await ann.post('/v1/orders/cancel', '{"nonce":'), 400, 'invalid JSON body')
      expect((await ann.order(order.order_id)).status).to.equal('active')
      await ann.cancel(order)
    })

    it('not by a service in a protected namespace', async () => {
      const orderId = `smoke:trader-${process.pid}-${Date.now()}`
      const order = await ann.place({ ...RESTING, orderId })
      expectError(
        await ann.cancel(order, { service: 'janitor' }),
        403,
        'service-tagged cancels are not allowed for protected namespace "smoke:"',
      )
      expect((await ann.cancel(order)).status).to.equal(200)
    })
  })

  after(async () => {
    const { bids, asks } = await ann.book()
    const left = [...bids, ...asks].filter((it) =>
      [ann.address, bob.address].includes(it.owner_address),
    )
    expect(left).to.deep.equal([])
  })
})
