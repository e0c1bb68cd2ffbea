import { expect } from 'chai'
import { E18, amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { tradeUpdate } from '../../../core/records/frames.js'
import { fillRecord, tradeRecord } from '../../../core/records/trade-record.js'
import { aFill, aFuture } from '../../support/builders.js'

/** Two contracts at 1,495, which the chain booked at 1,500. */
const market = aFuture()
const fill = aFill({
  price: priceE18(1_495n * E18),
  amount: amountE18(2_000n * E18),
  takerFee: quoteE18(5n * E18),
  fee: quoteE18(5n * E18),
  markPrice: priceE18(1_500n * E18),
})

describe('records of a future', () => {
  it('state the mark of a trade, on REST and on the socket', () => {
    const trade = { fill, seq: 5, atMs: 0 }
    const stated = { price: '1495', size: '2000', mark_price: '1500' }
    expect(tradeRecord(market, trade)).to.include(stated)
    expect(tradeRecord(market, trade)).not.to.have.property('spot_contract')
    expect(tradeUpdate(market, trade, 0).data).to.include(stated)
  })

  it('state mark and variation margin of an own fill, and neither where the mark is unknown', () => {
    const { markPrice, ...unmarked } = fill
    const own = { ...unmarked, orderId: 'order-1', atMs: 0 }
    const record = fillRecord(market, { ...own, side: 'sell', ...(markPrice && { markPrice }) })
    expect(record).to.include({ fee: '5', mark_price: '1500', vm_cngn: '-10000' })
    const unknown = fillRecord(market, { ...own, side: 'sell' })
    expect(unknown).to.not.have.any.keys('mark_price', 'vm_cngn', 'spot_contract')
  })
})
