import { expect } from 'chai'
import type { Change } from '../../core/model/change.js'
import { applyChange, emptyView, openOrders } from '../../core/engine/feed.js'
import { bestLevels, checksumOf, levelBookOf } from '../../core/market-data/level-book.js'
import { levelsRecord } from '../../core/records/market-data.js'
import { openReadModel, type ReadModel } from '../../data/history/read-model.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { aGatewayStage } from '../support/gateway-stage.js'
import { openHistory, streamed } from '../support/history.js'
import { place, settle } from '../support/market-acts.js'
import type { MarketAct } from '../support/market-commands.js'
import { feedOf } from '../support/market-feed.js'
import { busyHistory } from '../support/random-history.js'
import { aBlock } from '../support/changes.js'
import { aHistoryGateway, type HistoryGateway } from './stage/history-gateway.js'

const MARKET = aMarket()

describe('what the public channels hold, over REST', () => {
  let gateway: HistoryGateway
  const nowMs = Date.parse('2026-01-01T02:00:30Z')
  beforeEach(async () => {
    const markets = [MARKET, aPerp(), aFuture()]
    gateway = await aHistoryGateway({ markets, nowMs: () => nowMs })
  })
  afterEach(() => gateway.close())

  const read = async (path: string) => {
    const { status, text } = await gateway.get(path)
    expect(status).to.equal(200)
    return JSON.parse(text) as unknown
  }

  it('has the levels of the channel, with its number and checksum, at each depth', async () => {
    const changes: Change[] = busyHistory(200)
    gateway.project([aBlock(MARKET.market, changes)])
    const view = emptyView(MARKET)
    for (const change of changes) applyChange(view, change)
    const book = levelBookOf(openOrders(view))
    for (const depth of [10, 25, 100]) {
      const levels = bestLevels(book, depth)
      expect(levels.bids.length + levels.asks.length).to.be.greaterThan(1)
      expect(await read(`/v1/levels?symbol=${MARKET.market}&depth=${depth}`)).to.deep.equal({
        market: MARKET.market,
        seq: view.seq,
        ts: '2026-01-01T02:00:30.000Z',
        ...levelsRecord(MARKET, levels, checksumOf(levels)),
      })
    }
  })

  it('has in a ticker no trade that its number does not include', async () => {
    const trade: MarketAct[] = [place(true, 80, 2), place(false, 80, 2), settle(0)]
    const dearer: MarketAct[] = [place(true, 90, 2), place(false, 90, 2), settle(1)]
    const history = openHistory([MARKET])
    const blocks = feedOf(MARKET, [...trade, ...dearer])
    const first = blocks.slice(0, feedOf(MARKET, trade).length)
    history.projection.applyBatch(streamed(first))
    const reads = openReadModel(history.path)
    const readModel: ReadModel = {
      ...reads,
      levelsNow(market, depth) {
        const levels = reads.levelsNow(market, depth)
        history.projection.applyBatch(streamed(blocks).slice(first.length))
        return levels
      },
    }
    const other = await aGatewayStage({ readModel, nowMs: () => nowMs })
    try {
      const { text } = await other.send('GET', '/v1/tickers')
      const [ticker] = JSON.parse(text) as Record<string, unknown>[]
      const { seq } = first.at(-1)?.changes.at(-1) ?? {}
      expect(ticker).to.deep.include({ seq, last_price: '0.8' })
      expect(ticker?.stats_24h).to.include({ last: '0.8', volume: '2' })
    } finally {
      await other.close()
      reads.close()
      history.remove()
    }
  })

  it('has a ticker of each market, whatever it trades', async () => {
    const story: MarketAct[] = [
      ...[place(true, 80, 2), place(false, 80, 2)],
      settle(0),
      ...[place(true, 30, 1), place(false, 70, 1)],
    ]
    const blocks = feedOf(MARKET, story)
    gateway.project(blocks)
    const tickers = (await read('/v1/tickers')) as Record<string, unknown>[]
    expect(tickers.map(({ market }) => market)).to.deep.equal(
      [MARKET.market, aPerp().market, aFuture().market].sort(),
    )
    const spot = tickers.find(({ market }) => market === MARKET.market)
    expect(spot).to.deep.include({
      seq: blocks.at(-1)?.changes.at(-1)?.seq,
      best_bid: { price: '0.3', size: '1', ui_price: '3.3333333333', ui_size: '0.3' },
      best_ask: { price: '0.7', size: '1', ui_price: '1.4285714286', ui_size: '0.7' },
      last_price: '0.8',
      stats_24h: {
        change: '0',
        high: '0.8',
        low: '0.8',
        last: '0.8',
        volume: '2',
        quote_volume: '1.6',
      },
    })
  })
})
