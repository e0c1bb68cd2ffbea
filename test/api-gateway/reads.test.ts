import { expect } from 'chai'
import type { Market } from '../../core/model/market.js'
import { hidePerpetual } from '../../core/contracts/perpetual-facts.js'
import type { MarketObservation } from '../../core/model/observation.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import { aFill, aFuture, aMarket, anOrder, aPerp, progressOf } from '../support/builders.js'
import type { MarketEntry } from '../../interface/market.js'
import { type GatewayStage, aGatewayStage } from '../support/gateway-stage.js'
import { perpetualFacts } from '../support/perpetual.js'

describe('read routes of the gateway', () => {
  let gateway: GatewayStage

  beforeEach(async () => {
    gateway = await aGatewayStage({ markets: [aMarket(), aFuture({ enabled: false })] })
  })
  afterEach(() => gateway.close())

  const get = (path: string) => gateway.send('GET', path)
  const { assetAddress } = aMarket()

  it('lists enabled markets', async () => {
    const answer = await get('/v1/markets')
    expect(answer.status).to.equal(200)
    expect(
      (JSON.parse(answer.text) as { market: string }[]).map(({ market }) => market),
    ).to.deep.equal(['cNGN-USDC'])
  })

  it('shows of a perpetual what the chain shows, and nothing while the chain does not answer (PER-002)', async () => {
    let observed: MarketObservation | undefined
    const perp = aPerp()
    const chainMarkets = {
      readMarket: (market: Market) =>
        Promise.resolve(market.market === perp.market ? observed : undefined),
    }
    const other = await aGatewayStage({ markets: [aMarket(), perp], chainMarkets })
    const perpOf = async (path: string) => {
      const { json } = await other.send('GET', `/v1/${path}?symbol=${perp.market}`)
      return (json.market_presentation as MarketEntry).perp?.mark_price
    }
    const perps = async () => {
      const listed = JSON.parse((await other.send('GET', '/v1/markets')).text) as MarketEntry[]
      const presented = await Promise.all(['book', 'trades', 'candles'].map(perpOf))
      return [...listed.map((entry) => entry.perp?.mark_price), ...presented]
    }
    try {
      expect(await perps()).to.deep.equal(Array<undefined>(5).fill(undefined))
      observed = {
        facts: hidePerpetual(perpetualFacts({ mark: priceE18(650_000_000_000_000n) })),
        blockNumber: 1n,
        blockTimeSec: 1,
        readAtMs: 1_000,
      }
      expect(await perps()).to.deep.equal([
        '0.00065',
        undefined,
        ...Array<string>(3).fill('0.00065'),
      ])
    } finally {
      await other.close()
    }
  })

  it('waits for the chain no longer than its bound (PER-002)', async function () {
    const chainMarkets = { readMarket: () => new Promise<undefined>(() => undefined) }
    const other = await aGatewayStage({ markets: [aPerp()], chainMarkets })
    try {
      const { status, json } = await other.send('GET', '/v1/book?symbol=cNGN-PERP')
      expect(status).to.equal(200)
      expect(json.market_presentation).not.to.have.property('perp')
    } finally {
      await other.close()
    }
  })

  it('finds the market by symbol or by instrument', async () => {
    for (const query of ['symbol=cNGN-USDC', `asset_address=${assetAddress}&sub_id=0`]) {
      const book = await get(`/v1/book?${query}`)
      expect(book.status, query).to.equal(200)
      expect(book.json).to.include.keys('market_presentation', 'bids', 'asks')
      expect(book.headers).not.to.have.property('deprecation')
    }
  })

  it('says in headers that an identifier is deprecated (REA-005)', async () => {
    const answer = await get('/v1/book?symbol=USDCcNGN-SPOT')
    expect(answer.status).to.equal(200)
    expect(answer.headers).to.include({
      deprecation: 'true',
      'x-canonical-market': 'cNGN-USDC',
      sunset: 'Wed, 06 Jan 2027 00:00:00 GMT',
    })
  })

  it('answers an unknown or missing market with what there is (REA-003)', async () => {
    const cases: [string, string][] = [
      ['', 'symbol or asset_address is required'],
      ['?symbol=NOPE', 'no such market: NOPE'],
      ['?symbol=USDC-cNGN-30NOV26', 'no such market: USDC-cNGN-30NOV26'],
    ]
    for (const path of ['/v1/book', '/v1/trades']) {
      for (const [query, message] of cases) {
        const answer = await get(path + query)
        expect(answer.status).to.equal(400)
        expect(answer.json).to.deep.include({
          error: 'unknown_market',
          message,
          markets: ['cNGN-USDC'],
        })
      }
    }
  })

  it('trims the book to a depth when asked', async () => {
    gateway.readModel.open = [1, 2, 3].map((rank) => {
      const order = anOrder({ orderId: `order-${rank}`, nonce: BigInt(rank) })
      return { order, progress: progressOf(order), rank }
    })
    const bidsOf = async (query: string): Promise<unknown> => {
      const { json } = await get(`/v1/book?symbol=cNGN-USDC${query}`)
      return (json.bids as { order_id: string }[]).map(({ order_id }) => order_id)
    }
    expect(await bidsOf('')).to.deep.equal(['order-1', 'order-2', 'order-3'])
    expect(await bidsOf('&depth=2')).to.deep.equal(['order-1', 'order-2'])
    for (const depth of ['0', '-1', 'abc', '1.5', '', '1&depth=2']) {
      const answer = await get(`/v1/book?symbol=cNGN-USDC&depth=${depth}`)
      expect([depth, answer.status]).to.deep.equal([depth, 400])
    }
  })

  it('pages through trades (REA-013)', async () => {
    gateway.readModel.tradesNewestFirst = [30, 20, 10].map((tradeId) => ({
      fill: aFill({ tradeId }),
      seq: tradeId,
      atMs: 1_760_000_000_000,
    }))
    const idsOf = (json: Record<string, unknown>): unknown =>
      (json.trades as { trade_id: number }[]).map(({ trade_id }) => trade_id)
    const first = await get('/v1/trades?symbol=cNGN-USDC&limit=2')
    expect(idsOf(first.json)).to.deep.equal([30, 20])
    expect(first.json.next_before_trade_id).to.equal(20)
    expect(first.json.stats_24h).to.deep.equal({})
    const second = await get('/v1/trades?symbol=cNGN-USDC&limit=2&before_trade_id=20')
    expect(idsOf(second.json)).to.deep.equal([10])
    expect(second.json).not.to.have.property('next_before_trade_id')
  })

  it('shows the trailing day when something traded', async () => {
    const price = priceE18(650_000_000_000_000n)
    const volume = amountE18(10n ** 18n)
    gateway.readModel.stats = {
      first: price,
      last: price,
      high: price,
      low: price,
      volume,
      quoteVolume: quoteE18(650_000_000_000_000n),
    }
    const { json } = await get('/v1/trades?symbol=cNGN-USDC')
    expect(json.stats_24h).to.include({ last: '0.00065', change: '0', volume: '1' })
  })

  it('refuses limits and cursors that are none (REA-013)', async () => {
    for (const limit of ['0', '101', '-1', 'abc', '1.5', '', '5&limit=5']) {
      const answer = await get(`/v1/trades?symbol=cNGN-USDC&limit=${limit}`)
      expect([limit, answer.status]).to.deep.equal([limit, 400])
      expect(answer.json.error).to.equal('limit must be between 1 and 100')
    }
    for (const before of ['0', '-3', 'abc', '1180591620717411303424', '']) {
      const answer = await get(`/v1/trades?symbol=cNGN-USDC&before_trade_id=${before}`)
      expect([before, answer.status]).to.deep.equal([before, 400])
      expect(answer.json.error).to.equal('before_trade_id must be a positive integer')
    }
  })

  it('tells the time and that it is alive (REA-041)', async () => {
    expect((await get('/healthz')).json).to.deep.equal({ status: 'ok' })
    expect((await get('/v1/time')).json).to.deep.equal({
      now: '2026-11-21T10:00:00.000Z',
      unix_ms: 1_795_255_200_000,
    })
  })
})
