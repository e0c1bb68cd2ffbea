import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Devnet } from '../support/venue.js'
import {
  ALIAS,
  ALIAS_LIVES,
  createVisitor,
  MARKET,
  traderOf,
  type BookJson,
  type Json,
  type BlackBoxTrader,
  type TradesJson,
  type Visitor,
} from './black-box/client.js'
import {
  COPIED_FROM_MARKET,
  expectError,
  expectShape,
  ORDER,
  SPOT_ENTRY,
  TRADE,
} from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

const UNUSED = `0x${'ab'.repeat(20)}`

describe('a trader reads', function () {
  let devnet: Devnet
  let dataDir: string
  let visitor: Visitor
  let ann: BlackBoxTrader
  let bob: BlackBoxTrader
  before(async function () {
    ;({ devnet, dataDir } = await sharedVenue())
    visitor = createVisitor(devnet)
    ann = traderOf(devnet, 2)
    bob = traderOf(devnet, 3)
  })

  const pair = (subId = '0', asset: string = devnet.wrapped_cngn) =>
    `asset_address=${asset}&sub_id=${subId}`

  it('the devnet file’s own addresses in the market entry', async () => {
    const { body, status, headers } = await visitor.get<Json[]>('/v1/markets')
    expect(status).to.equal(200)
    expect(headers.get('content-type')).to.match(/^application\/json/)
    expect(headers.get('x-request-id')).to.match(/^.+$/)
    expect(body.map(({ market }) => market)).to.include(MARKET)
    const entry = body.find(({ market }) => market === MARKET)
    expectShape(entry, SPOT_ENTRY)
    expectShape(entry, {
      asset_address: devnet.wrapped_cngn,
      trade_module_address: devnet.spot_trade_module,
      margin_manager_address: devnet.spot_manager,
    })
  })

  it('markets sorted by identifier, canonical identifiers only, nothing of other kinds on spot (REA-007)', async () => {
    const { body } = await visitor.get<Json[]>('/v1/markets')
    const names = body.map(({ market }) => market as string)
    expect(names).to.deep.equal([...names].sort())
    expect(names).not.to.include(ALIAS)
    const entry = body.find(({ market }) => market === MARKET) ?? {}
    expect(entry.settlement_type).to.equal('spot')
    expect(entry.aliases).to.deep.equal([ALIAS])
    for (const field of ['expiry_timestamp', 'perp', 'future'])
      expect(entry, field).not.to.have.property(field)
  })

  it('the time of the last trade on the market entry', async () => {
    const maker = await ann.place({ side: 'sell', price: '0.0021', amount: '3' })
    const taker = await bob.place({ side: 'buy', price: '0.0021', amount: '3' })
    await visitor.orderWith(taker.order_id, 'filled')
    await visitor.orderWith(maker.order_id, 'filled')
    const { trades, market_presentation } = await visitor.trades()
    const second = Math.floor(Date.parse(trades[0]?.created_at ?? '') / 1000)
    expect(market_presentation.last_trade_timestamp).to.equal(second)
  })

  describe('the book', () => {
    it('with the market entry and two arrays of order records', async () => {
      const order = await ann.place({ side: 'sell', price: '0.0022', amount: '7' })
      const book = await visitor.book()
      expectShape(book.market_presentation, SPOT_ENTRY)
      const shown = book.asks.find((it) => it.order_id === order.order_id)
      expectShape(shown, ORDER)
      for (const field of COPIED_FROM_MARKET)
        expect(shown?.[field], field).to.equal(book.market_presentation[field])
      await ann.cancel(order)
    })

    it('bids from high to low, asks from low to high, then by time (REA-011)', async () => {
      const place = (side: 'buy' | 'sell', price: string) => ann.place({ side, price, amount: '1' })
      const placed = [
        await place('sell', '0.0083'),
        await place('sell', '0.0082'),
        await place('sell', '0.0082'),
        await place('buy', '0.0023'),
        await place('buy', '0.0024'),
        await place('buy', '0.0024'),
      ]
      const mine = ({ order_id }: { order_id: string }) =>
        placed.findIndex((it) => it.order_id === order_id)
      const { bids, asks } = await visitor.book()
      expect(asks.map(mine).filter((it) => it >= 0)).to.deep.equal([1, 2, 0])
      expect(bids.map(mine).filter((it) => it >= 0)).to.deep.equal([4, 5, 3])
      const { body } = await visitor.get<BookJson>(`/v1/book?symbol=${MARKET}&depth=1`)
      expect([...body.asks, ...body.bids].map(mine)).to.deep.equal([1, 4])
      for (const order of placed) await ann.cancel(order)
    })

    it('by asset_address and sub_id as by symbol, the address in any case (REA-001)', async () => {
      const asset = `0x${devnet.wrapped_cngn.slice(2).toUpperCase()}`
      const { body } = await visitor.get(`/v1/book?${pair('0', asset)}`)
      expect(body).to.deep.equal(await visitor.book())
    })

    it('not of a market that is not there, by either name', async () => {
      for (const [query, identifier] of [
        ['symbol=NGN-EUR', 'NGN-EUR'],
        ['symbol=cngn-usdc', 'cngn-usdc'],
        [pair('1'), `${devnet.wrapped_cngn}:1`],
        [pair('0', UNUSED), `${UNUSED}:0`],
      ] as const) {
        const answer = await visitor.get(`/v1/book?${query}`)
        expectError(answer, 400, 'unknown_market')
        expect(answer.body.message).to.equal(`no such market: ${identifier}`)
        expect(answer.body.markets).to.include(MARKET)
      }
    })

    it('not without a name, and not of a symbol and an asset that disagree (REA-003)', async () => {
      for (const path of ['/v1/book', '/v1/trades', '/v1/book?symbol=', '/v1/book?sub_id=0']) {
        const answer = await visitor.get(path)
        expectError(answer, 400, 'unknown_market')
        expect(answer.body.message, path).to.equal('symbol or asset_address is required')
      }
      expectError(
        await visitor.get(`/v1/book?symbol=${MARKET}&${pair('0', UNUSED)}`),
        400,
        'unknown_market',
      )
    })
  })

  describe('the trades', () => {
    it('with 24-hour stats, each trade field by field', async () => {
      const { body } = await visitor.get<TradesJson>(`/v1/trades?symbol=${MARKET}`)
      expectShape(body.market_presentation, SPOT_ENTRY)
      expect(body.trades).not.to.be.empty
      for (const trade of body.trades) expectShape(trade, TRADE)
      expect(body.stats_24h.last).to.equal(body.trades[0]?.price)
      const decimal = /^-?[0-9]+(\.[0-9]+)?$/
      for (const field of ['change', 'high', 'low', 'last', 'volume', 'quote_volume'])
        expect(body.stats_24h[field], field).to.match(decimal)
    })

    it('page by page, newest first', async () => {
      const all = (await visitor.get<TradesJson>(`/v1/trades?symbol=${MARKET}&limit=100`)).body
      const ids = all.trades.map(({ trade_id }) => trade_id)
      expect(ids).to.deep.equal([...ids].sort((a, b) => b - a))
      const first = (await visitor.get<TradesJson>(`/v1/trades?symbol=${MARKET}&limit=1`)).body
      expect(first.trades.map(({ trade_id }) => trade_id)).to.deep.equal(ids.slice(0, 1))
      expect(first.next_before_trade_id).to.equal(ids[0])
      const rest = `/v1/trades?symbol=${MARKET}&limit=100&before_trade_id=${ids[0]}`
      const next = (await visitor.get<TradesJson>(rest)).body
      expect(next.trades.map(({ trade_id }) => trade_id)).to.deep.equal(ids.slice(1))
    })

    it('not with a limit or a cursor that is none', async () => {
      for (const limit of ['0', '101', '-1', 'x', '1.5', ''])
        expectError(
          await visitor.get(`/v1/trades?symbol=${MARKET}&limit=${limit}`),
          400,
          'limit must be between 1 and 100',
        )
      for (const id of ['0', '-1', 'x', '1.5'])
        expectError(
          await visitor.get(`/v1/trades?symbol=${MARKET}&before_trade_id=${id}`),
          400,
          'before_trade_id must be a positive integer',
        )
    })
  })

  it('by the deprecated identifier, until it is removed, and is told so (REA-005)', async () => {
    for (const path of ['/v1/book?symbol=', '/v1/trades?symbol=']) {
      const answer = await visitor.get(`${path}${ALIAS}`)
      if (!ALIAS_LIVES) {
        expectError(answer, 400, 'unknown_market')
        continue
      }
      const canonical = await visitor.get(`${path}${MARKET}`)
      expect(answer.body).to.deep.equal(canonical.body)
      expect(answer.headers.get('deprecation')).to.equal('true')
      expect(answer.headers.get('x-canonical-market')).to.equal(MARKET)
      expect(canonical.headers.has('deprecation')).to.equal(false)
      expect(canonical.headers.has('x-canonical-market')).to.equal(false)
    }
  })

  it('its own request id back, and 404 and 405 as JSON (ORD-034)', async () => {
    const mine = { headers: { 'x-request-id': 'trader-7' } }
    const response = await fetch(new URL('/v1/markets', devnet.gateway_url), mine)
    await response.arrayBuffer()
    expect(response.headers.get('x-request-id')).to.equal('trader-7')
    expectError(await visitor.get('/v1/nowhere'), 404, /./)
    expectError(await visitor.post('/v1/markets', {}), 405, /./)
    expectError(await visitor.get('/v1/orders/trader-never-placed'), 404, 'order not found')
    expectError(await visitor.get('/v1/orders/%00'), 404, 'order not found')
    expectError(await visitor.get('/v1/orders/%E0%A4%A'), 404, 'order not found')
  })

  it('the executor’s refusals of payloads that are none', async () => {
    const secret = readFileSync(join(dataDir, 'executor.secret'), 'utf8').trim()
    const execute = async (body: unknown) => {
      const response = await fetch(new URL('/execute', devnet.executor_url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as Json }
    }
    const { action_json: action, signature } = await ann.sign({
      side: 'buy',
      price: '0.002',
      amount: '1',
    })
    const payload = {
      market: MARKET,
      asset_address: devnet.wrapped_cngn,
      module_address: devnet.spot_trade_module,
      maker_order_id: 'a',
      taker_order_id: 'b',
      actions: [action, action],
      signatures: [signature, signature],
      order_data: {
        taker_account: ann.subaccountId,
        taker_fee: '0',
        fill_details: [
          { filled_account: ann.subaccountId, amount_filled: '1', price: '1', fee: '0' },
        ],
        manager_data: '0x',
      },
    }
    for (const broken of [
      {},
      [],
      { ...payload, signatures: [signature] },
      { ...payload, order_data: { ...payload.order_data, taker_account: '999' } },
      { ...payload, module_address: devnet.deposit_module },
    ]) {
      const answer = await execute(broken)
      expect(answer.body.error).to.be.a('string')
      expect(answer.status).to.equal(400)
    }
  })
})
