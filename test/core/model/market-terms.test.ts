import { expect } from 'chai'
import { createMarketList } from '../../../core/entry/find-market.js'
import { describeRules, openingOf } from '../../../core/model/market-terms.js'
import { OPEN } from '../../../core/model/market.js'
import { E18, quoteE18 } from '../../../core/money.js'
import { aFuture, aMarket } from '../../support/builders.js'

describe('a market as it opens', () => {
  it('names its rules in one line', () => {
    const limited = openingOf(aMarket({ minNotional: quoteE18(2n * E18), openOrderLimit: 3 }))
    expect(describeRules(limited.rules)).to.equal(
      'taker_fee_bps=25 tick_size=0.000000000000000001 min_size=0.000001 min_notional=2 open_order_limit=3',
    )
    expect(describeRules(openingOf(aFuture()).rules)).to.equal(
      'taker_fee_bps=25 tick_size=0.000000000000000001 min_size=1 amount_step=1',
    )
  })
})

describe('the markets of a process', () => {
  it('stand in one array, each as its feed stated it, also when its row comes later', () => {
    const list = createMarketList([aMarket()])
    const { markets } = list
    const standing = { status: 'paused', reason: 'maintenance' } as const
    const terms = { ...openingOf(aMarket({ takerFeeBps: 30, enabled: false })), standing }
    list.state('cNGN-USDC', terms)
    expect(markets).to.have.length(1)
    expect(markets[0]).to.deep.include({ takerFeeBps: 30, enabled: false, standing })
    const limited = { ...terms, rules: { ...terms.rules, openOrderLimit: 3 } }
    list.state('cNGN-USDC', limited)
    expect(markets[0]?.openOrderLimit).to.equal(3)
    list.state('cNGN-USDC', terms)
    expect(markets[0]?.openOrderLimit).to.equal(undefined)
    list.add(aMarket({ aliases: ['NEW'] }))
    expect(markets[0]).to.deep.include({ takerFeeBps: 30, aliases: ['NEW'] })
    list.add(aFuture())
    expect(markets.map(({ market }) => market)).to.deep.equal(['cNGN-USDC', aFuture().market])
  })
  it('take what their own feed stated, also when it did before their row came', () => {
    const list = createMarketList([aMarket()])
    const future = aFuture()
    list.state(future.market, { ...openingOf(aFuture({ takerFeeBps: 31 })), standing: OPEN })
    expect(list.markets).to.deep.equal([aMarket()])
    list.add(future)
    expect(list.markets.map(({ takerFeeBps }) => takerFeeBps)).to.deep.equal([25, 31])
    list.state(future.market, { ...openingOf(aFuture({ takerFeeBps: 32 })), standing: OPEN })
    expect(list.markets.map(({ takerFeeBps }) => takerFeeBps)).to.deep.equal([25, 32])
  })
})
