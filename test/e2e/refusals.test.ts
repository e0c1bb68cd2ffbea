import { expect } from 'chai'
import { createRestClient, type OrderBody } from '../../client/index.js'
import { sharedVenue } from '../support/shared-venue.js'
import { createTrader, SPOT, type Trader } from '../support/trader.js'
import type { TestVenue } from '../support/venue.js'

type Body = Record<string, unknown>

/** A change to a valid signed body and the exact answer to what comes of it. */
interface Case {
  readonly title: string
  readonly change: (body: OrderBody) => Body
  readonly error: string
  readonly status?: number
}

const set = (fields: Body) => (body: OrderBody) => ({ ...body, ...fields })
const drop = (field: keyof OrderBody) => (body: OrderBody) => {
  const { [field]: _dropped, ...rest } = body
  return rest
}
const setAction = (fields: Body) => (body: OrderBody) => ({
  ...body,
  action_json: { ...body.action_json, ...fields },
})
/** Replaces one of the seven signed words, counted from 0. */
const setWord = (index: number, word: bigint | string) => (body: OrderBody) => {
  const { data } = body.action_json
  const hex = typeof word === 'string' ? word : BigInt.asUintN(256, word).toString(16)
  const at = 2 + 64 * index
  const changed = data.slice(0, at) + hex.padStart(64, '0') + data.slice(at + 64)
  return setAction({ data: changed })(body)
}
const required = (field: keyof OrderBody): Case => ({
  title: `no ${field}`,
  change: drop(field),
  error: `${field} is required`,
})
const otherAddress = `0x${'12'.repeat(20)}`
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const order = 2n * halfOrder + 1n

/** The other signature of the same message: accepted by many libraries, refused by the chain. */
function highS(signature: string): string {
  const s = order - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return signature.slice(0, 66) + s.toString(16).padStart(64, '0') + v
}
const WRONG_SIGNATURE = 'signature does not authorize this action'

const CASES: readonly Case[] = [
  required('order_id'),
  required('asset_address'),
  required('nonce'),
  required('limit_price'),
  required('desired_amount'),
  required('signature'),
  required('owner_address'),
  required('signer_address'),
  required('subaccount_id'),
  required('recipient_id'),
  required('worst_fee'),
  required('side'),
  { title: 'no expiry', change: drop('expiry'), error: 'expiry must be in the future' },
  {
    title: 'an expiry in the past',
    change: set({ expiry: 1 }),
    error: 'expiry must be in the future',
  },
  { title: 'an expiry as text', change: set({ expiry: '9' }), error: 'expiry must be an integer' },
  { title: 'no action', change: drop('action_json'), error: 'action_json must be valid JSON' },
  {
    title: 'a side it does not know',
    change: set({ side: 'BUY' }),
    error: 'side must be buy or sell',
  },
  {
    title: 'an instrument it does not know',
    change: set({ asset_address: otherAddress }),
    error: 'asset_address must match a configured instrument',
  },
  {
    title: 'a negative amount',
    change: set({ desired_amount: '-1' }),
    error: 'desired_amount must be greater than zero',
  },
  {
    title: 'an amount below the smallest',
    change: set({ desired_amount: '0.0000001' }),
    error: 'normalized atomic size is 0',
  },
  {
    title: 'a negative filled amount',
    change: set({ filled_amount: '-1' }),
    error: 'filled_amount cannot be negative',
  },
  {
    title: 'more filled than desired',
    change: set({ filled_amount: '11' }),
    error: 'filled_amount cannot exceed desired_amount',
  },
  {
    title: 'a spec without an intent',
    change: set({ order_entry_spec: 'cngn_usdc_spot_v1' }),
    error: 'ui_intent is required when order_entry_spec is provided',
  },
  {
    title: 'an intent without a spec',
    change: set({ ui_intent: { price: '10000', size: '0.001' } }),
    error: 'order_entry_spec is required when ui_intent is provided',
  },
  {
    title: 'another spec',
    change: set({ order_entry_spec: 'x', ui_intent: { price: '10000', size: '0.001' } }),
    error: 'order_entry_spec must be "cngn_usdc_spot_v1" for this market\'s ui_intent',
  },
  {
    title: 'another subaccount in the action',
    change: setAction({ subaccount_id: '99' }),
    error: 'action_json.subaccount_id must match subaccount_id',
  },
  {
    title: 'another nonce in the action',
    change: setAction({ nonce: '99' }),
    error: 'action_json.nonce must match nonce',
  },
  {
    title: 'another owner in the action',
    change: setAction({ owner: otherAddress }),
    error: 'action_json.owner must match owner_address',
  },
  {
    title: 'another signer in the action',
    change: setAction({ signer: otherAddress }),
    error: 'action_json.signer must match signer_address',
  },
  {
    title: 'six words',
    change: (body) => setAction({ data: body.action_json.data.slice(0, -64) })(body),
    error: 'expected encoded TradeData tuple',
  },
  {
    title: 'another asset in the words',
    change: setWord(0, BigInt(otherAddress)),
    error: 'action_json.data.asset must match asset_address',
  },
  {
    title: 'another sub id in the words',
    change: setWord(1, 7n),
    error: 'action_json.data.subId must match sub_id',
  },
  {
    title: 'the other side in the words',
    change: setWord(6, 0n),
    error: 'action_json.data.isBid must match side',
  },
  {
    title: 'a signed price of zero',
    change: setWord(2, 0n),
    error: 'action_json.data.limitPrice must be positive',
  },
  {
    title: 'a signed amount below zero',
    change: setWord(3, -1n),
    error: 'action_json.data.desiredAmount must be positive',
  },
  {
    title: 'a signed price of twice the price',
    change: setWord(2, 2n * 10n ** 14n),
    error: 'action_json.data.limitPrice is not aligned with normalized limit_price',
  },
  {
    title: 'a signed amount off by one',
    change: setWord(3, 10n * 10n ** 18n + 1n),
    error: 'action_json.data.desiredAmount is not aligned with normalized desired_amount',
  },
  {
    title: 'a signature of something else',
    change: (body) => setAction({ expiry: `${body.expiry + 1}` })(body),
    error: WRONG_SIGNATURE,
  },
  {
    title: 'the high-s twin of the signature',
    change: (body) => ({ ...body, signature: highS(body.signature) }),
    error: WRONG_SIGNATURE,
  },
  {
    title: 'a signature with v 0 or 1',
    change: (body) => ({
      ...body,
      signature: body.signature.slice(0, -2) + (body.signature.endsWith('1b') ? '00' : '01'),
    }),
    error: WRONG_SIGNATURE,
  },
]

describe('refusals of an order, on the whole venue', function () {
  this.timeout(30_000)
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

  for (const { title, change, error, status = 400 } of CASES) {
    it(`${title}: ${error}`, async () => {
      const body = await valid()
      const answer = await post('/v1/orders', change(body))
      expect(answer.body.error).to.equal(error)
      expect(answer.status).to.equal(status)
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

  it('bodies that are no JSON object', async () => {
    for (const body of ['{"order_id":', '', '[]', 'null', '7', '"x"']) {
      const answer = await post('/v1/orders', body)
      expect(answer.status, body).to.equal(400)
      expect(answer.body.error, body).to.equal('invalid JSON body')
    }
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
