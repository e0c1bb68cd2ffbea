import { expect } from 'chai'
import { encodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import { createMemoryBus } from '../../runtime/bus/memory-bus.js'
import { answerPing } from '../../runtime/process/process.js'
import { VERSION } from '../../runtime/process/version.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { place } from '../support/market-acts.js'
import { feedOf } from '../support/market-feed.js'
import { aHistoryGateway, NOW_MS, type HistoryGateway } from './stage/history-gateway.js'
import { TRADES } from './stage/traded-story.js'

const MARKET = aMarket()
/** The trades, and two orders that rest. */
const story = [...TRADES, place(true, 30, 1), place(false, 70, 1)]
const TRADED = '2026-01-01T'

describe('candles, tickers and health', () => {
  let gateway: HistoryGateway
  let nowMs = NOW_MS
  beforeEach(async () => {
    nowMs = Date.parse(`${TRADED}02:00:00Z`)
    const markets = [MARKET, aPerp(), aFuture({ enabled: false })]
    gateway = await aHistoryGateway({ markets, nowMs: () => nowMs })
  })
  afterEach(() => gateway.close())

  describe('GET /v1/candles', () => {
    const candles = async (query: string) => {
      const { status, json } = await gateway.get(`/v1/candles?symbol=cNGN-USDC${query}`)
      expect(status).to.equal(200)
      return json as { interval: string; candles: Record<string, unknown>[] }
    }

    it('sums trades by the hour by default, in engine values, oldest first (REA-020)', async () => {
      gateway.project(feedOf(MARKET, story))
      const { interval, candles: hours } = await candles('')
      expect(interval).to.equal('1h')
      expect(hours).to.deep.equal([
        {
          bucket_start: `${TRADED}00:00:00.000Z`,
          open: '0.8',
          high: '1',
          low: '0.8',
          close: '1',
          volume: '3',
          quote_volume: '2.6',
          trade_count: 2,
        },
        {
          bucket_start: `${TRADED}01:00:00.000Z`,
          open: '0.5',
          high: '0.5',
          low: '0.5',
          close: '0.5',
          volume: '4',
          quote_volume: '2',
          trade_count: 1,
        },
      ])
    })

    it('has each interval aligned to its width (REA-017)', async () => {
      gateway.project(feedOf(MARKET, story))
      const starts: Record<string, string[]> = {
        '1m': ['00:00', '01:30'],
        '5m': ['00:00', '01:30'],
        '15m': ['00:00', '01:30'],
        '1h': ['00:00', '01:00'],
        '4h': ['00:00'],
        '1d': ['00:00'],
      }
      for (const [interval, expected] of Object.entries(starts)) {
        const { candles: found } = await candles(`&interval=${interval}`)
        expect(found.map(({ bucket_start }) => bucket_start)).to.deep.equal(
          expected.map((time) => `${TRADED}${time}:00.000Z`),
        )
      }
    })

    it('gives the newest that begin in [start, end) (REA-018)', async () => {
      gateway.project(feedOf(MARKET, story))
      const starts = async (query: string): Promise<unknown[]> =>
        (await candles(`&interval=1m${query}`)).candles.map(({ bucket_start }) => bucket_start)
      const first = `${TRADED}00:00:00.000Z`
      const second = `${TRADED}01:30:00.000Z`
      const cases: [string, string[]][] = [
        ['&limit=1', [second]],
        [`&start=${TRADED}00:00:00Z`, [first, second]],
        [`&start=${TRADED}00:00:00.0001Z`, [second]],
        [`&end=${TRADED}01:30:00Z`, [first]],
        [`&end=${TRADED}01:30:00.0001Z`, [first, second]],
        [`&start=${TRADED}00:00:00Z&end=${TRADED}01:30:00Z`, [first]],
        [`&start=${TRADED}01:00:00%2B01:00&end=${TRADED}01:00:00%2B00:59`, [first]],
        [`&start=${TRADED}01:30:01Z`, []],
      ]
      for (const [query, expected] of cases) {
        expect(await starts(query), query).to.deep.equal(expected)
      }
    })

    const refused: [string, string[], string][] = [
      [
        'interval',
        ['2m', '1M', '', '1h&interval=1h', 'toString', '60'],
        'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d',
      ],
      [
        'limit',
        ['0', '1001', '-1', 'abc', '1.5', '', '5&limit=5'],
        'limit must be between 1 and 1000',
      ],
      [
        'start',
        ['yesterday', '2026-13-01T00:00:00Z', '1767225600', '', '2026-01-01T00:00:00+00:00'],
        'start must be an RFC3339 timestamp',
      ],
      [
        'end',
        ['yesterday', '2026-13-01T00:00:00Z', '1767225600', ''],
        'end must be an RFC3339 timestamp',
      ],
      [
        'start=2026-01-02T00:00:00Z&end',
        ['2026-01-02T00:00:00Z', '2026-01-01T23:59:59Z', '2026-01-02T01:00:00%2B01:00'],
        'end must be after start',
      ],
    ]
    for (const [name, values, error] of refused) {
      it(`400 ${error}`, async () => {
        for (const value of values) {
          const answer = await gateway.get(`/v1/candles?symbol=cNGN-USDC&${name}=${value}`)
          expect([value, answer.status]).to.deep.equal([value, 400])
          expect(answer.json.error).to.equal(error)
        }
      })
    }

    it('names its market as the book does', async () => {
      const cases: [string, number][] = [
        ['', 400],
        ['symbol=NOPE', 400],
        ['symbol=usdccngn-spot', 400],
        ['symbol=USDCcNGN-SPOT', 200],
        [`asset_address=${MARKET.assetAddress}&sub_id=0`, 200],
      ]
      for (const [query, status] of cases) {
        const answer = await gateway.get(`/v1/candles?${query}`)
        expect([query, answer.status]).to.deep.equal([query, status])
        if (status === 400) expect(answer.json.error).to.equal('unknown_market')
      }
      const { headers } = await gateway.get('/v1/candles?symbol=USDCcNGN-SPOT')
      expect(headers).to.include({ deprecation: 'true', 'x-canonical-market': 'cNGN-USDC' })
    })
  })

  describe('GET /v1/integrations/tickers', () => {
    const tickers = async (query = ''): Promise<Record<string, string>[]> => {
      const answer = await gateway.get(`/v1/integrations/tickers${query}`)
      expect(answer.status).to.equal(200)
      expect(answer.headers['cache-control']).to.equal('public, max-age=5')
      return JSON.parse(answer.text) as Record<string, string>[]
    }

    it('shows the spot market inverted, and no derivative (REA-021)', async () => {
      gateway.project(feedOf(MARKET, story))
      expect(await tickers()).to.deep.equal([
        {
          ticker_id: 'cNGN-USDC',
          base_currency: 'USDC',
          target_currency: 'cNGN',
          last_price: '2',
          base_volume: '4.6',
          target_volume: '7',
          bid: '1.4285714285',
          ask: '3.3333333334',
          high: '2',
          low: '1',
        },
      ])
    })

    it('keeps the last price at any age, while the day passes', async () => {
      gateway.project(feedOf(MARKET, story))
      nowMs += 3 * 86_400_000
      const [ticker] = await tickers()
      expect(ticker).to.include({ last_price: '2', base_volume: '0', target_volume: '0' })
      expect(ticker).to.include({ high: '', low: '' })
    })

    it('is at most five seconds old (REA-024)', async () => {
      expect((await tickers())[0]?.last_price).to.equal('')
      gateway.project(feedOf(MARKET, story))
      nowMs += 5_000
      expect((await tickers())[0]?.last_price).to.equal('2')
      gateway.history.db.exec('DELETE FROM candles')
      expect((await tickers())[0]?.base_volume).to.equal('4.6')
    })

    it('answers for one market, by any of its names', async () => {
      for (const query of ['?ticker_id=cNGN-USDC', '?ticker_id=USDCcNGN-SPOT']) {
        expect((await tickers(query)).map(({ ticker_id }) => ticker_id)).to.deep.equal([
          'cNGN-USDC',
        ])
      }
      const alias = await gateway.get('/v1/integrations/tickers?ticker_id=USDCcNGN-SPOT')
      expect(alias.headers).to.include({ deprecation: 'true', 'x-canonical-market': 'cNGN-USDC' })
    })
  })

  describe('GET /v1/health', () => {
    it('says how far reads are behind what was published (REA-043)', async () => {
      const bus = createMemoryBus()
      await bus.declareStream({
        stream: feedStream(MARKET.market),
        subject: feedSubject(MARKET.market),
        description: 'a feed',
      })
      const blocks = feedOf(MARKET, story)
      for (const block of blocks) await bus.append(feedSubject(MARKET.market), encodeBlock(block))
      const behind = await aHistoryGateway({ bus })
      try {
        behind.project(blocks.slice(0, -1))
        const head = blocks.flatMap(({ changes }) => changes).length
        const { json, status } = await behind.get('/v1/health')
        expect(status).to.equal(200)
        expect(json).to.deep.equal({
          status: 'ok',
          now: '2026-11-21T10:00:00.000Z',
          version: VERSION,
          markets: {
            'cNGN-USDC': {
              trading_status: 'open',
              head_seq: head,
              projected_seq: head - 1,
              lag: 1,
            },
          },
          deposits: { status: 'unavailable' },
          withdrawals: { status: 'unavailable' },
          chain: { status: 'degraded', detail: 'the chain reader does not answer' },
        })
      } finally {
        await behind.close()
      }
    })

    it('is well before anything was published, and lists enabled markets alone', async () => {
      const { json } = await gateway.get('/v1/health')
      const nothing = { trading_status: 'open', head_seq: 0, projected_seq: 0, lag: 0 }
      expect(json).to.deep.include({
        status: 'ok',
        markets: { 'cNGN-PERP': nothing, 'cNGN-USDC': nothing },
      })
    })

    it('says how far the chain was taken in, and what is wrong with that', async () => {
      const bus = createMemoryBus()
      let ready = true
      await answerPing(bus, 'chain-reader', () => ({
        ready,
        detail: ready ? 'following accounts' : 'no answer from the chain for 12 s',
        positions: { accounts: 3, block_number: 77, block_time_sec: 1_790_000_000 },
      }))
      const block = { block_number: 77, block_time: '2026-09-21T14:13:20.000Z' }
      for (const [status, detail] of [
        ['ok', 'following accounts'],
        ['degraded', 'no answer from the chain for 12 s'],
      ] as const) {
        ready = status === 'ok'
        const asked = await aHistoryGateway({ bus })
        const { json } = await asked.get('/v1/health')
        await asked.close()
        expect(json).to.deep.include({ chain: { status, detail, ...block } })
      }
    })

    it('says how many matches wait for the chain, and is degraded while one has waited too long (REA-043, SET-014)', async () => {
      for (const [late, status] of [
        [0, 'ok'],
        [2, 'degraded'],
      ] as const) {
        const bus = createMemoryBus()
        await bus.declareStream({
          stream: feedStream(MARKET.market),
          subject: feedSubject(MARKET.market),
          description: 'a feed',
        })
        const settlements = {
          pending_settlements: 3,
          oldest_pending_settlement_s: 61,
          late_settlements: late,
        }
        await answerPing(bus, `matcher-${MARKET.market}`, () => ({
          ready: true,
          detail: 'live',
          positions: { command_seq: 1, feed_seq: 0, ...settlements },
        }))
        const asked = await aHistoryGateway({ bus })
        const { json } = await asked.get('/v1/health')
        await asked.close()
        const reads = { trading_status: 'open', head_seq: 0, projected_seq: 0, lag: 0 }
        expect(json).to.deep.include({
          status,
          markets: { [MARKET.market]: { ...reads, ...settlements } },
        })
      }
    })

    it('says so when the bus does not answer (REA-043)', async () => {
      const alone = await aHistoryGateway({
        bus: { ...createMemoryBus(), isConnected: () => false },
      })
      try {
        expect((await alone.get('/v1/health')).json).to.deep.include({
          status: 'degraded',
          markets: { 'cNGN-USDC': { trading_status: 'open', projected_seq: 0 } },
        })
      } finally {
        await alone.close()
      }
    })
  })
})
