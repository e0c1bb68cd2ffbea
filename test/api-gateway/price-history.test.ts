import { expect } from 'chai'
import { hidePerpetual } from '../../core/contracts/perpetual-facts.js'
import { priceE18 } from '../../core/money.js'
import { createPriceWriter } from '../../data/history/write-prices.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { e18, perpetualFacts } from '../support/perpetual.js'
import { aHistoryGateway, type HistoryGateway } from './stage/history-gateway.js'

const spot = aMarket()
const perp = aPerp()
const future = aFuture()
const HOUR = 3_600
const START = 1_790_002_800

describe('GET /v1/marks and GET /v1/funding', () => {
  let gateway: HistoryGateway
  before(async () => {
    gateway = await aHistoryGateway({ markets: [spot, perp, future] })
    const writer = createPriceWriter(gateway.history.db)
    for (let hour = 0; hour < 5; hour += 1) {
      const atSec = START + hour * HOUR
      const facts = perpetualFacts({
        mark: priceE18(e18(`0.${hour + 1}`)),
        fundingRate: e18('-0.01'),
      })
      writer.write(perp, hour + 1, {
        facts: hidePerpetual(facts),
        blockNumber: BigInt(hour),
        blockTimeSec: atSec,
        readAtMs: atSec * 1000,
      })
    }
  })
  after(() => gateway.close())

  const get = async (path: string) => (await gateway.get(path)).json
  const refusal = async (path: string) => {
    const { status, json } = await gateway.get(path)
    return [status, json.code, json.error]
  }

  it('shows the newest first, with the prices of one block', async () => {
    const { market, marks } = await get('/v1/marks?symbol=cNGN-PERP&limit=1')
    expect(market).to.equal('cNGN-PERP')
    const mark = {
      observed_at: '2026-09-21T19:00:00.000Z',
      block_number: 4,
      mark_price: '0.5',
      index_price: '1',
    }
    expect(marks).to.deep.equal([mark])
    const { funding } = await get('/v1/funding?symbol=cNGN-PERP&limit=1')
    expect(funding).to.deep.equal([{ ...mark, funding_rate_1h: '-0.01' }])
  })

  it('pages to the oldest, each row once', async () => {
    for (const [path, key] of [
      ['/v1/marks', 'marks'],
      ['/v1/funding', 'funding'],
    ] as const) {
      const blocks: unknown[] = []
      let before = ''
      for (const size of [2, 2, 1]) {
        const page = await get(`${path}?symbol=cNGN-PERP&limit=2${before}`)
        const rows = page[key] as { block_number: number }[]
        expect(rows).to.have.length(size)
        blocks.push(...rows.map(({ block_number }) => block_number))
        expect('next_before' in page).to.equal(size === 2)
        before = `&before=${String(page.next_before)}`
      }
      expect(blocks).to.deep.equal([4, 3, 2, 1, 0])
    }
  })

  it('is empty where nothing was observed, and refuses what a market does not have', async () => {
    const { market } = future
    expect(await get(`/v1/marks?symbol=${market}`)).to.deep.equal({ market, marks: [] })
    expect(await refusal(`/v1/funding?symbol=${market}`)).to.deep.equal([
      ...[400, 'no_funding', `${market} has no funding`],
    ])
    expect(await refusal('/v1/funding?symbol=cNGN-USDC')).to.deep.equal([
      ...[400, 'no_funding', 'cNGN-USDC has no funding'],
    ])
    expect(await refusal('/v1/marks?symbol=cNGN-USDC')).to.deep.equal([
      ...[400, 'no_marks', 'cNGN-USDC has no mark price'],
    ])
  })

  it('refuses limits, and cursors of another history or market', async () => {
    const { next_before } = await get('/v1/marks?symbol=cNGN-PERP&limit=1')
    const cursor = String(next_before)
    for (const limit of ['0', '101', '-1', 'abc', '']) {
      expect(await refusal(`/v1/marks?symbol=cNGN-PERP&limit=${limit}`)).to.deep.equal([
        ...[400, 'invalid_limit', 'limit must be between 1 and 100'],
      ])
    }
    const bad = [
      ...['funding?symbol=cNGN-PERP', `marks?symbol=${future.market}`].map(
        (path) => `${path}&before=${cursor}`,
      ),
      'marks?symbol=cNGN-PERP&before=x',
    ]
    for (const path of bad) {
      expect(await refusal(`/v1/${path}`)).to.deep.equal([
        ...[400, 'invalid_before', 'before must be a next_before value returned by this endpoint'],
      ])
    }
  })
})
