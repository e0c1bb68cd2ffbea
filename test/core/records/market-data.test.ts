import { expect } from 'chai'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import type { PriceLevel } from '../../../core/records/listing-record.js'
import {
  candleState,
  fundingRecord,
  levelsRecord,
  markRecord,
  statusState,
  tickerState,
} from '../../../core/records/market-data.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { e18 } from '../../support/perpetual.js'

const price = (text: string) => priceE18(e18(text))
const level = (at: string, open: string): PriceLevel => ({
  price: price(at),
  open: amountE18(e18(open)),
})

describe('levels record', () => {
  const levels = {
    bids: [level('0.0005', '2000')],
    asks: [level('0.001', '10'), level('0.002', '0')],
  }

  it('shows each level in engine and in trader terms, in the order given, with the checksum', () => {
    expect(levelsRecord(aMarket(), levels, 77)).to.deep.equal({
      bids: [{ price: '0.0005', size: '2000', ui_price: '2000', ui_size: '1' }],
      asks: [
        { price: '0.001', size: '10', ui_price: '1000', ui_size: '0.01' },
        { price: '0.002', size: '0', ui_price: '500', ui_size: '0' },
      ],
      checksum: 77,
    })
  })

  it('shows the same numbers twice where there is no translation', () => {
    const bids = [level('0.0005', '2000')]
    expect(levelsRecord(aPerp(), { bids, asks: [] }, 0)).to.deep.equal({
      bids: [{ price: '0.0005', size: '2000', ui_price: '0.0005', ui_size: '2000' }],
      asks: [],
      checksum: 0,
    })
  })
})

describe('ticker state', () => {
  const unknown = {
    bid: undefined,
    ask: undefined,
    last: undefined,
    stats: undefined,
    prices: undefined,
  }
  const stats = {
    first: price('0.5'),
    last: price('0.4'),
    high: price('0.6'),
    low: price('0.3'),
    volume: amountE18(e18('2')),
    quoteVolume: quoteE18(e18('1')),
  }
  const cases: readonly [
    title: string,
    parts: Partial<Parameters<typeof tickerState>[1]>,
    object,
  ][] = [
    ['leaves out what is not known', {}, {}],
    [
      'has the best bid alone',
      { bid: level('2', '5') },
      { best_bid: { price: '2', size: '5', ui_price: '2', ui_size: '5' } },
    ],
    [
      'has the best ask alone',
      { ask: level('3', '6') },
      { best_ask: { price: '3', size: '6', ui_price: '3', ui_size: '6' } },
    ],
    [
      'has the last price and its time',
      { last: { price: price('2.5'), atMs: 1_760_000_000_123 } },
      { last_price: '2.5', last_trade_at: '2025-10-09T08:53:20.123Z' },
    ],
    [
      'has the trailing day',
      { stats },
      {
        stats_24h: {
          change: '-0.1',
          high: '0.6',
          low: '0.3',
          last: '0.4',
          volume: '2',
          quote_volume: '1',
        },
      },
    ],
    ['has a mark alone', { prices: { mark: price('1.5') } }, { mark_price: '1.5' }],
    [
      'has the index beside the mark',
      { prices: { mark: price('1.5'), index: price('1.25') } },
      { mark_price: '1.5', index_price: '1.25' },
    ],
    [
      'has a funding rate that shorts pay',
      { prices: { mark: price('1.5'), fundingRate: e18('-0.001') } },
      { mark_price: '1.5', funding_rate_1h: '-0.001' },
    ],
  ]
  for (const [title, parts, shown] of cases) {
    it(title, () => {
      const state = tickerState(aPerp(), { ...unknown, ...parts })
      expect(state).to.deep.equal({ stats_24h: {}, ...shown })
    })
  }
})

describe('candle state', () => {
  const candle = {
    startSec: 1_760_000_100,
    seq: 6,
    updatedMs: 1_760_000_101_000,
    tradeCount: 7,
    open: price('0.4'),
    close: price('0.5'),
    high: price('0.6'),
    low: price('0.3'),
    volume: amountE18(e18('2')),
    quoteVolume: quoteE18(e18('1')),
    firstAtMs: 1_760_000_100_000,
    lastAtMs: 1_760_000_101_000,
  }

  it('is the candle, and whether its time is over (STR-047)', () => {
    for (const closed of [true, false]) {
      expect(candleState({ ...candle, closed })).to.deep.equal({
        bucket_start: '2025-10-09T08:55:00.000Z',
        open: '0.4',
        high: '0.6',
        low: '0.3',
        close: '0.5',
        volume: '2',
        quote_volume: '1',
        trade_count: 7,
        closed,
      })
    }
  })
})

describe('status state', () => {
  it('says how a market trades', () => {
    const open = { standing: { status: 'open' }, enabled: true } as const
    expect(statusState(open, undefined)).to.deep.equal({ trading_status: 'open', enabled: true })
  })

  it('says why and since when it does not (STR-048)', () => {
    const standing = { status: 'paused', reason: 'maintenance' } as const
    expect(statusState({ standing, enabled: false }, 1_760_000_000_123)).to.deep.equal({
      trading_status: 'paused',
      trading_status_reason: 'maintenance',
      enabled: false,
      since: '2025-10-09T08:53:20.123Z',
    })
  })
})

describe('price records', () => {
  const observed = { observedSec: 1_760_000_100, blockNumber: 31, mark: price('1.5') }
  const marked = {
    observed_at: '2025-10-09T08:55:00.000Z',
    block_number: 31,
    mark_price: '1.5',
  }

  it('state a mark with the index, where there is one', () => {
    expect(markRecord(observed)).to.deep.equal(marked)
    expect(markRecord({ ...observed, index: price('1.25') })).to.deep.equal({
      ...marked,
      index_price: '1.25',
    })
  })

  it('state a funding rate with the prices that it came from, zero where none is known', () => {
    const withIndex = { ...observed, index: price('1.25') }
    expect(fundingRecord({ ...withIndex, fundingRate: e18('0.0002') })).to.deep.equal({
      ...marked,
      index_price: '1.25',
      funding_rate_1h: '0.0002',
    })
    expect(fundingRecord(observed)).to.deep.equal({ ...marked, funding_rate_1h: '0' })
  })
})
