import { expect } from 'chai'
import { formatDecimal } from '../../../core/decimal.js'
import { refusals } from '../../../core/entry/refusals.js'
import { validateOrder } from '../../../core/entry/validate-order.js'
import { INT256_MAX } from '../../../core/limits.js'
import type { Market } from '../../../core/model/market.js'
import { amountE18, E18, quoteE18 } from '../../../core/money.js'
import { NOW_MS, tableMarkets } from '../../refusals/good-orders.js'
import {
  aFuture,
  aMarket,
  aPerp,
  signedIntentBody,
  signedOrderBody,
} from '../../support/builders.js'

describe('validateOrder on any market', () => {
  it('compares with the market that the instrument names, not with another', async () => {
    const markets: Market[] = [aMarket(), aPerp()]
    const body = await signedOrderBody({ market: aPerp() })
    const result = validateOrder(body, { markets: markets.slice(0, 1), nowMs: NOW_MS })
    expect(result).to.have.nested.property(
      'refusal.message',
      'asset_address must match a configured instrument',
    )
  })
})

describe('validateOrder on a market with the finest steps', () => {
  it('takes an order whose price times amount is the greatest int256 (MON-012)', async () => {
    const market = aMarket({ minSize: amountE18(1n) })
    const amount = 2n ** 85n - 1n
    const price = INT256_MAX / amount
    const rest = INT256_MAX % amount
    expect(rest).to.equal(0n)
    const terms = { price: formatDecimal(price, 18), amount: formatDecimal(amount, 18) }
    const body = await signedOrderBody({ market, ...terms })
    const result = validateOrder(body, { markets: [market], nowMs: NOW_MS })
    expect(result).to.have.nested.property('order.limitPrice', price)
  })
})

describe('validateOrder on a market with a minimum notional', () => {
  const market = aMarket({ minNotional: quoteE18(65n * E18) })
  const codeOf = (body: object): string => {
    const result = validateOrder(body, { markets: [market], nowMs: NOW_MS })
    return 'refusal' in result ? result.refusal.code : 'accepted'
  }

  it('refuses what is worth less at its limit, less what was filled before (ORD-049)', async () => {
    const exact = await signedOrderBody({ amount: '100000' })
    expect(codeOf(exact)).to.equal('accepted')
    expect(codeOf(await signedOrderBody({ amount: '99999.999999' }))).to.equal(
      'notional_below_minimum',
    )
    const double = await signedOrderBody({ amount: '200000' })
    expect(codeOf({ ...double, filled_amount: '100000' })).to.equal('accepted')
    expect(codeOf({ ...double, filled_amount: '100000.000001' })).to.equal('notional_below_minimum')
  })

  it('states what the order is worth', async () => {
    const body = await signedOrderBody({ amount: '1.5' })
    const result = validateOrder(body, { markets: [market], nowMs: NOW_MS })
    expect(result).to.have.nested.property(
      'refusal.message',
      'order notional 0.000975 USDC is below the minimum 65 USDC',
    )
  })
})

describe('validateOrder on futures', () => {
  it('refuses a well-formed order of a deliverable one', async () => {
    const market = aFuture({
      contractType: 'deliverable_fx_future',
      settlementType: 'physical_delivery',
    })
    const body = await signedOrderBody({ market, price: '1530', amount: '3' })
    expect(validateOrder(body, { markets: [market], nowMs: NOW_MS })).to.deep.include({
      refusal: refusals.marketDisabled,
    })
  })

  it('ends an order at the last trade time, unless it expires before (FUT-004)', async () => {
    const market = aFuture()
    const lastTradeSec = 1_796_047_200 - 3_600
    const nowMs = (lastTradeSec - 100) * 1000
    for (const [expiry, goodUntilSec] of [
      [lastTradeSec - 50, lastTradeSec - 50],
      [lastTradeSec + 50, lastTradeSec],
    ] as const) {
      const terms = { market, price: '1530', amount: '3', expirySec: expiry }
      const body = await signedOrderBody(terms)
      const result = validateOrder(body, { markets: [market], nowMs })
      expect(result).to.have.nested.property('order.goodUntilSec', goodUntilSec)
    }
  })

  it('takes neither spec nor intent (ORD-053)', async () => {
    const body = await signedOrderBody({ market: aFuture(), price: '1530', amount: '3' })
    const sent = { ...body, order_entry_spec: 'cngn_usdc_spot_v1' }
    const result = validateOrder(sent, { markets: tableMarkets, nowMs: NOW_MS })
    expect(result).to.have.nested.property('refusal.code', 'translation_unsupported')
  })
})

describe('validateOrder on a perpetual', () => {
  it('takes the side of an intent from the flat one', async () => {
    const terms = { side: 'buy', price: '0.00065', size: '10' } as const
    const body = await signedIntentBody(terms, { market: aPerp() })
    const { price, size } = terms
    const sent = { ...body, side: 'buy', ui_intent: { price, size } }
    const result = validateOrder(sent, { markets: [aPerp()], nowMs: NOW_MS })
    expect(result).to.have.deep.nested.property('order.uiIntent', terms)
  })

  it('keeps reduce_only on the order, and only where it is set', async () => {
    const body = await signedOrderBody({ market: aPerp() })
    const validated = (change: object) =>
      validateOrder({ ...body, ...change }, { markets: [aPerp()], nowMs: NOW_MS })
    expect(validated({ reduce_only: true })).to.have.nested.property('order.reduceOnly', true)
    expect(validated({ reduce_only: false })).not.to.have.nested.property('order.reduceOnly')
    expect(
      validated({ order_entry_spec: 'cngn_usdc_spot_v1', ui_intent: {} }),
    ).to.have.nested.property(
      'refusal.message',
      'order_entry_spec must be "cngn_usdc_perp_v1" for this market\'s ui_intent',
    )
  })
})
