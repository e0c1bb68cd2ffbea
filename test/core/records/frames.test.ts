import { expect } from 'chai'
import type { LegEvent } from '../../../core/model/match.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import {
  bookUpdate,
  fillEventRecord,
  fillsUpdate,
  ordersUpdate,
  tradesUpdate,
} from '../../../core/records/frames.js'
import { pendingMatch } from '../../../core/records/order-record.js'
import { aFill, aFuture, aMarket, anOrder } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'
import { e18 } from '../../support/perpetual.js'

const market = aMarket()
const AT = '2025-10-09T08:53:20.123Z'
const atMs = Date.parse(AT)

describe('update frames', () => {
  const order = anOrder({ orderId: 'taker-1' })
  const taken = aChange(...([9, order, { kind: 'OrderFilled', fill: aFill() }] as const), {
    atMs,
    filled: 1_000n,
    pending: 2n,
    open: 150_000n,
  })
  const onMarket = { type: 'update', market: 'cNGN-USDC', seq: 9, ts: AT }

  it('of orders follow the owner’s last, of the book the last change, of trades the last trade (STR-005)', () => {
    expect(ordersUpdate(market, taken, { stand: undefined, ownerSeq: 4 })).to.deep.include({
      ...onMarket,
      channel: 'orders',
      prev_seq: 4,
    })
    expect(bookUpdate(market, taken)).to.deep.include({
      ...onMarket,
      channel: 'book',
      prev_seq: 8,
    })
    expect(tradesUpdate(market, taken, 3)).to.deep.equal({
      ...onMarket,
      channel: 'trades',
      prev_seq: 3,
      data: {
        trade_id: 768,
        price: '0.00065',
        size: '1000',
        aggressor_side: 'buy',
        taker_order_id: 'taker-1',
        maker_order_id: 'maker-1',
        created_at: AT,
      },
    })
  })

  it('of orders show how the change leaves the order, its own fills apart from what it inherited', () => {
    const stand = {
      subaccountId: 7n,
      initialFilled: amountE18(e18('400')),
      cancelReason: 'own wish',
      wasMatched: true,
      sums: {
        amount: amountE18(e18('600')),
        quote: quoteE18(e18('0.39')),
        product: e18('600') * e18('0.00065'),
        fee: quoteE18(5n),
      },
    }
    const cancelled = { ...taken, status: 'cancelled', open: amountE18(0n) } as const
    expect(ordersUpdate(market, cancelled, { stand, ownerSeq: 4 }).data).to.deep.include({
      order_id: 'taker-1',
      status: 'cancelled',
      final: false,
      pending_amount: '2',
      filled_amount: '600',
      inherited_filled_amount: '400',
      subaccount_id: '7',
      cancel_reason: 'own wish',
      updated_at: AT,
      filled_quote: '0.39',
      average_price: '0.00065',
      fee_paid: '0.000000000000000005',
    })
    const settled = { ...cancelled, pending: amountE18(0n) }
    expect(ordersUpdate(market, settled, { stand, ownerSeq: 4 }).data.final).to.equal(true)
  })

  it('count prices in ticks of the market (STR-014)', () => {
    const coarse = aMarket({ tickSize: priceE18(e18('0.00005')) })
    expect(bookUpdate(coarse, taken).data.price_ticks).to.equal('13')
    expect(
      ordersUpdate(coarse, taken, { stand: undefined, ownerSeq: 0 }).data.price_ticks,
    ).to.equal('13')
  })

  it('of trades are there for the taker’s leg alone', () => {
    const made = aFill({ liquidity: 'maker', fee: quoteE18(0n) })
    const maker = aChange(8, order, { kind: 'OrderFilled', fill: made })
    const expired = aChange(8, order, { kind: 'OrderExpired' }, { status: 'expired' })
    expect(tradesUpdate(market, maker, 0)).to.equal(undefined)
    expect(tradesUpdate(market, expired, 0)).to.equal(undefined)
  })
})

