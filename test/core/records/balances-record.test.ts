import { expect } from 'chai'
import { hideFuture } from '../../../core/contracts/future-facts.js'
import { hideFutureFunds } from '../../../core/contracts/future-funds.js'
import type { Claims, FundsFacts } from '../../../core/contracts/funds.js'
import type { Market } from '../../../core/model/market.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import { hidePerpetualFunds } from '../../../core/contracts/perpetual-funds.js'
import type { MarketFacts } from '../../../core/model/observation.js'
import type { Side } from '../../../core/model/order.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { accountBalances } from '../../../core/records/balances-record.js'
import type { AccountBalances } from '../../../interface/balances.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { e18, perpetualFacts } from '../../support/perpetual.js'

const NOW_MS = 1_790_000_020_000

const claim = (side: Side, amount: string, price: string, fee = '0') => ({
  side,
  amount: amountE18(e18(amount)),
  price: priceE18(e18(price)),
  fee: quoteE18(e18(fee)),
})

interface Shown {
  readonly market: Market
  readonly facts?: FundsFacts
  readonly seen?: MarketFacts
  readonly holdings?: Readonly<Record<string, string>>
  readonly claims?: Partial<Claims>
  readonly readAtMs?: number
}

/** One account in one market. */
function show({ market, facts = {}, seen, holdings = {}, claims, readAtMs }: Shown) {
  const observed = seen && {
    facts: seen,
    blockNumber: 9n,
    blockTimeSec: 1_790_000_000,
    readAtMs: NOW_MS,
  }
  return accountBalances(
    {
      subaccountId: 7n,
      manager: market.marginManagerAddress,
      holdings: Object.entries(holdings).map(([asset, balance]) => ({
        asset: asset as Market['assetAddress'],
        subId: 0n,
        balance: e18(balance),
      })),
      markets: [{ market, observed, facts }],
      blockNumber: 9n,
      blockTimeSec: 1_790_000_000,
      readAtMs: readAtMs ?? NOW_MS,
    },
    () => ({ orders: [], matches: [], ...claims }),
    NOW_MS,
  )
}

const tokensOf = ({ tokens }: AccountBalances) =>
  tokens.map((one) => [
    ...[one.token, one.total, one.reserved_by_orders, one.reserved_by_matches, one.available],
  ])

