import { expect } from 'chai'
import type { Devnet } from '../support/venue.js'
import {
  ALIAS,
  ALIAS_LIVES,
  createVisitor,
  e18,
  MARKET,
  traderOf,
  until,
  type Json,
  type BlackBoxTrader,
  type TradesJson,
  type Visitor,
} from './black-box/client.js'
import {
  DECIMAL,
  expectError,
  expectShape,
  isInteger,
  ISO,
  SPOT_ENTRY,
} from './black-box/shapes.js'
import { sharedVenue } from './stage/shared-venue.js'

const SECONDS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 }
const E28 = 10n ** 28n

interface Candle {
  readonly bucket_start: string
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
  readonly quote_volume: string
  readonly trade_count: number
}

interface CandlesJson extends Json {
  readonly market_presentation: Json
  readonly interval: string
  readonly candles: readonly Candle[]
}

const sum = (values: readonly bigint[]) => values.reduce((total, it) => total + it, 0n)

describe('a trader draws charts and lists prices', function () {
  let devnet: Devnet
  let visitor: Visitor
  let ann: BlackBoxTrader
  let bob: BlackBoxTrader
  before(async function () {
    ;({ devnet } = await sharedVenue())
    visitor = createVisitor(devnet)
    ;[ann, bob] = [traderOf(devnet, 2), traderOf(devnet, 3)]
    const makers = [
      await ann.place({ side: 'sell', price: '0.0036', amount: '11' }),
      await ann.place({ side: 'sell', price: '0.0037', amount: '13.000001' }),
    ]
    await bob.place({ side: 'buy', price: '0.0037', amount: '24.000001' })
    for (const { order_id } of makers) await ann.orderWith(order_id, 'filled')
  })

  const candles = async (query: string) =>
    (await visitor.get<CandlesJson>(`/v1/candles?symbol=${MARKET}&${query}`)).body
  async function allTrades() {
    const { body } = await visitor.get<TradesJson>(`/v1/trades?symbol=${MARKET}&limit=100`)
    const trades = [...body.trades]
    for (let next = body.next_before_trade_id; next !== undefined;) {
      const older = `/v1/trades?symbol=${MARKET}&limit=100&before_trade_id=${next}`
      const { body: page } = await visitor.get<TradesJson>(older)
      trades.push(...page.trades)
      next = page.next_before_trade_id
    }
    return trades.reverse()
  }

  describe('candles', () => {
    for (const [interval, seconds] of Object.entries(SECONDS))
      it(`of ${interval}, which are what the trades add up to`, async () => {
        const body = await candles(`interval=${interval}&limit=1000`)
        expect(body.interval).to.equal(interval)
        expectShape(body.market_presentation, SPOT_ENTRY)
        const trades = await allTrades()
        const startOf = (at: string) => {
          const ms = Date.parse(at)
          return new Date(ms - (ms % (seconds * 1000))).toISOString()
        }
        const starts = [...new Set(trades.map((it) => startOf(it.created_at)))]
        expect(body.candles.map((it) => it.bucket_start)).to.deep.equal(starts)
        for (const candle of body.candles) {
          expectShape(candle, { bucket_start: ISO, trade_count: isInteger, quote_volume: DECIMAL })
          const own = trades.filter((it) => startOf(it.created_at) === candle.bucket_start)
          const prices = own.map((it) => e18(it.price as string))
          const sizes = own.map((it) => e18(it.size as string))
          const open = own[0]?.price
          const close = own.at(-1)?.price
          expect(candle).to.include({ open, close, trade_count: own.length })
          expect(e18(candle.high)).to.equal(prices.reduce((a, b) => (a > b ? a : b)))
          expect(e18(candle.low)).to.equal(prices.reduce((a, b) => (a < b ? a : b)))
          expect(e18(candle.volume)).to.equal(sum(sizes))
        }
      })

    it('of an hour by default, each price raw and without spot_contract (REA-017)', async () => {
      const { body } = await visitor.get<CandlesJson>(`/v1/candles?symbol=${MARKET}`)
      expect(body.interval).to.equal('1h')
      expect(body.candles[0]).not.to.have.property('spot_contract')
      expect(body).to.deep.equal(await candles('interval=1h&limit=200'))
    })

    it('the newest that fit, from start on and before end (REA-018)', async () => {
      const all = (await candles('interval=1m&limit=1000')).candles
      expect((await candles('interval=1m&limit=1')).candles).to.deep.equal(all.slice(-1))
      const last = all.at(-1)?.bucket_start ?? ''
      const from = await candles(`interval=1m&start=${last}`)
      expect(from.candles).to.deep.equal(all.slice(-1))
      const before = await candles(`interval=1m&limit=1000&end=${last}`)
      expect(before.candles).to.deep.equal(all.slice(0, -1))
    })

    it('by timestamps with an offset, and none where nothing was traded (REA-019)', async () => {
      const early = encodeURIComponent('2020-01-01T02:00:00+01:00')
      const body = await candles(`interval=1d&start=${early}&end=2020-02-01T00:00:00Z`)
      expect(body.candles).to.deep.equal([])
    })

    for (const [query, error] of [
      ['interval=2m', 'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d'],
      ['interval=1H', 'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d'],
      ['interval=', 'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d'],
      ['limit=0', 'limit must be between 1 and 1000'],
      ['limit=1001', 'limit must be between 1 and 1000'],
      ['limit=ten', 'limit must be between 1 and 1000'],
      ['start=yesterday', 'start must be an RFC3339 timestamp'],
      ['start=1790000000', 'start must be an RFC3339 timestamp'],
      ['end=2026-01-01', 'end must be an RFC3339 timestamp'],
      ['end=2026-02-30T00:00:00Z', 'end must be an RFC3339 timestamp'],
      ['start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z', 'end must be after start'],
      ['start=2026-01-02T00:00:00Z&end=2026-01-02T00:00:00Z', 'end must be after start'],
    ] as const)
      it(`not with ${query}`, async () => {
        expectError(await visitor.get(`/v1/candles?symbol=${MARKET}&${query}`), 400, error)
      })

    it('not without a market, nor of one that is not there', async () => {
      const none = await visitor.get('/v1/candles?interval=1m')
      expectError(none, 400, 'unknown_market')
      expect(none.body.message).to.equal('symbol or asset_address is required')
      const unknown = await visitor.get('/v1/candles?symbol=NGN-EUR')
      expectError(unknown, 400, 'unknown_market')
      expect(unknown.body.message).to.equal('no such market: NGN-EUR')
      expect(unknown.body.markets).to.include(MARKET)
    })
  })

  describe('tickers', () => {
    const tickers = async (query = '') =>
      (await visitor.get<Json[]>(`/v1/integrations/tickers${query}`)).body
    const ticker = async () => (await tickers(`?ticker_id=${MARKET}`))[0] ?? {}
    /** 1 / price at ten decimals, as the digits of an integer at 1e10. */
    const inverse = (price: string, up: 0n | 1n) => (E28 + up * (e18(price) - 1n)) / e18(price)
    const e10 = (text: unknown) => e18(text as string) / 10n ** 8n

    it('one a spot market, every field text, kept by caches for five seconds', async () => {
      const { headers, body } = await visitor.get<Json[]>('/v1/integrations/tickers')
      expect(headers.get('cache-control')).to.equal('public, max-age=5')
      expect(body.map((it) => it.ticker_id)).to.deep.equal([MARKET])
      expect(body[0]).to.include({ base_currency: 'USDC', target_currency: 'cNGN' })
      for (const value of Object.values(body[0] ?? {})) expect(value).to.be.a('string')
    })

    it('USDC priced in cNGN: the bid never too high, the ask never too low (REA-022)', async () => {
      const ask = await ann.place({ side: 'sell', price: '0.0039', amount: '3' })
      const bid = await bob.place({ side: 'buy', price: '0.0007', amount: '3' })
      const { asks, bids } = await visitor.book()
      const [lowest, highest] = [asks[0]?.limit_price, bids[0]?.limit_price] as [string, string]
      const shown = await until(ticker, (it) => it.bid !== '' && it.ask !== '')
      await until(ticker, (it) => e10(it.bid) === inverse(lowest, 0n))
      expect(shown.ask).to.match(DECIMAL)
      const settled = await until(ticker, (it) => e10(it.ask) === inverse(highest, 1n))
      expect(e10(settled.bid)).to.equal(inverse(lowest, 0n))
      expect(e10(settled.bid) <= e10(settled.ask)).to.equal(true)
      await ann.cancel(ask)
      await bob.cancel(bid)
    })

    it('with the last price and the day’s extremes as the trades have them', async () => {
      const { stats_24h: stats } = await visitor.trades()
      const near = (text: unknown, price: unknown) => {
        const floor = inverse(price as string, 0n)
        expect([floor, floor + 1n]).to.include(e10(text))
      }
      const shown = await until(
        ticker,
        (it) => e18(it.target_volume as string) === e18(stats.volume as string),
      )
      near(shown.last_price, stats.last)
      near(shown.high, stats.low)
      near(shown.low, stats.high)
      const difference = e18(shown.base_volume as string) - e18(stats.quote_volume as string)
      expect(difference <= 10n ** 12n && difference >= -(10n ** 12n)).to.equal(true)
    })

    it('of one market, by its identifier or, while it lives, its deprecated one', async () => {
      const answer = await visitor.get<Json[]>(`/v1/integrations/tickers?ticker_id=${ALIAS}`)
      if (ALIAS_LIVES) {
        expect(answer.body.map((it) => it.ticker_id)).to.deep.equal([MARKET])
        expect(answer.headers.get('deprecation')).to.equal('true')
        expect(answer.headers.get('x-canonical-market')).to.equal(MARKET)
      } else expect(answer.status).to.equal(400)
    })

    it('not of a market that is none, and no cache keeps that (REA-021)', async () => {
      for (const id of ['NGN-EUR', 'cngn-usdc', 'USDC-cNGN-30NOV26']) {
        const answer = await visitor.get(`/v1/integrations/tickers?ticker_id=${id}`)
        expectError(answer, 400, 'unknown_market')
        expect(answer.body.message).to.equal(`no such market: ${id}`)
        expect(answer.headers.get('cache-control') ?? '').not.to.match(/public/)
      }
    })
  })

  describe('charts and listings of other programs', () => {
    const day = 86_400
    const nowSec = () => Math.floor(Date.now() / 1_000)

    it('have the candles, inverted to the rounding said, with the volume in USDC (REA-060)', async () => {
      const { candles: engine } = await candles('interval=1m&limit=1000')
      const range = `from=${nowSec() - day}&to=${nowSec() + day}`
      const { body } = await visitor.get(`/udf/history?symbol=${MARKET}&resolution=1&${range}`)
      expect(body.s).to.equal('ok')
      const of = (name: string) => body[name] as number[]
      expect(of('t')).to.deep.equal(engine.map((it) => Date.parse(it.bucket_start) / 1_000))
      /** 1 / price at ten decimals, half up. */
      const inverse = (price: string) => Number((2n * E28 + e18(price)) / (2n * e18(price))) / 1e10
      expect(of('o')).to.deep.equal(engine.map((it) => inverse(it.open)))
      expect(of('h')).to.deep.equal(engine.map((it) => inverse(it.low)))
      expect(of('l')).to.deep.equal(engine.map((it) => inverse(it.high)))
      expect(of('c')).to.deep.equal(engine.map((it) => inverse(it.close)))
      engine.forEach((it, at) =>
        expect(of('v')[at]).to.be.closeTo(Number(it.quote_volume), 0.000_000_6),
      )
    })

    it('read the clock, the symbols and a refusal as the datafeed says them', async () => {
      const config = (await visitor.get('/udf/config')).body
      expect(config).to.include({ supports_search: true, supports_time: true })
      const { body: symbol } = await visitor.get(`/udf/symbols?symbol=${MARKET}`)
      expect(symbol.supported_resolutions).to.deep.equal(config.supported_resolutions)
      const { body } = await visitor.get('/udf/history?symbol=NGN-EUR&resolution=1')
      expect(body).to.include({ s: 'error', errmsg: 'no such market: NGN-EUR' })
    })

    it('list the market as a pair, with the day’s prices of its ticker', async () => {
      const listed = async (name: string) =>
        (await visitor.get<Json[]>(`/v1/integrations/${name}`)).body
      expect(await listed('pairs')).to.deep.equal([
        { ticker_id: MARKET, base: 'USDC', target: 'cNGN' },
      ])
      const [ticker] = await listed('tickers')
      const [summary, ...others] = await listed('summary')
      expect(others).to.deep.equal([])
      const { last_price, base_volume, target_volume: quote_volume } = ticker ?? {}
      const trading_pairs = 'USDC_cNGN'
      expect(summary).to.include({ trading_pairs, last_price, base_volume, quote_volume })
    })

    it('list no contract where there is none', async () => {
      for (const name of ['contracts', 'contract_specs'])
        expect((await visitor.get(`/v1/integrations/${name}`)).body).to.deep.equal([])
    })
  })

  describe('under every name of the market', () => {
    const reads = ['/v1/book?', '/v1/trades?', '/v1/candles?interval=1m&']

    for (const path of reads)
      it(`${path}: the pair and the deprecated identifier say the same (REA-006)`, async () => {
        const canonical = await visitor.get(`${path}symbol=${MARKET}`)
        const pair = `asset_address=${devnet.wrapped_cngn.toUpperCase().replace('X', 'x')}&sub_id=0`
        expect((await visitor.get(`${path}${pair}`)).body).to.deep.equal(canonical.body)
        const alias = await visitor.get(`${path}symbol=${ALIAS}`)
        if (!ALIAS_LIVES) return expectError(alias, 400, 'unknown_market')
        expect(alias.body).to.deep.equal(canonical.body)
        expect(alias.headers.get('deprecation')).to.equal('true')
        expect(alias.headers.get('x-canonical-market')).to.equal(MARKET)
        expect(alias.headers.get('sunset')).to.equal('Wed, 06 Jan 2027 00:00:00 GMT')
        expect(canonical.headers.has('deprecation')).to.equal(false)
      })
  })
})
