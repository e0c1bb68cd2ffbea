import { expect } from 'chai'
import {
  describeDifference,
  describeRules,
  differences,
  OPEN,
  openingOf,
} from '../../../core/contracts/market-terms.js'
import { createMarketList } from '../../../core/entry/find-market.js'
import { E18, priceE18, quoteE18 } from '../../../core/money.js'
import { aFuture, aMarket } from '../../support/builders.js'

describe('a row of the market file beside its log', () => {
  const logged = openingOf(aMarket())

  it('agrees when all that the log states is equal, whatever its texts say', () => {
    const worded = aMarket({ aliases: ['X'], orderEntry: { name: 'n', orientation: 'identity' } })
    expect(differences(openingOf(worded), logged)).to.deep.equal([])
  })

  it('differs by field, with both values and the cure', () => {
    const row = aMarket({
      takerFeeBps: 30,
      tickSize: priceE18(E18 / 2n),
      enabled: false,
      ordinal: 4,
    })
    const lines = differences(openingOf(row), logged).map((each) =>
      describeDifference('cNGN-USDC', each),
    )
    expect(lines).to.deep.equal([
      'cNGN-USDC: ordinal is 4 in the market file and 0 in the log: ordinal never changes: put 0 back',
      'cNGN-USDC: taker_fee_bps is 30 in the market file and 25 in the log: run ./venue market set cNGN-USDC taker_fee_bps=30, or put 25 into the file',
      'cNGN-USDC: tick_size is 0.5 in the market file and 0.000000000000000001 in the log: run ./venue market set cNGN-USDC tick_size=0.5, or put 0.000000000000000001 into the file',
      'cNGN-USDC: enabled is false in the market file and true in the log: run ./venue market disable cNGN-USDC, or put true into the file',
    ])
  })

  it('says how a market is enabled that the file has and the log has not', () => {
    const [only, ...more] = differences(logged, { ...logged, enabled: false })
    expect(more).to.deep.equal([])
    expect(only).to.deep.include({ field: 'enabled', file: 'true', log: 'false' })
    expect(only?.cure).to.equal('run ./venue market enable cNGN-USDC, or put false into the file')
  })

  it('names a limit that the file lacks, and how to take it away', () => {
    const limited = openingOf(aMarket({ minNotional: quoteE18(2n * E18), openOrderLimit: 3 }))
    const cures = differences(logged, limited).map(({ field, cure }) => [field, cure])
    expect(cures).to.deep.equal([
      ['min_notional', 'run ./venue market set cNGN-USDC min_notional=0, or put 2 into the file'],
      [
        'open_order_limit',
        'run ./venue market set cNGN-USDC open_order_limit=0, or put 3 into the file',
      ],
    ])
  })

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
