import { expect } from 'chai'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { bookUpdate, ordersUpdate, tradesUpdate } from '../../../core/records/frames.js'
import { orderRecordJson } from '../../../core/records/order-record.js'
import { fillRecord, tradeRecord } from '../../../core/records/trade-record.js'
import { OrderRecord } from '../../../interface/order.js'
import { FillRecord, TradeRecord } from '../../../interface/trade.js'
import { aFill, anOrder, aPerp, progressOf } from '../../support/builders.js'
import { isoTime } from '../../../core/time.js'
import { aChange } from '../../support/changes.js'
import { e18 } from '../../support/perpetual.js'

const market = aPerp()
const name = market.market
const order = anOrder({ market: name, side: 'sell', desiredAmount: amountE18(e18('1000')) })
const instrument = { market: 'cNGN-PERP', asset_address: market.assetAddress, sub_id: '0' }
const ofMarket = {
  ...instrument,
  contract_type: 'perpetual',
  settlement_type: 'cash_settled_perpetual',
}
/** A short of 1,000 cNGN at 0.00065, in both languages the same. */
const short = {
  spec: 'cngn_usdc_perp_v1',
  ui_intent: { side: 'sell', price: '0.00065', size: '1000' },
  engine_order: { side: 'sell', price: '0.00065', amount: '1000' },
  balance_delta: { usdc: '+0.65', cngn: '-1000' },
}
const fill = aFill({ settlementId: 'cNGN-PERP:2', tradeId: 3 * 65_536 + 1, takerSide: 'sell' })

describe('records of a perpetual', () => {
  const shown = (text: string) => {
    const record = JSON.parse(text) as Record<string, unknown>
    OrderRecord.strict().parse(record)
    return record
  }

  it('are an order in engine terms and in trader terms, which are the same (PER-048)', () => {
    const record = shown(orderRecordJson(market, { order, progress: progressOf(order) }))
    expect(record).to.deep.include({
      ...ofMarket,
      base_asset_symbol: 'cNGN',
      quote_asset_symbol: 'USDC',
      display_name: 'cNGN-PERP',
      display_label: 'USDC per cNGN',
      side: 'sell',
      desired_amount: '1000',
      limit_price: '0.00065',
      spot_contract: short,
    })
    expect(record).not.to.have.property('reduce_only')
    const sent = { side: 'sell', price: '0.000650', size: '1000.0' } as const
    const entered = shown(
      orderRecordJson(market, { order: { ...order, uiIntent: sent }, progress: progressOf(order) }),
    )
    expect(entered.spot_contract).to.deep.equal({ ...short, ui_intent: sent })
  })

  it('say that an order only reduces', () => {
    const reducing = { ...order, reduceOnly: true as const }
    expect(
      shown(orderRecordJson(market, { order: reducing, progress: progressOf(order) })),
    ).to.include({
      reduce_only: true,
    })
  })

  it('are the exposure of an order’s fills, in its history', () => {
    const amount = amountE18(e18('1000'))
    const sums = { amount, quote: quoteE18(e18('0.65')), product: 0n, fee: quoteE18(0n) }
    const stored = { order, progress: progressOf(order, { filled: amount }), sums }
    expect(shown(orderRecordJson(market, stored)).filled_quote).to.equal('0.65')
  })

  it('are a trade on the taker’s side', () => {
    const record = tradeRecord(market, { fill, seq: 3, atMs: 1_760_000_000_123 })
    expect(TradeRecord.strict().parse(record)).to.deep.equal({
      ...ofMarket,
      trade_id: 196_609,
      price: '0.00065',
      size: '1000',
      aggressor_side: 'sell',
      taker_order_id: 'taker-1',
      maker_order_id: 'maker-1',
      spot_contract: short,
      created_at: '2025-10-09T08:53:20.123Z',
      tx_hash: fill.txHash,
    })
  })

  it('are a fill on the owner’s side, with the fee in cash', () => {
    const own = {
      tradeId: 196_609,
      orderId: 'maker-1',
      liquidity: 'maker' as const,
      side: 'buy' as const,
      price: fill.price,
      amount: fill.amount,
      fee: quoteE18(0n),
      atMs: 1_760_000_000_123,
      txHash: fill.txHash,
    }
    const shared = {
      ...instrument,
      trade_id: 196_609,
      price: '0.00065',
      size: '1000',
      display_name: 'cNGN-PERP',
      tx_hash: fill.txHash,
      created_at: '2025-10-09T08:53:20.123Z',
    }
    expect(FillRecord.strict().parse(fillRecord(market, own))).to.deep.equal({
      ...shared,
      order_id: 'maker-1',
      liquidity: 'maker',
      side: 'buy',
      fee: '0',
      spot_contract: {
        spec: 'cngn_usdc_perp_v1',
        ui_intent: { side: 'buy', price: '0.00065', size: '1000' },
        engine_order: { side: 'buy', price: '0.00065', amount: '1000' },
        balance_delta: { usdc: '-0.65', cngn: '+1000' },
      },
    })
    const taken = {
      ...own,
      liquidity: 'taker' as const,
      side: 'sell' as const,
      fee: fill.fee,
    }
    const record = fillRecord(market, taken)
    expect(record).to.deep.include({ liquidity: 'taker', fee: '0.001625', spot_contract: short })
    expect(record).not.to.have.any.keys('mark_price', 'vm_cngn')
  })

  it('are frames with prices in ticks of the market', () => {
    const placed = { kind: 'OrderPlaced', order, rank: 1 } as const
    const change = {
      ...aChange(1, order, placed, { open: 1_000n }),
      openDelta: e18('1000'),
    }
    const terms = { side: 'sell', limit_price: '0.00065', price_ticks: '650000000000000' }
    expect(bookUpdate(market, change).data).to.deep.equal({
      ...terms,
      size_delta: '1000',
      order_open: '1000',
      order_id: 'order-1',
    })
    expect(ordersUpdate(market, change, { stand: undefined, ownerSeq: 0 })).to.deep.include({
      market: 'cNGN-PERP',
      channel: 'orders',
      seq: 1,
      prev_seq: 0,
      data: {
        ...terms,
        order_id: 'order-1',
        status: 'active',
        final: false,
        filled_amount: '0',
        pending_amount: '0',
        desired_amount: '1000',
        updated_at: isoTime(change.atMs),
      },
    })
    const filled = aChange(3, order, { kind: 'OrderFilled', fill }, { filled: 1_000n })
    const trade = tradesUpdate(market, { ...filled, limitPrice: priceE18(1n) }, 0)
    expect(trade?.data).to.deep.include({
      trade_id: 196_609,
      price: '0.00065',
      size: '1000',
      aggressor_side: 'sell',
      taker_order_id: 'taker-1',
      maker_order_id: 'maker-1',
    })
  })
})
