import { expect } from 'chai'
import { createRestClient } from '../../client/index.js'
import { orderRefusals } from '../support/order-refusals.js'
import { sharedVenue } from '../support/shared-venue.js'
import { createTrader, SPOT, type Trader } from '../support/trader.js'
import type { TestVenue } from '../support/venue.js'

describe('refusals of an order, on the whole venue', function () {
  this.timeout(120_000)
  let venue: TestVenue
  let eve: Trader
  before(async function () {
    this.timeout(120_000)
    venue = await sharedVenue()
    eve = createTrader(venue.devnet, 4)
  })

  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(new URL(path, venue.gatewayUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    expect(response.headers.get('x-request-id')).to.be.a('string')
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const valid = () => eve.sign({ side: 'buy', amount: '10', price: '0.0001' })
  const isAbsent = async (orderId: string) => {
    const response = await fetch(new URL(`/v1/orders/${orderId}`, venue.gatewayUrl))
    expect(response.status).to.equal(404)
    expect(await response.json()).to.include({ error: 'order not found' })
  }

  for (const { what, change, error } of orderRefusals) {
    it(`${what}: ${error.toString().slice(0, 80)}`, async () => {
      const body = await valid()
      const answer = await post('/v1/orders', change(body, Math.floor(Date.now() / 1_000)))
      if (typeof error === 'string') expect(answer.body.error).to.equal(error)
      else expect(answer.body.error).to.match(error)
      expect(answer.status).to.equal(400)
      await isAbsent(body.order_id)
    })
  }

  it('an account that is not the owner’s', async () => {
    const other = venue.devnet.accounts[5]
    const id = other?.spot_subaccount_id ?? ''
    const [mine] = venue.devnet.accounts.slice(4)
    const stranger = createTrader(
      {
        ...venue.devnet,
        accounts: venue.devnet.accounts.map((it) =>
          it === mine ? { ...it, spot_subaccount_id: id } : it,
        ),
      },
      4,
    )
    const body = await stranger.sign({ side: 'buy', amount: '10', price: '0.0001' })
    const answer = await post('/v1/orders', body)
    expect(answer).to.have.nested.property(
      'body.error',
      `subaccount_id ${id} is not owned by owner_address`,
    )
    expect(answer.status).to.equal(400)
  })

  it('an account that nobody has deposited', async () => {
    const nobody = createTrader(
      {
        ...venue.devnet,
        accounts: venue.devnet.accounts.map((it) => ({ ...it, spot_subaccount_id: '999999' })),
      },
      4,
    )
    const body = await nobody.sign({ side: 'buy', amount: '10', price: '0.0001' })
    const answer = await post('/v1/orders', body)
    expect(answer.body.error).to.equal('subaccount_id 999999 is not deposited in matching custody')
  })

  it('an order_id or a nonce that is taken, for ever', async () => {
    const body = await valid()
    expect((await post('/v1/orders', body)).status).to.equal(200)
    const again = await post('/v1/orders', body)
    expect(again.status).to.equal(409)
    expect(again.body.error).to.equal('duplicate order: order_id already used')
    expect(again.body).to.have.nested.property('order.order_id', body.order_id)
    await eve.cancel(body)
    expect((await post('/v1/orders', body)).status).to.equal(409)
    const sameNonce = await post('/v1/orders', { ...body, order_id: `${body.order_id}-other` })
    expect(sameNonce).to.deep.include({ status: 409 })
    expect(sameNonce.body.error).to.equal('duplicate order: nonce already used')
    const other = await valid()
    const sameId = await post('/v1/orders', { ...other, order_id: body.order_id })
    expect(sameId.body.error).to.equal('duplicate order: order_id already used')
  })

  it('a cancel of nothing', async () => {
    const answer = await post('/v1/orders/cancel', { owner_address: eve.address, nonce: '5' })
    expect(answer).to.deep.include({ status: 404 })
    expect(answer.body.error).to.equal('active order not found')
  })

  it('bodies over 64 KiB', async () => {
    const answer = await post('/v1/orders', { order_id: 'x'.repeat(70_000) })
    expect(answer).to.deep.include({ status: 413 })
    expect(answer.body.error).to.equal('request body too large')
  })

  it('unknown paths, wrong methods and unknown markets', async () => {
    const get = async (path: string, method = 'GET') => {
      const response = await fetch(new URL(path, venue.gatewayUrl), { method })
      expect(response.headers.get('content-type')).to.match(/^application\/json/)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    expect(await get('/v1/nothing')).to.deep.include({ status: 404 })
    expect(await get('/v1/book?symbol=x', 'DELETE')).to.deep.include({ status: 405 })
    const unknown = await get('/v1/book?symbol=NOPE')
    expect(unknown.status).to.equal(400)
    expect(unknown.body).to.deep.include({
      error: 'unknown_market',
      message: 'no such market: NOPE',
      markets: [SPOT],
    })
    const unnamed = await get('/v1/trades')
    expect(unnamed.body.message).to.equal('symbol or asset_address is required')
  })

  it('leaves nothing in the book', async () => {
    const { bids, asks } = await createRestClient(venue.gatewayUrl).book(SPOT)
    expect([...bids, ...asks].map((it) => it.owner_address)).not.to.include(eve.address)
  })
})
