import { expect } from 'chai'
import { encodeBalancesAnswer, decodeBalancesQuestion } from '../../bus-schemas/account-facts.js'
import { askBalances } from '../../bus-schemas/subjects.js'
import { readFeedSeqs } from '../../core/feed-seqs.js'
import type { Block } from '../../core/model/change.js'
import { aMarket, anOrder, aPerp, progressOf } from '../support/builders.js'
import { gatewayDocument } from '../support/documented.js'
import type { MarketAct } from '../support/market-commands.js'
import { feedOf } from '../support/market-feed.js'
import {
  aHistoryGateway,
  authHeader,
  NOW_MS,
  type HistoryGateway,
} from './stage/history-gateway.js'

const SPOT = aMarket()
const PERP = aPerp()
const seqOf = (blocks: readonly Block[]): number => blocks.at(-1)?.changes.at(-1)?.seq ?? 0

const place = (price: number): MarketAct => ({
  act: 'place',
  buy: true,
  price,
  size: 1,
  trader: 1,
  unchecked: false,
  livesSec: 3_600,
})

/** A request of each read that says in `X-Feed-Seq` what it shows. */
const READS: Readonly<Record<string, string>> = {
  '/v1/orders': '/v1/orders',
  '/v1/orders/{order_id}': `/v1/orders/${encodeURIComponent(`${SPOT.market}/o1`)}`,
  '/v1/orders/{order_id}/explain': `/v1/orders/${encodeURIComponent(`${SPOT.market}/o1`)}/explain`,
  '/v1/fills': '/v1/fills',
  '/v1/balances': '/v1/balances',
  '/v1/positions': '/v1/positions?subaccount_id=1',
  '/v1/markets': '/v1/markets',
  '/v1/book': `/v1/book?symbol=${SPOT.market}`,
  '/v1/levels': `/v1/levels?symbol=${SPOT.market}`,
  '/v1/trades': `/v1/trades?symbol=${SPOT.market}`,
  '/v1/candles': `/v1/candles?symbol=${SPOT.market}`,
  '/v1/marks': `/v1/marks?symbol=${PERP.market}`,
  '/v1/funding': `/v1/funding?symbol=${PERP.market}`,
  '/v1/tickers': '/v1/tickers',
  '/v1/integrations/tickers': '/v1/integrations/tickers',
  '/v1/integrations/orderbook': `/v1/integrations/orderbook?ticker_id=${SPOT.market}`,
  '/v1/integrations/historical_trades': `/v1/integrations/historical_trades?ticker_id=${SPOT.market}`,
  '/v1/integrations/contracts': '/v1/integrations/contracts',
  '/v1/integrations/summary': '/v1/integrations/summary',
  '/v1/integrations/ticker': '/v1/integrations/ticker',
  '/v1/integrations/orderbook/{market_pair}': `/v1/integrations/orderbook/${SPOT.market}`,
  '/v1/integrations/trades/{market_pair}': `/v1/integrations/trades/${SPOT.market}`,
  '/udf/history': `/udf/history?symbol=${SPOT.market}&resolution=1`,
}