describe('records of a leg', () => {
  const leg: LegEvent = {
    settlementId: 'cNGN-USDC:2',
    orderId: 'order-1',
    owner: `0x${'aa'.repeat(20)}`,
    subaccountId: 7n,
    status: 'pending',
    liquidity: 'taker',
    side: 'buy',
    atMs,
    price: priceE18(e18('0.00065')),
    amount: amountE18(e18('1000')),
    fee: quoteE18(e18('0.001625')),
    trade: undefined,
    revert: undefined,
  }
  const { tradeId, txHash, blockNumber } = aFill()
  const trade = { tradeId, txHash, blockNumber, markPrice: undefined }
  const pending = {
    settlement_id: 'cNGN-USDC:2',
    order_id: 'order-1',
    subaccount_id: '7',
    status: 'pending',
    liquidity: 'taker',
    side: 'buy',
    created_at: AT,
    price: '0.00065',
    size: '1000',
    fee: '0.001625',
    spot_contract: {
      spec: 'cngn_usdc_spot_v1',
      ui_intent: { side: 'sell', price: '1538.4615384615', size: '0.65' },
      engine_order: { side: 'buy', price: '0.00065', amount: '1000' },
      balance_delta: { usdc: '-0.65', cngn: '+1000' },
    },
  }
  const settled = { trade_id: 768, tx_hash: txHash, block_number: 12 }

  it('state a proposed match without a trade', () => {
    expect(fillEventRecord(market, leg)).to.deep.equal(pending)
  })

  it('state the trade of a settled match, and the reason of one that was reversed', () => {
    expect(fillEventRecord(market, { ...leg, status: 'settled', trade })).to.deep.equal({
      ...pending,
      ...settled,
      status: 'settled',
    })
    const reversed = { ...leg, status: 'reversed', trade, revert: 'not_carried_out' } as const
    expect(fillEventRecord(market, reversed)).to.deep.equal({
      ...pending,
      ...settled,
      status: 'reversed',
      reason: 'not_carried_out',
    })
  })

  it('leave out an account that is not known, and trader terms that the market has not', () => {
    const unknown = fillEventRecord(market, { ...leg, subaccountId: undefined })
    expect(unknown).not.to.have.property('subaccount_id')
    expect(fillEventRecord(aFuture(), leg)).not.to.have.property('spot_contract')
  })

  it('state mark and variation margin of a future, where the mark is known', () => {
    const terms = { price: priceE18(e18('1495')), amount: amountE18(e18('2000')) }
    const markOf = (markPrice: typeof terms.price | undefined) =>
      fillEventRecord(aFuture(), { ...leg, ...terms, trade: { ...trade, markPrice } })
    expect(markOf(priceE18(e18('1500')))).to.include({
      ...settled,
      mark_price: '1500',
      vm_cngn: '10000',
    })
    expect(markOf(undefined)).to.include(settled).and.not.have.any.keys('mark_price', 'vm_cngn')
  })

  it('state no mark on a market whose contract shows none', () => {
    const markPrice = priceE18(e18('1500'))
    const record = fillEventRecord(market, { ...leg, trade: { ...trade, markPrice } })
    expect(record).to.include(settled).and.not.have.any.keys('mark_price', 'vm_cngn')
  })

  it('are numbered by their own channel', () => {
    expect(fillsUpdate(market, leg, { seq: 9, prevSeq: 4 })).to.deep.equal({
      type: 'update',
      channel: 'fills',
      market: 'cNGN-USDC',
      seq: 9,
      prev_seq: 4,
      ts: AT,
      data: pending,
    })
  })

  it('show of a pending match nothing of the order or its account', () => {
    expect(pendingMatch(leg)).to.deep.equal({
      settlement_id: 'cNGN-USDC:2',
      at: AT,
      liquidity: 'taker',
      price: '0.00065',
      size: '1000',
    })
  })
})
