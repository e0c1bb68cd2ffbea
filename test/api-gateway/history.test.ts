import { expect } from 'chai'
import type { Address } from '../../core/action.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import { formatDecimal } from '../../core/decimal.js'
import { refusals } from '../../core/entry/refusals.js'
import type { Block, Change } from '../../core/model/change.js'
import { amountE18, E18, priceE18 } from '../../core/money.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import { openReadModel } from '../../data/history/read-model.js'
import { aMarket } from '../support/builders.js'
import type { MarketAct } from '../support/market-commands.js'
import { feedOf } from '../support/market-feed.js'
import {
  aHistoryGateway,
  authHeader,
  frameOwner,
  type HistoryGateway,
} from './stage/history-gateway.js'

const MARKET = aMarket()

/** The feed of these acts, all of them by the owner of the frame. */
function feed(acts: readonly MarketAct[], owner: Address = frameOwner): Block[] {
  return feedOf(MARKET, acts).map((block) => ({
    ...block,
    changes: block.changes.map((change): Change => {
      const named = { ...change, owner }
      if (named.kind === 'OrderFilled') {
        return { ...named, fill: { ...named.fill, txHash: `0x${'7e'.repeat(32)}` } }
      }
      return named.kind === 'OrderPlaced' ? { ...named, order: { ...named.order, owner } } : named
    }),
  }))
}

const place = (over: Partial<Extract<MarketAct, { act: 'place' }>> = {}): MarketAct => ({
  act: 'place',
  buy: true,
  price: 100,
  size: 10,
  trader: 1,
  livesSec: 3_600,
  unchecked: false,
  ...over,
})
const settle: MarketAct = { act: 'settle', pick: 0, outcome: 'success' }

/** An order in each status: o1 filled partly, o2 filled, o3 cancelled, o4 expired, o5 matching with o6. */
const story: MarketAct[] = [
  place({ size: 10 }),
  place({ buy: false, price: 99, size: 4, trader: 2 }),
  settle,
  place({ price: 95 }),
  { act: 'cancel', pick: 2 },
  place({ price: 95, livesSec: 60 }),
  { act: 'wait', sec: 100 },
  place({ price: 100, size: 6, buy: false, trader: 2 }),
]

type Rows = Record<string, unknown>[]