const asking = (path: string, minSeq: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}min_seq=${encodeURIComponent(minSeq)}`

/** Of the past of each market only: `/v1/marks` of the perpetual, and contracts, are not about the spot market. */
const isOf = (path: string): string =>
  path.includes(PERP.market) || path.includes('contracts') ? PERP.market : SPOT.market

describe('what a read shows of the feeds', () => {
  let gateway: HistoryGateway
  let header: string
  const first = feedOf(SPOT, [place(90)])
  const more = feedOf(SPOT, [place(90), place(80)]).slice(first.length)
  beforeEach(async () => {
    header = await authHeader()
    const positions = { readPositions: () => Promise.resolve([]) }
    gateway = await aHistoryGateway({ markets: [SPOT, PERP], positions, nowMs: () => NOW_MS })
    await gateway.bus.answer(askBalances, 'ws-fanout', (_, replyTo) => {
      const body = JSON.stringify({ owner_address: `0x${'ab'.repeat(20)}`, accounts: [] })
      gateway.bus.reply(replyTo, encodeBalancesAnswer({ body }))
    })
    gateway.project(first)
  })
  afterEach(() => gateway.close())

  it('is in its documents, of each read of them', () => {
    const saying = Object.entries(gatewayDocument.paths).filter(([, item]) =>
      JSON.stringify(item.get ?? {}).includes('"name":"min_seq"'),
    )
    expect(saying.map(([path]) => path).sort()).to.deep.equal(Object.keys(READS).sort())
    for (const [path, { get }] of saying) {
      const { responses } = get as { readonly responses: Record<string, { headers: object }> }
      expect(responses[200]?.headers, path).to.include.keys('X-Feed-Seq')
      expect(responses, path).to.include.keys('400', '503')
    }
  })

  it('is said by each, and is what it asks for at least (REA-049)', async () => {
    for (const path of Object.values(READS)) {
      const name = isOf(path)
      const before = seqOf(first)
      const { status, headers } = await gateway.get(
        asking(path, `${SPOT.market}=${before}`),
        header,
      )
      expect(status, path).to.equal(200)
      const said = readFeedSeqs(`${headers['x-feed-seq']?.toString()}`)
      expect(said?.get(name), path).to.equal(name === SPOT.market ? before : 0)
    }
  })

  it('may be waited for, while the feed is known to have it, and is shown then', async () => {
    const seq = seqOf(more)
    gateway.heads.set(SPOT.market, seq)
    const paths = Object.values(READS).filter((path) => isOf(path) === SPOT.market)
    const late = paths.filter((path) => path !== '/v1/balances')
    for (const path of late) {
      const behind = await gateway.get(asking(path, `${SPOT.market}=${seq}`), header)
      expect([behind.status, behind.json.code], path).to.deep.equal([503, 'read_behind'])
      expect(behind.headers['retry-after'], path).to.equal('1')
    }
    const waiting = late.map((path) => gateway.get(asking(path, `${SPOT.market}=${seq}`), header))
    gateway.project(more)
    for (const { status, headers } of await Promise.all(waiting)) {
      expect(status).to.equal(200)
      expect(headers['x-feed-seq']).to.contain(`${SPOT.market}=${seq}`)
    }
  })

  it('that no feed is known to have is refused at once, and of other markets does not count', async () => {
    for (const path of Object.values(READS)) {
      const ahead = await gateway.get(asking(path, `${isOf(path)}=${seqOf(first) + 1}`), header)
      expect([ahead.status, ahead.json.code], path).to.deep.equal([503, 'min_seq_ahead'])
      expect(ahead.headers['retry-after'], path).to.equal('1')
      const bad = await gateway.get(asking(path, 'NOPE=1'), header)
      expect([bad.status, bad.json.code], path).to.deep.equal([400, 'invalid_min_seq'])
    }
    const other = await gateway.get(asking(READS['/v1/book'] ?? '', `${PERP.market}=9`))
    expect(other.status).to.equal(200)
    expect(other.headers['x-feed-seq']).to.equal(`${SPOT.market}=${seqOf(first)}`)
  })

  it('is also said where there is no such order, and of a book that has not changed', async () => {
    const none = await gateway.get('/v1/orders/none')
    expect(none.status).to.equal(404)
    const both = `${SPOT.market}=${seqOf(first)}, ${PERP.market}=0`
    expect(none.headers['x-feed-seq']).to.equal(both)
    expect((await gateway.get('/v1/orders/none/explain')).headers['x-feed-seq']).to.equal(both)
    const path = READS['/v1/book'] ?? ''
    const { headers } = await gateway.get(path)
    const same = await gateway.send('GET', path, {
      headers: { 'If-None-Match': `${headers.etag?.toString()}` },
    })
    expect([same.status, same.headers['x-feed-seq']]).to.deep.equal([
      ...[304, `${SPOT.market}=${seqOf(first)}`],
    ])
  })

  it('is asked of the fan-out where that answers, with all that the read model shows', async () => {
    const other = await aHistoryGateway({ markets: [SPOT, PERP], nowMs: () => NOW_MS })
    try {
      other.project(first)
      other.heads.set(SPOT.market, seqOf(more))
      const asked: unknown[] = []
      await other.bus.answer(askBalances, 'ws-fanout', (data, replyTo) => {
        asked.push(decodeBalancesQuestion(data).after)
        other.bus.reply(replyTo, encodeBalancesAnswer({ failed: 'behind' }))
      })
      await other.get('/v1/balances', header)
      await other.get(asking('/v1/balances', `${SPOT.market}=${seqOf(more)}`), header)
      expect(asked).to.deep.equal(
        [seqOf(first), seqOf(more)].map((seq) => [
          { market: SPOT.market, seq },
          { market: PERP.market, seq: 0 },
        ]),
      )
    } finally {
      await other.close()
    }
  })

  it('is what an answer to an order or a cancel says must be shown', async () => {
    const order = anOrder({ market: SPOT.market })
    const other = await aHistoryGateway({ markets: [SPOT, PERP], nowMs: () => NOW_MS })
    try {
      other.answerWith({
        kind: 'order',
        feed_seq: 41,
        market: SPOT.market,
        order,
        progress: progressOf(order),
      })
      const bodies: [string, object][] = [
        ['/v1/orders', {}],
        ['/v1/orders/cancel', {}],
        ['/v1/orders/batch', { orders: [{}, {}] }],
      ]
      for (const [path, body] of bodies) {
        const { status, headers } = await other.send('POST', path, { body })
        expect([status, headers['x-feed-seq']], path).to.deep.equal([200, `${SPOT.market}=41`])
      }
    } finally {
      await other.close()
    }
  })
})
