import { expect } from 'chai'
import fc from 'fast-check'
import { parseDecimal } from '../../../core/decimal.js'
import type { Side } from '../../../core/model/order.js'
import { amountE18, priceE18 } from '../../../core/money.js'
import { listedBook, listedTrades } from '../../../core/records/listing-record.js'
import { aFill, aMarket } from '../../support/builders.js'
import { e18 } from '../../support/perpetual.js'
import { runs } from '../../support/property-runs.js'

const level = (price: string, open: string) => ({
  price: priceE18(e18(price)),
  open: amountE18(e18(open)),
})

describe('listed book', () => {
  it('prices USDC in cNGN, so that engine asks are bids, each side in its order', () => {
    const levels = {
      bids: [level('0.0006', '1000'), level('0.0005', '2')],
      asks: [level('0.0007', '1000'), level('0.0008', '3')],
    }
    // 1 / 0.0007 = 1428.57142857142…; 1 / 0.0006 = 1666.6666…
    expect(listedBook(aMarket(), levels, 1_760_000_000_123)).to.deep.equal({
      ticker_id: 'cNGN-USDC',
      timestamp: 1_760_000_000_123,
      bids: [
        ['1428.5714285714', '0.7'],
        ['1250', '0.0024'],
      ],
      asks: [
        ['1666.6666666667', '0.6'],
        ['2000', '0.001'],
      ],
    })
  })

  it('never shows more USDC than a level has, and less than a millionth too little', () => {
    const any = fc.bigInt({ min: 1n, max: 10n ** 24n })
    fc.assert(
      fc.property(any, any, (price, open) => {
        const bids = [{ price: priceE18(price), open: amountE18(open) }]
        const [shown] = listedBook(aMarket(), { bids, asks: [] }, 0).asks
        const missing = price * open - (parseDecimal(shown?.[1], 36) ?? -1n)
        expect(missing >= 0n && missing < 10n ** 30n).to.equal(true)
      }),
    )
  })

  it('is a valid book of whatever the venue takes: prices apart and in order, nothing of 0', () => {
    // The extremes of what an order may ask, and prices that a listing cannot tell apart.
    const price = fc.oneof(
      fc.bigInt({ min: 1n, max: 50n }),
      fc.bigInt({ min: 10n ** 24n, max: 10n ** 24n + 50n }),
      fc.bigInt({ min: 10n ** 29n, max: 10n ** 58n }),
    )
    const open = fc.oneof(fc.constant(10n ** 12n), fc.bigInt({ min: 10n ** 12n, max: 10n ** 17n }))
    const levels = fc.uniqueArray(fc.tuple(price, open), { selector: ([at]) => at, maxLength: 12 })
    fc.assert(
      fc.property(levels, fc.nat(12), (found, bidCount) => {
        const sorted = found
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([at, amount]) => ({ price: priceE18(at), open: amountE18(amount) }))
        const engine = { bids: sorted.slice(0, bidCount).reverse(), asks: sorted.slice(bidCount) }
        const { bids, asks } = listedBook(aMarket(), engine, 0)
        const pricesOf = (side: typeof bids) => side.map(([shown]) => parseDecimal(shown, 80) ?? 0n)
        const bidPrices = pricesOf(bids)
        const askPrices = pricesOf(asks)
        const up = [...bidPrices.toReversed(), ...askPrices]
        expect(up.every((at, index) => at > (up[index - 1] ?? 0n))).to.equal(true)
        for (const [, amount] of [...bids, ...asks]) expect(amount).to.match(/[1-9]/)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('listed trades', () => {
  const trade = (tradeId: number, takerSide: Side) => ({
    fill: aFill({ tradeId, takerSide }),
    seq: tradeId,
    atMs: 1_760_000_000_000 + tradeId,
  })
  const idsOf = (trades: Parameters<typeof listedTrades>[1], side?: Side) =>
    Object.entries(listedTrades(aMarket(), trades, side)).map(([side, trades]) => [
      side,
      trades?.map(({ trade_id }) => trade_id),
    ])

  it('are in ticker terms, a taker that sold cNGN among the buyers', () => {
    expect(listedTrades(aMarket(), [trade(5, 'sell')], undefined)).to.deep.equal({
      buy: [
        {
          trade_id: 5,
          price: '1538.4615384615',
          base_volume: '0.65',
          target_volume: '1000',
          trade_timestamp: 1_760_000_000_005,
          type: 'buy',
        },
      ],
      sell: [],
    })
    expect(listedTrades(aMarket(), [trade(6, 'buy')], 'sell').sell?.[0]).to.include({
      type: 'sell',
    })
  })

  it('round volumes of USDC half up', () => {
    const volumeOf = (amount: string) => {
      const fill = aFill({ price: priceE18(e18('1')), amount: amountE18(e18(amount)) })
      return listedTrades(aMarket(), [{ fill, seq: 1, atMs: 0 }], 'sell').sell?.[0]?.base_volume
    }
    expect(['2.0000004', '2.0000005'].map(volumeOf)).to.deep.equal(['2', '2.000001'])
  })

  it('are parted by side, newest first, both or the side asked for', () => {
    const trades = [trade(9, 'sell'), trade(8, 'buy'), trade(7, 'buy'), trade(6, 'sell')]
    expect(idsOf(trades, undefined)).to.deep.equal([
      ['buy', [9, 6]],
      ['sell', [8, 7]],
    ])
    expect(idsOf(trades, 'buy')).to.deep.equal([['buy', [9, 6]]])
    expect(idsOf(trades, 'sell')).to.deep.equal([['sell', [8, 7]]])
  })

  it('have a price and volumes above 0, however small', () => {
    const any = fc.bigInt({ min: 1n, max: 10n ** 58n })
    fc.assert(
      fc.property(any, fc.bigInt({ min: 10n ** 12n, max: 10n ** 18n }), (price, amount) => {
        const fill = aFill({ price: priceE18(price), amount: amountE18(amount) })
        const [shown] = listedTrades(aMarket(), [{ fill, seq: 1, atMs: 0 }], 'sell').sell ?? []
        for (const number of [shown?.price, shown?.base_volume, shown?.target_volume]) {
          expect(number).to.match(/^[0-9.]*[1-9][0-9.]*$/)
        }
      }),
    )
  })
})
