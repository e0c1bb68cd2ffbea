import { expect } from 'chai'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { fillRecord, tradeRecord, tradesPage } from '../../../core/records/trade-record.js'
import { aFill, aMarket } from '../../support/builders.js'

const market = aMarket()

describe('trade records', () => {
  const trade = { fill: aFill(), seq: 3, atMs: 1_760_000_000_123 }

  it('states the engine values and the taker in trader terms (REA-016)', () => {
    expect(tradeRecord(market, trade)).to.deep.equal({
      trade_id: 768,
      market: 'cNGN-USDC',
      asset_address: `0x${'c1'.repeat(20)}`,
      sub_id: '0',
      price: '0.00065',
      size: '1000',
      aggressor_side: 'buy',
      taker_order_id: 'taker-1',
      maker_order_id: 'maker-1',
      created_at: '2025-10-09T08:53:20.123Z',
      contract_type: 'spot',
      settlement_type: 'spot',
      spot_contract: {
        spec: 'cngn_usdc_spot_v1',
        ui_intent: { side: 'sell', price: '1538.4615384615', size: '0.65' },
        engine_order: { side: 'buy', price: '0.00065', amount: '1000' },
        balance_delta: { usdc: '-0.65', cngn: '+1000' },
      },
      tx_hash: `0x${'77'.repeat(32)}`,
    })
  })

  it('marks a trade that the chain has lost (SET-043)', () => {
    const reversed = tradeRecord(market, { ...trade, reversed: true })
    expect(reversed).to.deep.equal({ ...tradeRecord(market, trade), reversed: true })
  })

  it('pages with the oldest id while the page is full, and leaves stats empty when nothing traded', () => {
    const page = tradesPage(market, [trade], { limit: 1 })
    expect(page.next_before_trade_id).to.equal(768)
    expect(page.trades).to.deep.equal([tradeRecord(market, trade)])
    expect(page.stats_24h).to.deep.equal({})
    expect(tradesPage(market, [trade], { limit: 2 })).not.to.have.property('next_before_trade_id')
    expect(tradesPage(market, [], { limit: 0 })).to.deep.include({ trades: [] })
    expect(tradesPage(market, [], { limit: 0 })).not.to.have.property('next_before_trade_id')
  })

  it('presents the trailing day, a falling price with a minus sign', () => {
    const stats = {
      first: priceE18(5n * 10n ** 17n),
      last: priceE18(4n * 10n ** 17n),
      high: priceE18(6n * 10n ** 17n),
      low: priceE18(3n * 10n ** 17n),
      volume: amountE18(2n * 10n ** 18n),
      quoteVolume: quoteE18(10n ** 18n),
    }
    expect(tradesPage(market, [], { limit: 1, stats }).stats_24h).to.deep.equal({
      change: '-0.1',
      high: '0.6',
      low: '0.3',
      last: '0.4',
      volume: '2',
      quote_volume: '1',
    })
  })
})

describe('own fills', () => {
  const own = { ...aFill(), orderId: 'taker-1', side: 'buy', atMs: 1_760_000_000_123 } as const

  it('are marked where the chain has lost them', () => {
    const fill = fillRecord(market, own)
    expect(fill).not.to.have.property('reversed')
    expect(fillRecord(market, { ...own, reversed: false })).to.deep.equal(fill)
    expect(fillRecord(market, { ...own, reversed: true })).to.deep.equal({
      ...fill,
      reversed: true,
    })
  })

  it('say nothing of a mark where the contract has none', () => {
    const marked = fillRecord(market, { ...own, markPrice: priceE18(E18) })
    expect(marked).to.deep.equal(fillRecord(market, own))
  })
})