describe('the private histories', () => {
  let gateway: HistoryGateway
  let header: string
  before(async () => (header = await authHeader()))
  beforeEach(async () => (gateway = await aHistoryGateway()))
  afterEach(() => gateway.close())

  const rowsOf = async (path: string): Promise<Rows> => {
    const { status, json } = await gateway.get(path, header)
    expect(status).to.equal(200)
    return (json.orders ?? json.fills ?? json.trades) as Rows
  }
  const idOf = (row: Record<string, unknown>): string =>
    String(row.order_id).slice(MARKET.market.length + 1)

  it('list orders of every status, newest first, with what only history tells', async () => {
    gateway.project(feed(story))
    const orders = await rowsOf('/v1/orders')
    expect(
      orders.map((order) => [idOf(order), order.status, order.cancel_reason, order.filled_quote]),
    ).to.deep.equal([
      ['o5', 'matching', undefined, undefined],
      ['o4', 'expired', undefined, undefined],
      ['o3', 'cancelled', 'unspecified', undefined],
      ['o2', 'filled', undefined, '4'],
      ['o1', 'matching', undefined, '4'],
    ])
    for (const order of orders) {
      expect('cancelled_at' in order).to.equal(order.status === 'cancelled')
      expect(order.owner_address).to.equal(frameOwner)
      expect(order).to.include.keys('action_json', 'signature', 'spot_contract', 'created_at')
    }
    expect(orders[2]?.cancelled_at).to.match(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
  })

  it('are open orders alone, of a market and an account, whatever came after them', async () => {
    const cancelled = Array.from({ length: 30 }, (_, at): MarketAct[] => [
      place({ price: 90, size: 1 }),
      { act: 'cancel', pick: 5 + at },
    ])
    gateway.project(feed([...story, ...cancelled.flat()]))
    const all = (await rowsOf('/v1/orders?limit=100')) as {
      status: string
      subaccount_id: string
    }[]
    const open = all.filter(({ status }) => status === 'active' || status === 'matching')
    expect(open.length).to.be.within(1, 4)
    expect(await rowsOf('/v1/orders?status=open&limit=5')).to.deep.equal(open)
    expect(await rowsOf('/v1/orders?status=open&market=USDCcNGN-SPOT')).to.deep.equal(open)
    const [{ subaccount_id: account } = { subaccount_id: '' }] = open
    expect(await rowsOf(`/v1/orders?status=open&subaccount_id=${account}`)).to.deep.equal(
      open.filter(({ subaccount_id }) => subaccount_id === account),
    )
    expect(await rowsOf('/v1/orders?status=open&subaccount_id=4711')).to.deep.equal([])
  })

  it('are not filtered in a way that is not meant', async () => {
    const cases: [string, string][] = [
      ['status=cancelled', 'invalid_status'],
      ['market=cNGN-USDC', 'filter_needs_status_open'],
      ['subaccount_id=7', 'filter_needs_status_open'],
      ['status=open&subaccount_id=-7', 'invalid_subaccount_id'],
      ['status=open&market=none', 'unknown_market'],
      ['start=yesterday', 'invalid_start'],
      ['start=2026-11-21T10:00:00Z&end=2026-11-21T10:00:00Z', 'end_not_after_start'],
    ]
    for (const [query, code] of cases) {
      const { status, json } = await gateway.get(`/v1/orders?${query}`, header)
      expect([query, status, json.code]).to.deep.equal([query, 400, code])
    }
  })

  it('and fills and trades are those of a range of time, page by page', async () => {
    const wait: MarketAct = { act: 'wait', sec: 10 }
    const pair = [place({ size: 2 }), place({ buy: false, size: 2, trader: 2 })]
    const settleNext = (pick: number): MarketAct[] => [wait, { ...settle, pick }]
    gateway.project(
      feed([
        ...[...story, ...settleNext(1), ...pair, ...settleNext(2)],
        ...[...pair, { ...settle, pick: 3 }, ...pair, ...settleNext(4)],
      ]),
    )
    for (const path of ['/v1/orders?', '/v1/fills?', '/v1/trades?symbol=cNGN-USDC&']) {
      const query = (text: string) => rowsOf(`${path}${text}`)
      const pagesOf = async (range: string, next = ''): Promise<Rows> => {
        const { json } = await gateway.get(`${path}${range}&limit=2${next}`, header)
        const rows = (json.orders ?? json.fills ?? json.trades) as Rows
        const { next_before: before, next_before_trade_id: id } = json as Record<string, string>
        if (before === undefined && id === undefined) return rows
        const more = before === undefined ? `&before_trade_id=${id}` : `&before=${before}`
        return [...rows, ...(await pagesOf(range, more))]
      }
      const all = (await query('limit=100')) as { created_at: string }[]
      const times = all.map(({ created_at }) => created_at)
      const from = times.at(-1) ?? ''
      const until = times[0] ?? ''
      expect(await query(`start=${from}`), path).to.deep.equal(all)
      expect(await query(`end=${from}`), path).to.deep.equal([])
      const before = all.filter(({ created_at }) => created_at < until)
      const after = all.filter(({ created_at }) => created_at > from)
      expect([before.length, after.length].map((length) => length > 2)).to.deep.equal([true, true])
      expect(await query(`start=${from}&end=${until}`), path).to.deep.equal(before)
      expect(await pagesOf(`start=${from}&end=${until}`), path).to.deep.equal(before)
      expect(await pagesOf(`start=${from}`), path).to.deep.equal(all)
      const justAfter = from.replace('Z', '0001Z')
      expect(await query(`start=${justAfter}&limit=1`), path).to.deep.equal(after.slice(0, 1))
    }
  })

  it('present the whole order record', async () => {
    gateway.project(feed(story))
    const reads = openReadModel(gateway.history.path)
    try {
      const stored = reads.orderHistory(frameOwner, { limit: 9 })
      const presented = stored.map((order): unknown => JSON.parse(orderRecordJson(MARKET, order)))
      expect(await rowsOf('/v1/orders')).to.deep.equal(presented)
    } finally {
      reads.close()
    }
  })

  it('sum filled_quote over the fills at their execution prices, each rounded as the chain does (MON-024)', async () => {
    // The taker's limit is 0.95; it is filled at the makers' prices.
    gateway.project(
      feed([
        place({ price: 100, size: 3 }),
        place({ price: 99, size: 3 }),
        place({ buy: false, price: 95, size: 6, trader: 2 }),
        settle,
        { act: 'settle', pick: 1, outcome: 'success' },
      ]),
    )
    const quote = [100n, 99n].reduce(
      (sum, cents) => sum + notionalFloor(priceE18((cents * E18) / 100n), amountE18(3n * E18)),
      0n,
    )
    const [taker] = await rowsOf('/v1/orders')
    expect(taker?.filled_quote).to.equal(formatDecimal(quote, 18)).and.equal('5.97')
  })

  it('list a trade between two of the owner’s orders once for each (REA-029)', async () => {
    gateway.project(feed(story))
    const fills = await rowsOf('/v1/fills')
    expect(fills.map((fill) => [idOf(fill), fill.liquidity, fill.side, fill.fee])).to.deep.equal([
      ['o2', 'taker', 'sell', '0.01'],
      ['o1', 'maker', 'buy', '0'],
    ])
    const [taker, maker] = fills
    expect(taker?.trade_id).to.equal(maker?.trade_id).and.be.a('number')
    expect(taker).to.deep.include({
      price: '1',
      size: '4',
      market: 'cNGN-USDC',
      display_name: 'cNGN-USDC',
      asset_address: MARKET.assetAddress,
      sub_id: '0',
      tx_hash: `0x${'7e'.repeat(32)}`,
    })
    expect((taker?.spot_contract as Record<string, unknown>).ui_intent).to.deep.equal({
      side: 'buy',
      price: '1',
      size: '4',
    })
    expect((maker?.spot_contract as Record<string, unknown>).balance_delta).to.deep.equal({
      usdc: '-4',
      cngn: '+4',
    })
  })

  it('show an owner only what is the owner’s (REA-025)', async () => {
    gateway.project(feed(story, `0x${'ee'.repeat(20)}`))
    expect(await rowsOf('/v1/orders')).to.deep.equal([])
    expect(await rowsOf('/v1/fills')).to.deep.equal([])
  })

  it('go on where a page ended, and say so only when the page is full (REA-026)', async () => {
    const many = Array.from({ length: 25 }, (_, index) => place({ price: 10 + index }))
    gateway.project(feed(many))
    const seen: string[] = []
    let next = ''
    for (const size of [10, 10, 5]) {
      const { json } = await gateway.get(`/v1/orders?limit=10${next}`, header)
      const orders = json.orders as Rows
      expect(orders).to.have.length(size)
      seen.push(...orders.map(idOf))
      expect('next_before' in json).to.equal(size === 10)
      next = `&before=${String(json.next_before)}`
    }
    expect(seen).to.deep.equal(many.map((_, index) => `o${25 - index}`))
    const exact = await gateway.get('/v1/orders?limit=25', header)
    expect(exact.json.next_before).to.be.a('string')
    const empty = await gateway.get(
      `/v1/orders?limit=25&before=${String(exact.json.next_before)}`,
      header,
    )
    expect(empty.json).to.deep.equal({ orders: [] })
  })

  it('serve fifty by default (REA-026)', async () => {
    gateway.project(feed(Array.from({ length: 60 }, () => place({ price: 10 }))))
    expect(await rowsOf('/v1/orders')).to.have.length(50)
    expect(await rowsOf('/v1/orders?limit=100')).to.have.length(60)
  })

  it('refuse limits and cursors that are none', async () => {
    gateway.project(feed(story))
    const { json } = await gateway.get('/v1/orders?limit=1', header)
    const cursor = String(json.next_before)
    const encoded = (text: string): string => Buffer.from(text).toString('base64url')
    for (const path of ['/v1/orders', '/v1/fills']) {
      for (const limit of ['0', '101', '-1', 'abc', '1.5', '', '5&limit=5']) {
        const answer = await gateway.get(`${path}?limit=${limit}`, header)
        expect([limit, answer.status]).to.deep.equal([limit, 400])
        expect(answer.json.error).to.equal('limit must be between 1 and 100')
      }
      const kind = path.slice(4)
      const bad = ['', '1', '2026-11-21T10:00:00Z', 'x', `${cursor}&before=${cursor}`, `${cursor}=`]
      const forged = ['x:1:2', `${kind}:1`, `${kind}:1:2:3`, `${kind}:01:2`, `${kind}:NaN:NaN`]
      for (const before of [...bad, ...forged.map(encoded)]) {
        const answer = await gateway.get(`${path}?before=${before}`, header)
        expect([before, answer.status]).to.deep.equal([before, 400])
        expect(answer.json.error).to.equal(
          'before must be a next_before value returned by this endpoint',
        )
      }
    }
    expect((await gateway.get(`/v1/orders?before=${cursor}`, header)).status).to.equal(200)
    expect((await gateway.get(`/v1/fills?before=${cursor}`, header)).status).to.equal(400)
  })

  it('show what this gateway has answered, or 503', async () => {
    const own = await aHistoryGateway({
      ownWrites: {
        answered: () => undefined,
        answeredSeqs: () => new Map<string, number>(),
        known: () => Promise.resolve(undefined),
        shown: () => Promise.resolve(refusals.readBehind),
      },
    })
    try {
      for (const path of ['/v1/orders', '/v1/fills']) {
        expect((await own.get(path, header)).status).to.equal(503)
      }
    } finally {
      await own.close()
    }
  })
})
