import { expect } from 'chai'
import { createRestClient } from '../../client/index.js'
import type { TestVenue } from '../support/venue.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, SPOT, type Trader } from './stage/trader.js'

const TERMS = { side: 'buy', amount: '10', price: '0.0001' } as const

describe('refusals that the chain and the registry decide, on the whole venue', function () {
  let venue: TestVenue
  let eve: Trader
  before(async function () {
    venue = await sharedVenue()
    eve = createTrader(venue.devnet, 4)
  })

  const post = async (path: string, body: unknown) => {
    const response = await fetch(new URL(path, venue.gatewayUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.headers.get('x-request-id')).to.be.a('string')
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const valid = () => eve.sign(TERMS)

  /** The same trader, who names another account as its own. */
  const withAccount = (spot_subaccount_id: string) => {
    const accounts = venue.devnet.accounts.map((it) => ({ ...it, spot_subaccount_id }))
    return createTrader({ ...venue.devnet, accounts }, 4).sign(TERMS)
  }

  it('an account of another owner, and one that is not deposited (ORD-069, ORD-070)', async () => {
    const theirs = venue.devnet.accounts[5]?.spot_subaccount_id ?? ''
    const rows = [
      [theirs, `subaccount_id ${theirs} is not owned by owner_address`],
      ['999999', 'subaccount_id 999999 is not deposited in matching custody'],
    ] as const
    for (const [account, error] of rows) {
      const { status, body } = await post('/v1/orders', await withAccount(account))
      expect([status, body.error]).to.deep.equal([400, error])
    }
  })

  it('an order_id or a nonce that is taken, for ever (ORD-017, ORD-018)', async () => {
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

  it('leaves nothing in the book', async () => {
    const { bids, asks } = await createRestClient(venue.gatewayUrl).book(SPOT)
    expect([...bids, ...asks].map((it) => it.owner_address)).not.to.include(eve.address)
  })
})
