import { expect } from 'chai'
import fc from 'fast-check'
import { formatDecimal } from '../../../core/decimal.js'
import type { Market } from '../../../core/model/market.js'
import type { Order, OrderProgress, OrderStatus } from '../../../core/model/order.js'
import { ownFilled, type OrderSums } from '../../../core/engine/order-sums.js'
import { actionJsonOf } from '../../../core/entry/signed-action.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { candlesPage } from '../../../core/records/candle-record.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { orderLookupJson, orderRecordJson } from '../../../core/records/order-record.js'
import { OrderRecord } from '../../../interface/order.js'
import { anyOrder, anyProgress, anyUint } from '../../support/arbitraries.js'
import {
  aFuture,
  aMarket,
  anOrder,
  aPerp,
  farFutureSec,
  progressOf,
} from '../../support/builders.js'
import { e18 } from '../../support/perpetual.js'
import { shownBook } from '../../support/shown-book.js'

const market = aMarket()
const owner = `0x${'aa'.repeat(20)}`

/** A price is never zero: the trader's is one divided by it. */
const anyPricedOrder = anyOrder().filter(({ limitPrice }) => limitPrice > 0n)

const parsed = (json: string) => JSON.parse(json) as Record<string, unknown>

const declaredNames = Object.keys(OrderRecord.shape)
const requiredNames = Object.entries(OrderRecord.shape).flatMap(([name, field]) =>
  field.safeParse(undefined).success ? [] : [name],
)

