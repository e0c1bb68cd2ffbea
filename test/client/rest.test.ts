import { expect } from 'chai'
import {
  createRestClient,
  createSeenSeqs,
  OutcomeUnknown,
  VenueError,
  VenueRefused,
  type OrderBody,
  type SignedFrame,
} from '../../client/index.js'
import { aPreparedServer, type PreparedAnswer, type PreparedServer } from './prepared-server.js'

const body = { order_id: 'order-1' } as OrderBody
const order = { order_id: 'order-1', status: 'active' }
const taken = 'duplicate order: order_id already used'

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('rest client', () => {
  let server: PreparedServer
  let baseUrl: string
  let asked: PreparedServer['asked']

  beforeEach(async () => {
    server = await aPreparedServer()
    ;({ baseUrl, asked } = server)
  })
  afterEach(() => server.close())

  it('asks each endpoint in its own words', async () => {
    const venue = createRestClient(baseUrl)
    server.answers = Array.from({ length: 10 }, () => ({ status: 200, body: { order } }))
    await venue.markets()
    await venue.book('cNGN-USDC', { depth: 3 })
    await venue.trades('cNGN-USDC', { limit: 2, beforeTradeId: 9 })
    await venue.order('a/b c')
    await venue.health()
    await venue.venue()
    await venue.positions('7')
    expect(await venue.placeOrder(body)).to.deep.equal(order)
    await venue.validateOrder(body)
    expect(await venue.cancelOrder({ owner_address: '0x1', nonce: '2' })).to.deep.equal(order)
    expect(asked.map(({ line }) => line)).to.deep.equal([
      'GET /v1/markets',
      'GET /v1/book?symbol=cNGN-USDC&depth=3',
      'GET /v1/trades?symbol=cNGN-USDC&limit=2&before_trade_id=9',
      'GET /v1/orders/a%2Fb%20c',
      'GET /v1/health',
      'GET /v1/venue',
      'GET /v1/positions?subaccount_id=7',
      'POST /v1/orders',
      'POST /v1/orders/validate',
      'POST /v1/orders/cancel',
    ])
    expect(asked.at(-1)?.body).to.equal('{"owner_address":"0x1","nonce":"2"}')
  })

  it('asks in each read for at least what an answer has shown before (REA-049)', async () => {
    const venue = createRestClient(baseUrl)
    const saying = (seqs: string) => ({
      status: 200,
      body: { order },
      headers: { 'x-feed-seq': seqs },
    })
    const lines = () => asked.splice(0).map(({ line }) => line)
    server.answers = [saying('a=3'), saying('a=2, b=7'), saying('a=4, b=7'), saying('')]
    await venue.placeOrder(body)
    await venue.book('a')
    await venue.order('o')
    await venue.markets()
    const of = (...seqs: string[]) => `min_seq=${seqs.join('%2C+')}`
    expect(lines()).to.deep.equal([
      'POST /v1/orders',
      `GET /v1/book?symbol=a&${of('a%3D3')}`,
      `GET /v1/orders/o?${of('a%3D3', 'b%3D7')}`,
      `GET /v1/markets?${of('b%3D7', 'a%3D4')}`,
    ])
    // A venue that was restored from a backup may know less; the program is told once.
    const ahead = { status: 503, body: { error: 'x', code: 'min_seq_ahead' } }
    server.answers = [ahead, saying('a=1')]
    expect(await failure(venue.order('o'))).to.be.instanceOf(OutcomeUnknown)
    await venue.order('o')
    expect(lines()).to.deep.equal([`GET /v1/orders/o?${of('b%3D7', 'a%3D4')}`, 'GET /v1/orders/o'])
  })

  it('names the markets that were noted last, where there are many', () => {
    const seen = createSeenSeqs()
    for (let no = 0; no < 150; no += 1) seen.note(`m${no}`, 1)
    seen.note('m60', 2)
    const named = seen.minSeq()?.split(', ') ?? []
    expect([named.length, named[0], named.at(-1)]).to.deep.equal([100, 'm50=1', 'm60=2'])
  })

  it('asks for candles and tickers, and for one’s own pages with the frame', async () => {
    const venue = createRestClient(baseUrl)
    const owner = { address: '0x1', signature: '0x2', nonce: '3', issued_at: 4, expiry: 5 } as const
    server.answers = Array.from({ length: 7 }, () => ({ status: 200, body: { order } }))
    await venue.candles('cNGN-USDC', '5m', { limit: 7, start: '2026-01-01T00:00:00+01:00' })
    await venue.tickers()
    await venue.orderHistory(owner)
    await venue.orderHistory(owner, { limit: 2, before: 'abc' })
    await venue.fills(owner, { before: 'def' })
    await venue.closeOuts(owner, { limit: 3 })
    await venue.liquidations({ symbol: 'cNGN-PERP', subaccount_id: '7', limit: 4 })
    expect(asked.map(({ line }) => line)).to.deep.equal([
      'GET /v1/candles?symbol=cNGN-USDC&interval=5m&limit=7&start=2026-01-01T00%3A00%3A00%2B01%3A00',
      'GET /v1/integrations/tickers',
      'GET /v1/orders',
      'GET /v1/orders?limit=2&before=abc',
      'GET /v1/fills?before=def',
      'GET /v1/close-outs?limit=3',
      'GET /v1/liquidations?symbol=cNGN-PERP&subaccount_id=7&limit=4',
    ])
    const header = Buffer.from(JSON.stringify(owner)).toString('base64url')
    const none = undefined
    expect(asked.map(({ auth }) => auth)).to.deep.equal([
      none,
      none,
      ...[header, header, header, header],
      none,
    ])
  })

  it('reads every page of the open orders', async () => {
    const first = { order_id: 'a' }
    const second = { order_id: 'b' }
    server.answers = [
      { status: 200, body: { orders: [first], next_before: 'c' } },
      { status: 200, body: { orders: [second] } },
    ]
    const frame = { address: '0x1' } as unknown as SignedFrame
    const open = await createRestClient(baseUrl).openOrders(frame, { market: 'cNGN-USDC' })
    expect(open).to.deep.equal([first, second])
    expect(asked.map(({ line }) => line)).to.deep.equal([
      'GET /v1/orders?market=cNGN-USDC&status=open&limit=100',
      'GET /v1/orders?market=cNGN-USDC&status=open&limit=100&before=c',
    ])
    expect(asked.map(({ auth }) => auth !== undefined)).to.deep.equal([true, true])
  })

  it('gives what signing takes ready-made, and the venue’s clock', async () => {
    const verifyingContract = `0x${'0a'.repeat(20)}`
    server.answers = [
      {
        status: 200,
        body: {
          domains: { actions: { chainId: 31337, verifyingContract } },
          frames: { domain: 'localhost', product: 'service' },
        },
      },
      { status: 200, body: { now: 'now', unix_ms: 7 } },
    ]
    const venue = createRestClient(baseUrl)
    expect(await venue.domain()).to.deep.equal({
      chainId: 31337,
      matching: verifyingContract,
      frames: { domain: 'localhost', product: 'service' },
    })
    expect((await venue.time()).unix_ms).to.equal(7)
    expect(asked.map(({ line }) => line)).to.deep.equal(['GET /v1/venue', 'GET /v1/time'])
  })

  it('says of each error whether the same request may be sent again, and when', async () => {
    const retryAfter = { 'retry-after': '7' }
    const answers: readonly [PreparedAnswer, object][] = [
      [{ status: 400, body: { error: 'no', code: 'invalid_side' } }, { retry: 'never' }],
      [
        { status: 429, body: { error: 'no', code: 'busy' }, headers: retryAfter },
        { retry: 'same', code: 'busy', retryAfterSec: 7 },
      ],
      [
        { status: 500, body: { error: 'no', code: 'overloaded' }, headers: retryAfter },
        { retry: 'same', code: 'overloaded', retryAfterSec: 7 },
      ],
      ['drop', { retry: 'same', code: 'no_answer', retryAfterSec: undefined }],
    ]
    const venue = createRestClient(baseUrl)
    for (const [answer, said] of answers) {
      server.answers = [answer]
      const error = await failure(venue.markets())
      expect(error).to.be.instanceOf(VenueError)
      expect(error).to.include(said)
    }
  })

  it('never asks for a longer or an earlier time than a timer takes', async () => {
    const venue = createRestClient(baseUrl)
    const given: Readonly<Record<string, number | undefined>> = {
      '0': 0,
      '86400': 86_400,
      '86401': 86_400,
      ['9'.repeat(400)]: 86_400,
      '-1': undefined,
      '1e3': undefined,
      Infinity: undefined,
      'Wed, 21 Oct 2026 07:28:00 GMT': undefined,
    }
    for (const [text, retryAfterSec] of Object.entries(given)) {
      for (const status of [429, 500]) {
        server.answers = [{ status, body: { error: 'no' }, headers: { 'retry-after': text } }]
        expect(await failure(venue.markets()), text).to.include({ retryAfterSec })
      }
    }
  })

  it('throws what the venue refuses, with its status, code and text', async () => {
    const venue = createRestClient(baseUrl)
    server.answers = [
      { status: 404, body: { error: 'active order not found', code: 'not_active' } },
    ]
    const error = await failure(venue.cancelOrder({ owner_address: '0x1', nonce: '2' }))
    expect(error).to.be.instanceOf(VenueRefused)
    expect(error).to.include({ status: 404, code: 'not_active', message: 'active order not found' })
    server.answers = [
      { status: 400, body: { error: 'unknown_market', message: 'no such market: X' } },
    ]
    const unknown = await failure(venue.book('X'))
    expect(unknown).to.include({ code: 'unknown_market', message: 'no such market: X' })
  })

  it('sends the same order again while its outcome is unknown and returns the stored one (ORD-003)', async () => {
    const venue = createRestClient(baseUrl)
    const duplicate = { status: 409, body: { error: taken, order } }
    server.answers = ['drop', { status: 500, body: { error: 'x' } }, duplicate]
    expect(await venue.placeOrder(body)).to.deep.equal(order)
    expect(asked.map((request) => request.body)).to.deep.equal(Array(3).fill(JSON.stringify(body)))
  })

  it('says that the outcome is unknown when no resend brings an answer', async () => {
    const venue = createRestClient(baseUrl, { resends: 1 })
    server.answers = ['drop', 'drop', { status: 404, body: { error: 'order not found' } }]
    expect(await failure(venue.placeOrder(body))).to.be.instanceOf(OutcomeUnknown)
    expect(asked.map(({ line }) => line)).to.deep.equal([
      ...['POST /v1/orders', 'POST /v1/orders', 'GET /v1/orders/order-1'],
    ])
  })

  it('does not take an order for refused that was sent before and meets a limit of rate then', async () => {
    const venue = createRestClient(baseUrl, { resends: 1 })
    const busy = { status: 429, body: { error: 'rate_limited' } }
    const missing = { status: 404, body: { error: 'order not found' } }
    server.answers = ['drop', busy, missing]
    expect(await failure(venue.placeOrder(body))).to.be.instanceOf(OutcomeUnknown)
    server.answers = ['drop', busy, { status: 200, body: { ...order, order } }]
    expect(await venue.placeOrder(body)).to.deep.equal(order)
    server.answers = [busy]
    expect(await failure(venue.placeOrder(body))).to.be.instanceOf(VenueRefused)
  })

  it('looks the order up when no resend has brought an outcome', async () => {
    const venue = createRestClient(baseUrl, { resends: 0 })
    server.answers = ['drop', { status: 200, body: { ...order, order } }]
    expect(await venue.placeOrder(body)).to.deep.equal(order)
  })

  it('waits as long as the venue asks before it sends again', async () => {
    const venue = createRestClient(baseUrl)
    const headers = { 'retry-after': '1' }
    server.answers = [
      { status: 500, body: { error: 'x', code: 'outcome_unknown' }, headers },
      { status: 200, body: { order } },
    ]
    const begun = performance.now()
    expect(await venue.placeOrder(body)).to.deep.equal(order)
    expect(performance.now() - begun).to.be.greaterThan(990)
  })

  it('never takes a 409 without the order for an outcome', async () => {
    const venue = createRestClient(baseUrl, { resends: 1 })
    const signed = { order_id: 'order-1', signature: '0x01' } as OrderBody
    const bare = { status: 409, body: { error: taken, code: 'duplicate_order_id' } }
    const missing = { status: 404, body: { error: 'order not found', code: 'order_not_found' } }
    const stored = { ...order, signature: '0x01' }
    server.answers = [bare, { status: 200, body: { ...stored, order: stored } }]
    expect(await venue.placeOrder(signed)).to.deep.equal(stored)
    server.answers = [bare, missing, bare, missing]
    expect(await failure(venue.placeOrder(signed))).to.be.instanceOf(OutcomeUnknown)
    expect(server.answers).to.have.length(0)
    const foreign = { ...order, signature: '0x02' }
    server.answers = [bare, { status: 200, body: { ...foreign, order: foreign } }]
    expect(await failure(venue.placeOrder(signed))).to.be.instanceOf(VenueRefused)
  })

  it('shows both orders of a replacement that was carried out before', async () => {
    const venue = createRestClient(baseUrl)
    const stored = { ...order, replaces_order_id: 'order-0' }
    const replaced = { order_id: 'order-0', status: 'cancelled' }
    const code = 'duplicate_order_id'
    server.answers = [
      { status: 409, body: { error: taken, code, order: stored } },
      { status: 200, body: { ...replaced, order: replaced } },
    ]
    const asks = { ...body, replaces_nonce: '1' }
    expect(await venue.replaceOrder(asks)).to.deep.equal({ order: stored, replaced })
    server.answers = [
      { status: 409, body: { error: taken, code } },
      { status: 404, body: { error: 'order not found' } },
    ]
    expect(await failure(venue.replaceOrder(asks))).to.be.instanceOf(OutcomeUnknown)
  })

  it('does not take a foreign order with the same id for its own', async () => {
    const venue = createRestClient(baseUrl)
    const detail = { held_by: 'another_order' }
    server.answers = [{ status: 409, body: { error: taken, code: 'duplicate_order_id', detail } }]
    expect(await failure(venue.placeOrder(body))).to.be.instanceOf(VenueRefused)
    expect(asked).to.have.length(1)
  })
})
