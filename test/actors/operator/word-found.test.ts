import { expect } from 'chai'
import { printFields } from '../../../actors/operator/print.js'
import { wordFound } from '../../../actors/operator/word-found.js'
import { amountE18, E18, quoteE18 } from '../../../core/money.js'
import { UINT256_MAX } from '../../../core/limits.js'
import type { Market } from '../../../core/model/market.js'
import { aFuture, aMarket, anOrder, progressOf } from '../../support/builders.js'

/** The lines of an order that is filled for 15,300 of the market's base, with its trade. */
function linesOf(of: Market, markets: readonly Market[]): string[] {
  const order = anOrder({
    market: of.market,
    desiredAmount: amountE18(153_000n * E18),
    uiIntent: { side: 'sell', price: '1530', size: '100' },
    actionExpirySec: UINT256_MAX,
  })
  const filled = amountE18(15_300n * E18)
  const progress = progressOf(order, { filled, createdAtMs: 1_790_000_000_123 })
  const trade = {
    tradeId: 1,
    market: of.market,
    at: '',
    settlementId: '',
    makerOrderId: '',
    takerOrderId: '',
    txHash: '0x' as const,
    blockNumber: 1,
    reversed: false,
    price: '650000000000000',
    amount: String(filled),
  }
  const found = {
    orders: [
      {
        order,
        progress,
        sums: {
          amount: filled,
          quote: quoteE18(9_945n * 10n ** 15n),
          product: 0n,
          fee: quoteE18(0n),
        },
      },
    ],
    trades: [trade],
    settlements: [],
    transfers: [],
    chain: [],
  }
  return printFields(wordFound(found, markets))
    .split('\n')
    .map((line) => line.trim())
}

describe('what ./venue inspect prints', () => {
  it('has amounts and prices as decimals with the units of their market, and times in UTC', () => {
    const market = aMarket()
    expect(linesOf(market, [market])).to.include.members([
      'desiredAmount: 153000 cNGN',
      'limitPrice: 0.00065 USDC per cNGN',
      'price: 1530 cNGN per USDC',
      'size: 100 USDC notional',
      'filled: 15300 cNGN',
      'filledQuote: 9.945 USDC',
      'price: 0.00065 USDC per cNGN',
      'amount: 15300 cNGN',
      'createdAt: 2026-09-21T14:13:20.123Z',
      'goodUntil: 2100-01-01T00:00:00.000Z',
      `actionExpiry: ${UINT256_MAX}`,
    ])
    const future = aFuture()
    expect(linesOf(future, [market, future])).to.include('filled: 15300 USDC')
  })

  it('has them without units where the market is not known', () => {
    expect(linesOf(aMarket(), [])).to.include.members(['desiredAmount: 153000', 'filled: 15300'])
  })
})
