import { expect } from 'chai'
import type { MarketEntry } from '../../client/index.js'
import { createBudget, worthOf, type KnownPrices } from '../../mcp/budget.js'
import { ToolRefused } from '../../mcp/tool.js'

const marketOf = (base_asset_symbol: string, quote_asset_symbol: string) =>
  ({ market: 'm', base_asset_symbol, quote_asset_symbol }) as MarketEntry

const E18 = 10n ** 18n

describe('what an order is worth to venue-mcp', () => {
  const quoted = marketOf('cNGN', 'USDC')
  const buy = { side: 'buy', price: '0.5', amount: '3' } as const
  const sell = { ...buy, side: 'sell' } as const

  it('is its amount at its limit in USDC, rounded up', () => {
    expect(worthOf(quoted, buy)).to.equal((3n * E18) / 2n)
    const tiny = '0.000000000000000001'
    expect(worthOf(quoted, { ...buy, price: tiny, amount: tiny })).to.equal(1n)
  })

  const bid = (price: string) => ({ best_bid: { price } }) as KnownPrices

  it('is that of a sell at 5 % above the best bid, where its limit is lower', () => {
    expect(worthOf(quoted, sell, bid('2'))).to.equal((63n * E18) / 10n)
    expect(worthOf(quoted, sell, bid('0.1'))).to.equal((3n * E18) / 2n)
    expect(worthOf(quoted, buy, bid('2'))).to.equal((3n * E18) / 2n)
  })

  it('is that of a sell at the last price, mark or index, where its limit and the bids are far lower', () => {
    const cheap = { ...sell, price: '0.000001' }
    for (const name of ['last_price', 'mark_price', 'index_price'])
      for (const best of [{}, bid('0.000001')])
        expect(worthOf(quoted, cheap, { ...best, [name]: '2' }), name).to.equal(6n * E18)
    const all = { last_price: '1', mark_price: '3', index_price: '2' }
    expect(worthOf(quoted, cheap, all)).to.equal(9n * E18)
  })

  it('is not known of a sell where nothing shows a price', () => {
    for (const prices of [undefined, {}, { mark_price: '0', index_price: '0' }])
      expect(() => worthOf(quoted, sell, prices)).to.throw(ToolRefused, 'no bid, no trade')
  })

  it('is its amount at any price where USDC is the base', () => {
    expect(worthOf(marketOf('USDC', 'cNGN'), { ...buy, price: '1500' })).to.equal(3n * E18)
  })

  it('is the same on a market whose traders price USDC in cNGN', () => {
    const spot: MarketEntry = { ...marketOf('USDC', 'cNGN'), engine_side_policy: 'invert_ui_side' }
    expect(worthOf(spot, buy)).to.equal(worthOf(quoted, buy))
    expect(worthOf(spot, sell, bid('2'))).to.equal(worthOf(quoted, sell, bid('2')))
  })

  it('is not known of a market without USDC', () => {
    expect(() => worthOf(marketOf('cNGN', 'EUR'), buy)).to.throw(ToolRefused)
  })

  it('is bounded to the unit, of one and of all that was taken', () => {
    const budget = createBudget({ largestE18: 10n, totalE18: 15n })
    expect(() => budget.take(11n)).to.throw(ToolRefused, '--max-notional')
    budget.check(10n)
    budget.take(10n)
    expect(() => budget.take(6n)).to.throw(ToolRefused, '--max-total')
    budget.take(5n)
    expect(() => budget.take(1n)).to.throw(ToolRefused, '--max-total')
  })
})
