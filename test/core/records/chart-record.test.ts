import { expect } from 'chai'
import fc from 'fast-check'
import { traderCandle } from '../../../core/contracts/trader-terms.js'
import {
  candlesOfResolution,
  chartConfig,
  chartHistory,
  chartSymbol,
  identifierOf,
  searchSymbols,
} from '../../../core/records/chart-record.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { anyCandle } from '../../support/candles.js'
import { runs } from '../../support/property-runs.js'

const MARKETS = [aMarket(), aPerp(), aFuture()]
const NOW_MS = Date.parse('2026-11-21T10:00:00Z')

describe('bars of a chart', () => {
  it('are the candles in trader terms, each number the nearest to its text (REA-060)', () => {
    fc.assert(
      fc.property(fc.array(anyCandle, { minLength: 1, maxLength: 5 }), (found) => {
        const candles = found.map((candle, index) => ({ ...candle, startSec: 60 * index }))
        for (const market of MARKETS) {
          const history = chartHistory(market, candles, undefined)
          if (history.s !== 'ok') throw new Error('no bars')
          candles.forEach((candle, at) => {
            const { open, high, low, close, volume } = traderCandle(market, candle)
            const { t, o, h, l, c, v } = history
            expect([t, o, h, l, c, v].map((column) => column[at])).to.deep.equal([
              ...[candle.startSec, ...[open, high, low, close, volume].map(Number)],
            ])
            const [low_ = 0, high_ = 0] = [l[at], h[at]]
            for (const price of [o[at], c[at]]) expect(price).to.be.within(low_, high_)
          })
        }
      }),
      { numRuns: runs(100) },
    )
  })

  it('that are none say where the newest one before begins, if there is one', () => {
    expect(chartHistory(aMarket(), [], 60)).to.deep.equal({ s: 'no_data', nextTime: 60 })
    expect(chartHistory(aMarket(), [], undefined)).to.deep.equal({ s: 'no_data' })
  })

  it('have a candle of each resolution that the datafeed says it has', () => {
    const { supported_resolutions } = chartConfig()
    expect(supported_resolutions.map(candlesOfResolution)).to.deep.equal([
      ...['1m', '5m', '15m', '1h', '4h', '1d'],
    ])
    expect(candlesOfResolution('D')).to.equal('1d')
    for (const text of ['2', '1d', '1W', '', 'toString', undefined])
      expect(candlesOfResolution(text)).to.equal(undefined)
  })
})

describe('symbols of a chart', () => {
  it('are of the kind of their market, and only dated ones expire', () => {
    const [spot, perp, future] = MARKETS.map((market) => chartSymbol(market, NOW_MS))
    expect(spot).to.include({ type: 'crypto', currency_code: 'cNGN', pricescale: 10_000 })
    expect(perp).to.include({ type: 'swap', currency_code: 'USDC', pricescale: 100_000_000 })
    expect(future).to.include({ type: 'futures', expired: false })
    expect(spot).to.not.have.any.keys('expired', 'expiration_date')
    const expirySec = Number(aFuture().subId)
    expect(chartSymbol(aFuture(), expirySec * 1_000)).to.include({
      expired: true,
      expiration_date: expirySec,
    })
  })

  it('are named with or without their exchange', () => {
    const [found] = searchSymbols(MARKETS, { query: 'perp', type: '', exchange: '', limit: 9 })
    expect(found).to.include({ symbol: 'cNGN-PERP', type: 'swap' })
    expect([found?.full_name, found?.ticker].map((name) => identifierOf(name ?? ''))).to.deep.equal(
      ['cNGN-PERP', 'cNGN-PERP'],
    )
  })

  it('are found by a part of a name, a type and an exchange, and disabled ones are not', () => {
    const find = (search: Partial<Parameters<typeof searchSymbols>[1]>, markets = MARKETS) =>
      searchSymbols(markets, { query: '', type: '', exchange: '', limit: 9, ...search }).map(
        ({ symbol }) => symbol,
      )
    expect(find({})).to.deep.equal(['USDC-cNGN-30NOV26', 'cNGN-PERP', 'cNGN-USDC'])
    expect(find({ limit: 1 })).to.deep.equal(['USDC-cNGN-30NOV26'])
    expect(find({ query: 'usdc-C' })).to.deep.equal(['USDC-cNGN-30NOV26'])
    expect(find({ type: 'crypto' })).to.deep.equal(['cNGN-USDC'])
    expect(find({ type: 'stock' })).to.deep.equal([])
    expect(find({ exchange: 'NASDAQ' })).to.deep.equal([])
    expect(find({}, [aMarket({ enabled: false })])).to.deep.equal([])
  })
})