describe('balances record', () => {
  it('reserves base for sells, quote for buys, and the fee of a buying taker (MON-026)', () => {
    const market = aMarket()
    const shown = show({
      market,
      holdings: { [market.assetAddress]: '1000', [market.quoteAssetAddress]: '2.0000005' },
      claims: {
        orders: [claim('sell', '100', '0.001'), claim('buy', '500', '0.001')],
        matches: [claim('sell', '10', '0.001', '0.1'), claim('buy', '50', '0.002', '0.01')],
      },
    })
    expect(tokensOf(shown)).to.deep.equal([
      ['cNGN', '1000', '100', '10', '890'],
      ['USDC', '2.0000005', '0.5', '0.11', '1.3900005'],
    ])
    expect(shown.tokens[1]).to.include({ ui_total: '2', ui_available: '1.39' })
    expect(shown).to.deep.include({
      subaccount_id: '7',
      block_number: 9,
      block_time: '2026-09-21T14:13:20.000Z',
      facts: 'current',
      margin: [],
    })
  })

  it('shows the tokens of several markets once each, in the order of the markets’ names', () => {
    const named = (name: string, pair: string) => ({
      market: aMarket({ market: name, assetAddress: `0x${pair.repeat(20)}` }),
      observed: undefined,
      facts: {},
    })
    const markets = [named('B', 'b0'), named('C', 'c0'), named('A', 'a0')]
    const { tokens } = accountBalances(
      {
        subaccountId: 7n,
        manager: aMarket().marginManagerAddress,
        holdings: [],
        markets,
        blockNumber: 9n,
        blockTimeSec: 1_790_000_000,
        readAtMs: NOW_MS,
      },
      () => ({ orders: [claim('buy', '10', '0.5')], matches: [claim('buy', '10', '0.1')] }),
      NOW_MS,
    )
    expect(
      tokens.map((one) => [one.asset_address.slice(0, 4), one.reserved_by_orders]),
    ).to.deep.equal([
      ['0xa0', '0'],
      ['0xd1', '15'],
      ['0xb0', '0'],
      ['0xc0', '0'],
    ])
    expect(tokens[1]).to.include({ reserved_by_matches: '3' })
  })

  it('shows nothing of a market that is listed alone', () => {
    const listed = aFuture({
      contractType: 'deliverable_fx_future',
      settlementType: 'physical_delivery',
    })
    const shown = show({ market: listed })
    expect(shown).to.deep.include({ tokens: [], margin: [] })
  })

  it('never has less than nothing available, and shows a debt (MON-027)', () => {
    const market = aMarket()
    const shown = show({
      market,
      holdings: { [market.assetAddress]: '-0.0000005' },
      claims: { orders: [claim('sell', '5', '1')] },
    })
    expect(tokensOf(shown)[0]).to.deep.equal(['cNGN', '-0.0000005', '5', '0', '0'])
    expect(shown.tokens[0]?.ui_total).to.equal('-0.000001')
    const whole = show({ market, holdings: { [market.assetAddress]: '-2.000003' } })
    expect(whole.tokens[0]?.ui_total).to.equal('-2.000003')
  })

  it('says when the chain was read too long ago (STR-043)', () => {
    const factsAfter = (ageMs: number) =>
      show({ market: aMarket(), readAtMs: NOW_MS - ageMs }).facts
    expect([factsAfter(15_000), factsAfter(15_001)]).to.deep.equal(['current', 'stale'])
  })

  const perpetual = {
    position: e18('100'),
    cash: e18('50'),
    collateral: 0n,
    unsettled: e18('5'),
    initialSurplus: e18('45'),
    maintenanceSurplus: e18('48.5'),
  }
  const perpetualClaims = {
    orders: [claim('buy', '200', '1'), claim('sell', '50', '1.2')],
    matches: [claim('buy', '100', '1.1', '0.3')],
  }

  it('shows the margin of a perpetual, and what the worse side of its orders would add', () => {
    const market = aPerp()
    const { tokens, margin } = show({
      market,
      facts: hidePerpetualFunds(perpetual),
      seen: hidePerpetual(perpetualFacts()),
      holdings: { [market.quoteAssetAddress]: '50' },
      claims: perpetualClaims,
    })
    expect(tokens.map(({ token, total }) => [token, total])).to.deep.equal([['USDC', '50']])
    expect(margin).to.deep.equal([
      {
        market: market.market,
        position: '100',
        balance: '50',
        collateral_value: '0',
        unrealized_pnl: '5',
        initial_margin: '10',
        maintenance_margin: '6.5',
        initial_margin_surplus: '45',
        maintenance_margin_surplus: '48.5',
        // A position of 200, and 10.3 lost against the mark; then one of 400.
        reserved_by_matches: '20.3',
        reserved_by_orders: '20',
        free: '4.7',
        price_status: 'ok',
        // 100 lose 48.5 more than their maintenance margin falls by, where the price falls by so much.
        liquidation_status: 'ok',
        liquidation_price: '0.481283422459893049',
        liquidation_distance: '0.518716',
      },
    ])
  })

  it('reserves for open orders what they would lose against the mark as well', () => {
    const { margin } = show({
      market: aPerp(),
      facts: hidePerpetualFunds(perpetual),
      seen: hidePerpetual(perpetualFacts()),
      claims: { orders: [claim('buy', '100', '1.2')] },
    })
    expect(margin[0]).to.include({ reserved_by_orders: '30', reserved_by_matches: '0', free: '15' })
  })

  it('leaves empty what has no price', () => {
    const { position, cash, collateral } = perpetual
    const { margin } = show({
      market: aPerp(),
      facts: hidePerpetualFunds({ position, cash, collateral }),
      seen: hidePerpetual(perpetualFacts({ pricesStale: true, mark: priceE18(0n) })),
      claims: perpetualClaims,
    })
    expect(margin[0]).to.include({ balance: '50', position: '100', price_status: 'stale' })
    expect(margin[0]).to.include({ initial_margin: '', free: '', reserved_by_orders: '' })
    // The account alone has none.
    const unvalued = show({
      market: aPerp(),
      facts: hidePerpetualFunds({ position, cash, collateral }),
      seen: hidePerpetual(perpetualFacts()),
    })
    expect(unvalued.margin[0]).to.include({ initial_margin: '10', reserved_by_orders: '0' })
    expect(unvalued.margin[0]).to.include({ free: '', price_status: 'stale' })
  })

  it('shows what a perpetual account has posted, valued as margin while it has a price', () => {
    const market = aPerp()
    const asset = `0x${'c9'.repeat(20)}` as const
    const collateral = {
      asset,
      marginFactor: e18('0.8'),
      initialScale: e18('0.5'),
      depositsOpen: true,
      cap: amountE18(e18('1000')),
      total: amountE18(0n),
    }
    const shown = (posted: string, pricesStale = false) =>
      show({
        market,
        facts: hidePerpetualFunds({ ...perpetual, collateral: e18(posted) }),
        seen: hidePerpetual(perpetualFacts({ collateral, pricesStale })),
        holdings: { [asset]: posted },
      })
    const { tokens, margin } = shown('30')
    expect(tokens.map((one) => [one.token, one.total, one.reserved_by_orders])).to.deep.equal([
      ['USDC', '0', '0'],
      ['cNGN', '30', '0'],
    ])
    expect(margin[0]).to.include({ collateral_value: '12', initial_margin: '10' })
    expect(shown('30', true).margin[0]).to.include({ collateral_value: '', initial_margin: '' })
    expect(shown('0', true).margin[0]).to.include({ collateral_value: '0', initial_margin: '' })
  })

  it('shows the margin of a future, variation margin with it', () => {
    const market = aFuture()
    const account = futureAccount({
      position: e18('2'),
      usdc: e18('1000'),
      cngn: e18('150000'),
    })
    const facts = futureFacts()
    const { tokens, margin } = show({
      market,
      facts: hideFutureFunds({ account, cngnBalance: 0n }),
      seen: hideFuture(facts),
      holdings: { [market.quoteAssetAddress]: '1000' },
      claims: { matches: [claim('sell', '1000', '1500', '2.5')] },
    })
    expect(tokens.map((one) => [one.token, one.total, one.reserved_by_matches])).to.deep.equal([
      ['USDC', '1000', '2.5'],
      ['cNGN', '0', '0'],
    ])
    expect(margin).to.deep.equal([
      {
        market: market.market,
        position: '2000',
        balance: '1000',
        collateral_value: '90',
        unrealized_pnl: '100',
        initial_margin: '200',
        maintenance_margin: '140',
        initial_margin_surplus: '890',
        maintenance_margin_surplus: '955',
        reserved_by_matches: '2.5',
        reserved_by_orders: '0',
        free: '887.5',
        price_status: 'ok',
        liquidation_status: 'ok',
        liquidation_price: '1011.714589989350372737',
        liquidation_distance: '0.325523',
      },
    ])
  })

  describe('of a future beside another series', () => {
    const marginOf = (cngn: string, indexStale = false) => {
      const account = futureAccount({
        position: e18('-2'),
        usdc: e18('1000'),
        cngn: e18(cngn),
        otherSize: e18('1'),
      })
      const { margin } = show({
        market: aFuture(),
        facts: hideFutureFunds({ account, cngnBalance: e18('30000') }),
        seen: hideFuture(futureFacts({ indexStale })),
      })
      return margin[0]
    }

    it('requires margin of both, and counts as variation what is not in the account', () => {
      expect(marginOf('150000')).to.include({
        position: '-2000',
        collateral_value: '90',
        unrealized_pnl: '80',
        initial_margin: '300',
        maintenance_margin: '210',
        initial_margin_surplus: '790',
        maintenance_margin_surplus: '885',
        free: '790',
      })
    })

    it('has no surplus while the index is stale, in cNGN or not', () => {
      expect(marginOf('150000', true)).to.include({
        collateral_value: '',
        unrealized_pnl: '',
        initial_margin: '300',
        initial_margin_surplus: '',
        free: '',
        price_status: 'stale',
      })
      expect(marginOf('0', true)).to.include({
        collateral_value: '0',
        initial_margin_surplus: '',
        maintenance_margin_surplus: '',
        free: '',
        price_status: 'stale',
      })
    })
  })
})
