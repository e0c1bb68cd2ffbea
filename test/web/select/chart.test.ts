import { expect } from 'chai'
import type {
  FundingRecord,
  LiquidationRecord,
  OrderRecord,
  PositionRecord,
} from '../../../client/index.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import {
  barAt,
  chartLines,
  chartMarks,
  chartMoments,
  scaleOf,
  visibleLines,
} from '../../../web/select/chart-lines.js'
import type { OwnFillRow } from '../../../web/select/fill-row.js'
import { fundingRow, liquidationRow } from '../../../web/select/history-rows.js'
import { marketTerms } from '../../../web/select/market-terms.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'

const [SPOT, PERP, FUTURE] = [aMarket(), aPerp(), aFuture()].map((each) => marketEntry(each)) as [
  ...[ReturnType<typeof marketEntry>, ReturnType<typeof marketEntry>],
  ReturnType<typeof marketEntry>,
]

const order = (side: 'buy' | 'sell', limit_price: string): OrderRecord =>
  ({ side, limit_price }) as OrderRecord

describe('web/select: what lies on the chart', () => {
  const lines = (charted: Partial<Parameters<typeof chartLines>[0]>) =>
    chartLines({
      entry: PERP,
      terms: marketTerms(PERP),
      ticker: undefined,
      orders: [],
      positions: [],
      ...charted,
    }).map(({ kind, price }) => `${kind} ${price}`)

  it('has own orders in trader terms', () => {
    const orders = [order('sell', '0.000625'), order('buy', '0.0008')]
    const spot = { entry: SPOT, terms: marketTerms(SPOT), orders }
    expect(lines(spot)).to.deep.equal(['buy 1600', 'sell 1250'])
    expect(lines({ orders })).to.deep.equal(['sell 0.000625', 'buy 0.0008'])
  })

  it('has mark, index, entry and liquidation, where there are such', () => {
    const ticker = { mark_price: '0.0006', index_price: '0.0007' } as never
    const position = (market: string, prices: Partial<PositionRecord>): PositionRecord =>
      ({ market, ...prices }) as PositionRecord
    const positions = [
      position(PERP.market, { entry_price: '0.0005', liquidation_price: '0.0003' }),
      position('another', { entry_price: '9' }),
    ]
    expect(lines({ ticker, positions })).to.deep.equal([
      ...['mark 0.0006', 'index 0.0007', 'entry 0.0005', 'liquidation 0.0003'],
    ])
    expect(lines({ positions: [position(PERP.market, {})] })).to.deep.equal([])
  })

  it('has the last trade and the expiry of a future where their times lie', () => {
    const { last_trade_time: lastTrade = 0 } = FUTURE.future ?? {}
    expect(chartMoments(FUTURE)).to.deep.equal([
      { name: 'last trade', atSec: lastTrade },
      { name: 'expiry', atSec: FUTURE.expiry_timestamp },
    ])
    expect([SPOT, PERP].flatMap(chartMoments)).to.deep.equal([])
    // A bucket without trades, from 120 to 180, has no bar.
    const at = (sec: number) => barAt([0, 60, 180], 60, sec)
    expect([-5, 0, 60, 90, 180].map(at)).to.deep.equal([0, 0, 1, 2, 2])
    expect([240, 210, 780].map(at)).to.deep.equal([3, 2.5, 12])
    expect(barAt([], 60, 5)).to.equal(undefined)
  })

  it('has the newest settled fills of the market, oldest first', () => {
    const fill = (market: string, at: string, state: OwnFillRow['state'] = 'settled'): OwnFillRow =>
      ({ market, at, state, side: 'buy', size: at.slice(17, 19) }) as OwnFillRow
    const at = (second: number): string =>
      `2026-11-27T00:00:${second.toString().padStart(2, '0')}.000Z`
    const fills = [
      ...[fill('A', at(4), 'pending'), fill('A', at(3)), fill('B', at(2)), fill('A', at(1))],
    ]
    expect(chartMarks('A', fills).map(({ text }) => text)).to.deep.equal(['01', '03'])
    expect(
      chartMarks(
        'A',
        Array.from({ length: 300 }, () => fill('A', at(5))),
      ),
    ).to.have.length(200)
  })
})

describe('web/select: the scale of a chart', () => {
  it('brings lines of one’s own near the bars into view, and is never next to nothing', () => {
    const at = (kind: 'buy' | 'mark' | 'liquidation', price: number) => ({
      kind,
      price,
      name: kind,
    })
    const bars = { minValue: 100, maxValue: 110 }
    expect(scaleOf(bars, [])).to.deep.equal(bars)
    expect(scaleOf(bars, [at('buy', 96), at('buy', 90), at('mark', 97)])).to.deep.equal({
      minValue: 96,
      maxValue: 110,
    })
    const flat = scaleOf({ minValue: 100, maxValue: 100 }, [])
    expect(flat.minValue).to.be.closeTo(99.9, 1e-9)
    expect(flat.maxValue).to.be.closeTo(100.1, 1e-9)
  })

  it('has no lines of the groups that are hidden', () => {
    const lines = (['buy', 'sell', 'entry', 'mark', 'band'] as const).map((kind) => ({
      kind,
      name: kind,
      price: 1,
    }))
    const kinds = visibleLines(lines, ['own orders', 'band']).map(({ kind }) => kind)
    expect(kinds).to.deep.equal(['entry', 'mark'])
  })
})

describe('web/select: histories of markets', () => {
  it('say what an hour’s funding was, and who paid', () => {
    const record = (funding_rate_1h: string): FundingRecord => ({
      funding_rate_1h,
      mark_price: '0.00064786',
      block_number: 5,
      observed_at: '2026-11-27T09:00:00.000Z',
    })
    expect(fundingRow(PERP, record('0.0000125'))).to.deep.equal({
      key: '5',
      at: '2026-11-27T09:00:00.000Z',
      rate: '+0.0013 %',
      index: '–',
      payer: 'longs pay shorts',
      mark: '0.00064786',
    })
    expect(fundingRow(PERP, record('-0.001'))).to.include({
      rate: '-0.1000 %',
      payer: 'shorts pay longs',
    })
    expect(fundingRow(PERP, record('0')).payer).to.equal('no side pays')
  })

  it('say what of a liquidated account was taken over, by whom and for how much', () => {
    const bare = {
      market: PERP.market,
      subaccount_id: '7',
      block_number: 9,
      log_index: 2,
      occurred_at: '2026-11-27T09:00:00.000Z',
      tx_hash: `0x${'ab'.repeat(32)}`,
      by_subaccount_id: '8',
    }
    const event: LiquidationRecord = {
      ...bare,
      event: 'bid',
      size: '-50000',
      price: '0.00065',
      portion: '0.5',
      paid: '1.239',
    }
    expect(liquidationRow(PERP, event)).to.include({
      event: 'bid',
      account: '7',
      what: 'short 50,000 cNGN',
      price: '0.00065000',
      how: 'by 8, paid 1.23 USDC',
    })
    const ended: LiquidationRecord = { ...bare, event: 'auction_ended' }
    expect(liquidationRow(PERP, ended)).to.include({ what: '–', price: '–', how: 'by 8' })
    const takeover = { ...bare, event: 'takeover', size: '1000', received: '2.5' } as const
    expect(liquidationRow(FUTURE, takeover)).to.include({
      event: 'taken over',
      what: 'long 1,000 USDC',
      how: 'by 8, received 2.50 USD',
    })
    expect(liquidationRow(undefined, event)).to.equal(undefined)
  })
})
