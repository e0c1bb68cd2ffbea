import { expect } from 'chai'
import { aMarket } from '../support/builders.js'
import { place, settle } from '../support/market-acts.js'
import { feedOf } from '../support/market-feed.js'
import { aHistoryGateway, type HistoryGateway } from './stage/history-gateway.js'
import { TRADES } from './stage/traded-story.js'

const MARKET = aMarket()
/** The trades, and two orders that rest. */
const story = [...TRADES, place(true, 30, 1), place(false, 70, 1)]
const TRADED = '2026-01-01T'

describe('what listing sites poll', () => {
  let gateway: HistoryGateway
  let nowMs: number
  beforeEach(async () => {
    nowMs = Date.parse(`${TRADED}02:00:00Z`)
    gateway = await aHistoryGateway({ markets: [MARKET], nowMs: () => nowMs })
  })
  afterEach(() => gateway.close())

  describe('GET /v1/integrations/orderbook and historical_trades', () => {
    const read = async (path: string) => {
      const answer = await gateway.get(`/v1/integrations/${path}`)
      expect([path, answer.status]).to.deep.equal([path, 200])
      expect(answer.headers['cache-control']).to.equal('public, max-age=5')
      return answer.json
    }

    it('lists the levels of the spot market as its ticker prices them', async () => {
      gateway.project(feedOf(MARKET, [...story, place(false, 70, 2), place(false, 75, 1)]))
      const book = await read('orderbook?ticker_id=cNGN-USDC')
      expect(book).to.deep.equal({
        ticker_id: 'cNGN-USDC',
        timestamp: nowMs,
        // Three cNGN at 0.7 are one level of 2.1 USDC; the bid of 0.3 is the ask.
        bids: [
          ['1.4285714285', '2.1'],
          ['1.3333333333', '0.75'],
        ],
        asks: [['3.3333333334', '0.3']],
      })
      const top = await read('orderbook?ticker_id=cNGN-USDC&depth=2')
      expect(top.bids).to.deep.equal([['1.4285714285', '2.1']])
      expect((await read('orderbook?ticker_id=cNGN-USDC&depth=0')).bids).to.have.length(2)
    })

    it('shows another book once the last one is a second old', async () => {
      expect((await read('orderbook?ticker_id=cNGN-USDC')).asks).to.deep.equal([])
      gateway.project(feedOf(MARKET, story))
      nowMs += 1_000
      expect((await read('orderbook?ticker_id=cNGN-USDC')).asks).to.have.length(1)
    })

    it('lists trades by what the taker did with USDC, newest first', async () => {
      gateway.project(feedOf(MARKET, story))
      const { buy, sell } = (await read('historical_trades?ticker_id=cNGN-USDC')) as Record<
        string,
        { price: string }[]
      >
      expect(sell).to.deep.equal([])
      expect(buy?.map(({ price }) => price)).to.deep.equal(['2', '1', '1.25'])
      const [newest] = buy ?? []
      expect(newest).to.deep.include({
        base_volume: '2',
        target_volume: '4',
        type: 'buy',
        trade_timestamp: Date.parse(`${TRADED}01:30:30Z`),
      })
      const one = await read('historical_trades?ticker_id=cNGN-USDC&limit=1&type=buy')
      expect(one).to.deep.equal({ buy: [newest] })
      expect(await read('historical_trades?ticker_id=cNGN-USDC&type=sell&limit=0')).to.deep.equal({
        sell: [],
      })
    })

    it('filters trades by type and time before it counts them', async () => {
      const traded = [...story, place(true, 60, 1), settle(0), place(false, 20, 3), settle(0)]
      gateway.project(feedOf(MARKET, traded))
      const timesOf = async (query: string) => {
        const sides = await read(`historical_trades?ticker_id=cNGN-USDC${query}`)
        return Object.values(sides as Record<string, { trade_timestamp: number }[]>)
          .flat()
          .map(({ trade_timestamp }) => trade_timestamp)
      }
      const all = await timesOf('')
      const { buy = [], sell = [] } = (await read(
        'historical_trades?ticker_id=cNGN-USDC',
      )) as Record<string, { trade_timestamp: number }[]>
      expect(all.length).to.equal(buy.length + sell.length)
      for (const [type, side] of [
        ['buy', buy],
        ['sell', sell],
      ] as const) {
        const times = side.map(({ trade_timestamp }) => trade_timestamp)
        expect(await timesOf(`&type=${type}&limit=1`)).to.deep.equal(times.slice(0, 1))
      }
      const early = Date.parse(`${TRADED}00:00:30Z`)
      const within = all.filter((at) => at < early + 1)
      expect(within).to.have.length(2)
      expect(await timesOf(`&end_time=${early + 1}`)).to.have.members(within)
      expect(await timesOf(`&end_time=${early / 1_000 + 1}`)).to.have.members(within)
      expect(await timesOf(`&start_time=${early}&end_time=${early + 1}`)).to.deep.equal([early])
      expect(await timesOf(`&start_time=${early + 1}`)).to.have.length(all.length - 2)
    })

    it('is of one market with a ticker, by any of its names', async () => {
      for (const path of ['orderbook', 'historical_trades']) {
        const alias = await gateway.get(`/v1/integrations/${path}?ticker_id=USDCcNGN-SPOT`)
        expect(alias.status).to.equal(200)
        expect(alias.headers['x-canonical-market']).to.equal('cNGN-USDC')
      }
    })
  })
})