describe('order record', () => {
  const order = anOrder()
  const orderRecord = (of: Market, any: Order, progress: OrderProgress, sums?: OrderSums) =>
    parsed(orderRecordJson(of, { order: any, progress, sums }))
  const orderLookup = (of: Market, any: Order, progress: OrderProgress, sums?: OrderSums) =>
    parsed(orderLookupJson(of, { order: any, progress, sums }))

  it('is JSON of the declared shape and no other, of any order anywhere', () => {
    const markets = fc.constantFrom(market, aPerp(), aFuture())
    fc.assert(
      fc.property(markets, anyPricedOrder, anyProgress, anyUint, (of, any, progress, quote) => {
        const fields = orderRecord(of, any, progress)
        expect(declaredNames).to.include.members(Object.keys(fields))
        expect(fields).to.include.all.keys(requiredNames)
        expect(fields).to.include({ order_id: any.orderId, status: progress.status })
        expect(fields.warnings).to.deep.equal(any.warnings)
        expect(fields.action_json).to.deep.equal(actionJsonOf(of, any))
        const { cancelReason = '' } = progress
        expect(orderLookup(of, any, progress)).to.deep.equal({
          ...fields,
          cancel_reason: cancelReason,
          order: fields,
        })
        const amount = ownFilled(any, progress)
        const sums = { amount, quote: quoteE18(quote), product: quote, fee: quoteE18(quote) }
        const filled = orderRecord(of, any, progress, sums)
        expect(declaredNames).to.include.members(Object.keys(filled))
        const text = formatDecimal(quote, 18)
        const figures = amount === 0n ? {} : { filled_quote: text, fee_paid: text }
        expect(filled).to.deep.include({ ...fields, ...figures })
        const others = { ...sums, amount: amountE18(amount + 1n) }
        expect(orderRecord(of, any, progress, others)).to.deep.equal(fields)
      }),
    )
  })

  it('states every field, numbers as text without trailing zeros', () => {
    expect(orderRecord(market, order, progressOf(order))).to.deep.equal({
      order_id: 'order-1',
      owner_address: owner,
      signer_address: owner,
      subaccount_id: '7',
      recipient_id: '7',
      nonce: '1',
      side: 'buy',
      asset_address: `0x${'c1'.repeat(20)}`,
      sub_id: '0',
      desired_amount: '153000',
      limit_price: '0.00065',
      worst_fee: '1950000000000',
      expiry: farFutureSec,
      action_json: actionJsonOf(market, order),
      signature: order.signature,
      signature_status: 'checked',
      status: 'active',
      filled_amount: '0',
      inherited_filled_amount: '0',
      fee_paid: '0',
      final: false,
      pending_amount: '0',
      open_amount: '153000',
      remaining_amount: '153000',
      created_at: '2025-10-09T08:53:20.123Z',
      updated_at: '2025-10-09T08:53:20.123Z',
      market: 'cNGN-USDC',
      contract_type: 'spot',
      settlement_type: 'spot',
      base_asset_symbol: 'USDC',
      quote_asset_symbol: 'cNGN',
      display_name: 'cNGN-USDC',
      display_label: 'cNGN per USDC',
      tick_size: '0.000000000000000001',
      price_semantics: 'linear',
      display_semantics: 'direct',
      spot_contract: {
        spec: 'cngn_usdc_spot_v1',
        ui_intent: { side: 'sell', price: '1538.4615384615', size: '99.45' },
        engine_order: { side: 'buy', price: '0.00065', amount: '153000' },
        balance_delta: { usdc: '-99.45', cngn: '+153000' },
      },
    })
  })

  it('shows what was settled, what is pending and what remains apart from each other (ORD-075, ORD-076, ORD-077)', () => {
    const progress = progressOf(order, {
      filled: amountE18(3_000n * 10n ** 18n),
      pending: amountE18(50_000n * 10n ** 18n),
      open: amountE18(100_000n * 10n ** 18n),
    })
    expect(orderRecord(market, order, progress)).to.include({
      filled_amount: '3000',
      pending_amount: '50000',
      open_amount: '100000',
      remaining_amount: '150000',
    })
  })

  it('counts what it inherited apart from its own fills, and averages these alone (MON-030, ORD-076, ORD-086, ORD-087)', () => {
    // 400 of the order before, 600 of its own: 200 at 0.0006 and 400 at 0.00063.
    const replacing = anOrder({
      desiredAmount: amountE18(e18('1600')),
      initialFilled: amountE18(e18('400')),
    })
    const progress = progressOf(replacing, { filled: amountE18(e18('1000')) })
    const sums = {
      amount: amountE18(e18('600')),
      quote: quoteE18(e18('0.372')),
      fee: quoteE18(e18('0.00093')),
      product: e18('200') * e18('0.0006') + e18('400') * e18('0.00063'),
    }
    expect(orderRecord(market, replacing, progress, sums)).to.include({
      desired_amount: '1600',
      inherited_filled_amount: '400',
      filled_amount: '600',
      remaining_amount: '600',
      filled_quote: '0.372',
      average_price: '0.00062',
      fee_paid: '0.00093',
    })
    const unknown = orderRecord(market, replacing, progress)
    expect(unknown).not.to.have.any.keys('filled_quote', 'average_price', 'fee_paid')
  })

  it('is final once it has ended and nothing of it is pending (ORD-088)', () => {
    const finalOf = (status: OrderStatus, pending: bigint) =>
      orderRecord(market, order, progressOf(order, { status, pending: amountE18(pending) })).final
    for (const ended of ['filled', 'cancelled', 'expired'] as const) {
      expect([finalOf(ended, 0n), finalOf(ended, 1n)], ended).to.deep.equal([true, false])
    }
    for (const living of ['active', 'matching'] as const) {
      expect([finalOf(living, 0n), finalOf(living, 1n)], living).to.deep.equal([false, false])
    }
  })

  it('echoes a sent intent and the warnings (ORD-061)', () => {
    const uiIntent = { side: 'sell', price: '1538.460', size: '99.45' } as const
    const warnings = ['worst_fee_below_taker_schedule']
    const sent = anOrder({ uiIntent, warnings })
    const record = orderRecord(market, sent, progressOf(sent))
    expect(record).to.have.nested.property('spot_contract.ui_intent').that.deep.equals(uiIntent)
    expect(record.warnings).to.deep.equal(warnings)
  })

  it('echoes no more of a sent intent than stands (ORD-061)', () => {
    const uiIntent = { side: 'sell', price: '1538.460', size: '99.45' } as const
    const half = amountE18(76_500n * 10n ** 18n)
    const reduced = { desiredAmount: half, signedDesiredAmount: order.desiredAmount }
    const slid = { signedLimitPrice: priceE18(10n ** 18n) }
    for (const [of, over, intent] of [
      [market, reduced, { ...uiIntent, size: '49.725' }],
      [market, slid, { ...uiIntent, price: '1538.4615384615' }],
      [aPerp(), reduced, { ...uiIntent, size: '76500' }],
      [aPerp(), slid, { side: 'buy', price: '0.00065', size: '153000' }],
    ] as const) {
      const record = orderRecord(of, anOrder({ uiIntent, ...over }), progressOf(order))
      expect(record).to.have.nested.property('spot_contract.ui_intent').that.deep.equals(intent)
    }
  })

  it('states time in force, post-only and the signed limit where they are not as usual (MAT-032)', () => {
    const progress = progressOf(order)
    const booked = { postOnly: 'slide', signedLimitPrice: priceE18(10n ** 18n) } as const
    expect(orderRecord(market, { ...order, ...booked }, progress)).to.include({
      post_only: 'slide',
      signed_limit_price: '1',
    })
    const immediate = orderRecord(market, { ...order, timeInForce: 'FOK' }, progress)
    expect(immediate).to.include({ time_in_force: 'FOK' })
    expect(immediate).not.to.have.any.keys('post_only', 'signed_limit_price', 'stp', 'stp_scope')
    const own = { stp: 'cancel_oldest', stpScope: 'owner' } as const
    expect(orderRecord(market, { ...order, ...own }, progress)).to.include({
      stp: 'cancel_oldest',
      stp_scope: 'owner',
    })
  })

  it('states its lease, the amount that was signed and what it replaces (CAN-037)', () => {
    const replacing = {
      leaseId: 'lease "1"',
      replaces: 'order "0"',
      signedDesiredAmount: amountE18(160_000n * 10n ** 18n),
    }
    const record = orderRecord(market, { ...order, ...replacing }, progressOf(order))
    expect(record).to.include({
      lease_id: 'lease "1"',
      replaces_order_id: 'order "0"',
      signed_desired_amount: '160000',
      desired_amount: '153000',
    })
    const usual = orderRecord(market, order, progressOf(order))
    expect(usual).not.to.have.any.keys('lease_id', 'replaces_order_id', 'signed_desired_amount')
  })

  it('carries reason and time of a cancel', () => {
    const progress = progressOf(order, {
      status: 'cancelled',
      cancelReason: 'unspecified',
      cancelledAtMs: 1_760_000_001_000,
    })
    expect(orderRecord(market, order, progress)).to.include({
      cancel_reason: 'unspecified',
      cancelled_at: '2025-10-09T08:53:21.000Z',
    })
  })

  it('has no spot_contract on a market without an order entry spec', () => {
    expect(orderRecord(aFuture(), order, progressOf(order))).not.to.have.property('spot_contract')
  })

  it('says when it changed last and why it is held, and its reason once (ORD-080)', () => {
    const createdAtMs = 1_760_000_000_123
    const changed = { createdAtMs, updatedAtMs: createdAtMs + 1_000 }
    const held = progressOf(order, { ...changed, heldReason: 'insufficient_balance' })
    expect(orderRecord(market, order, held)).to.include({
      created_at: '2025-10-09T08:53:20.123Z',
      updated_at: '2025-10-09T08:53:21.123Z',
      held_reason: 'insufficient_balance',
    })
    const ended = progressOf(order, { status: 'cancelled', cancelReason: 'own wish' })
    expect(
      orderLookupJson(market, { order, progress: ended }).split('"cancel_reason"'),
    ).to.have.length(3)
    expect(orderLookup(market, order, ended)).to.include({ cancel_reason: 'own wish' })
  })

  it('is looked up flat and once more as order, with an empty reason when there is none (ORD-078)', () => {
    const record = orderRecord(market, order, progressOf(order))
    expect(orderLookup(market, order, progressOf(order))).to.deep.equal({
      ...record,
      cancel_reason: '',
      order: record,
    })
  })
})

describe('book record', () => {
  const open = (orderId: string, side: 'buy' | 'sell', terms: [price: bigint, rank: number]) => {
    const order = anOrder({ orderId, side, limitPrice: priceE18(terms[0]) })
    return { order, progress: progressOf(order), rank: terms[1] }
  }
  const orders = [
    open('bid-low', 'buy', [10n, 1]),
    open('ask-high', 'sell', [40n, 2]),
    open('bid-high-late', 'buy', [20n, 9]),
    open('ask-low-late', 'sell', [30n, 8]),
    open('bid-high-early', 'buy', [20n, 3]),
    open('ask-low-early', 'sell', [30n, 4]),
  ]
  const ids = (records: readonly { order_id: string }[]) => records.map((each) => each.order_id)

  it('sorts bids high to low, asks low to high, then by time (REA-011)', () => {
    const book = shownBook(market, orders, {})
    expect(ids(book.bids)).to.deep.equal(['bid-high-early', 'bid-high-late', 'bid-low'])
    expect(ids(book.asks)).to.deep.equal(['ask-low-early', 'ask-low-late', 'ask-high'])
  })

  it('trims each side to the depth and presents the market (REA-012)', () => {
    const book = shownBook(market, orders, { depth: 1, lastTradeSec: 5 })
    expect(ids(book.bids)).to.deep.equal(['bid-high-early'])
    expect(ids(book.asks)).to.deep.equal(['ask-low-early'])
    expect(book.market_presentation).to.deep.equal(marketEntry(market, { lastTradeSec: 5 }))
  })
})

describe('candles page', () => {
  it('presents each bucket with its start, its prices and both volumes', () => {
    const e17 = (units: bigint) => units * 10n ** 17n
    const candle = {
      startSec: 1_760_000_100,
      open: priceE18(e17(4n)),
      close: priceE18(e17(5n)),
      high: priceE18(e17(6n)),
      low: priceE18(e17(3n)),
      volume: amountE18(e17(20n)),
      quoteVolume: quoteE18(e17(10n)),
      tradeCount: 7,
    }
    expect(candlesPage(market, [candle], { interval: '5m', lastTradeSec: 5 })).to.deep.equal({
      market_presentation: marketEntry(market, { lastTradeSec: 5 }),
      interval: '5m',
      candles: [
        {
          bucket_start: '2025-10-09T08:55:00.000Z',
          open: '0.4',
          high: '0.6',
          low: '0.3',
          close: '0.5',
          volume: '2',
          quote_volume: '1',
          trade_count: 7,
        },
      ],
    })
  })
})
