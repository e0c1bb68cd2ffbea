import { expect } from 'chai'
import type { PerpetualAccount, PerpetualFacts } from '../../../core/contracts/perpetual-facts.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import { contractOf, tradingOf } from '../../../core/contracts/registry.js'
import type { AccountFacts, MarketFacts } from '../../../core/model/observation.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { aPerp } from '../../support/builders.js'
import { matcherOrder } from '../../support/matching.js'
import { e18, perpetualAccount, perpetualFacts } from '../../support/perpetual.js'

const market = aPerp()
const trading = tradingOf(market)
const NOW_MS = 1_700_000_000_000

const observed = (facts: Partial<PerpetualFacts> = {}) => ({
  facts: hidePerpetual(perpetualFacts(facts)),
  blockNumber: 7n,
  blockTimeSec: NOW_MS / 1000,
  readAtMs: NOW_MS,
})

const account = (facts: Partial<PerpetualAccount> = {}) => ({
  subaccountId: 1n,
  leaving: false,
  blockNumber: 7n,
  blockTimeSec: NOW_MS / 1000,
  facts: hidePerpetualAccount(perpetualAccount(facts)),
})

describe('the hold of a perpetual', () => {
  const reasonAt = (facts?: Partial<PerpetualFacts>, nowMs = NOW_MS) =>
    trading.holdOf?.(facts && observed(facts), nowMs)?.reason

  it('is open while the market trades, and names what closes it (PER-040)', () => {
    expect(reasonAt({})).to.equal(undefined)
    expect(reasonAt(undefined)).to.equal('market_unread')
    expect(reasonAt({ paused: true, moduleAllowed: false })).to.equal('trading_paused')
    expect(reasonAt({ moduleAllowed: false })).to.equal('trading_disabled')
    expect(reasonAt({ disabled: true })).to.equal('trading_disabled')
    expect(reasonAt({ positionCap: amountE18(0n) })).to.equal('trading_disabled')
    expect(reasonAt({ pricesStale: true })).to.equal('prices_stale')
  })

  it('closes when the head, or the read, is older than ten seconds (PER-041)', () => {
    expect(reasonAt({}, NOW_MS + 10_000)).to.equal(undefined)
    expect(reasonAt({}, NOW_MS + 10_001)).to.equal('chain_stale')
    const slow = { ...observed(), blockTimeSec: NOW_MS / 1000 + 60 }
    expect(trading.holdOf?.(slow, NOW_MS + 10_001)?.reason).to.equal('chain_stale')
  })
})

describe('admission to a perpetual', () => {
  interface Asked {
    readonly order?: Partial<Order>
    readonly account?: Partial<PerpetualAccount> | 'unread' | 'unvalued'
    readonly market?: Partial<PerpetualFacts> | 'unread'
  }
  const accountOf = (asked: Asked['account']) => {
    if (asked === 'unread') return undefined
    if (asked !== 'unvalued') return account(asked)
    const { inAuction, position, cash, collateral } = perpetualAccount()
    return { ...account(), facts: hidePerpetualAccount({ inAuction, position, cash, collateral }) }
  }
  function refusalOf(asked: Asked): string | undefined {
    const order = matcherOrder({
      orderId: 'o',
      side: 'buy',
      limitPrice: priceE18(E18),
      desiredAmount: amountE18(e18('100')),
      ...asked.order,
    })
    const admitted = {
      market,
      order,
      account: accountOf(asked.account),
      observed: asked.market === 'unread' ? undefined : observed(asked.market),
    }
    for (const check of trading.admission ?? []) {
      const refusal = check(admitted)
      if (refusal !== undefined) return `${refusal.status} ${refusal.code}`
    }
    return undefined
  }

  it('takes an order whose margin carries all of it at its limit, its fee included (PER-012)', () => {
    expect(refusalOf({ account: { cash: e18('10.25') } })).to.equal(undefined)
    expect(refusalOf({ account: { cash: e18('10.249999') } })).to.equal('400 insufficient_margin')
    const filled = { initialFilled: amountE18(e18('90')) }
    expect(refusalOf({ order: filled, account: { cash: e18('1.025') } })).to.equal(undefined)
  })

  it('refuses while the market is paused, whatever else is wrong (PER-010)', () => {
    expect(refusalOf({ market: { paused: true }, account: 'unread' })).to.equal(
      '400 trading_paused',
    )
  })

  it('takes orders that rest while the market does not trade (PER-015)', () => {
    expect(refusalOf({ market: { disabled: true } })).to.equal(undefined)
  })

  it('answers 500 when it cannot know (PER-011)', () => {
    expect(refusalOf({ market: 'unread' })).to.equal('500 market_unreadable')
    expect(refusalOf({ account: 'unread' })).to.equal('500 margin_unreadable')
    expect(refusalOf({ account: 'unvalued' })).to.equal('500 margin_unreadable')
    expect(refusalOf({ market: { pricesStale: true } })).to.equal('500 margin_unreadable')
    expect(refusalOf({ order: { reduceOnly: true }, account: 'unread' })).to.equal(
      '500 position_unreadable',
    )
  })

  it('takes a pure reduction at any margin, and reduce-only orders of the other side alone (PER-014)', () => {
    const short = { position: e18('-100'), cash: e18('-1') }
    expect(refusalOf({ account: short })).to.equal(undefined)
    expect(refusalOf({ account: short, market: { pricesStale: true } })).to.equal(undefined)
    const reduceOnly = { reduceOnly: true } as const
    // The order asks for more than the position; what exceeds it is never matched.
    const poor = { position: e18('-1'), cash: e18('-1') }
    expect(refusalOf({ order: reduceOnly, account: poor })).to.equal(undefined)
    expect(refusalOf({ order: reduceOnly, account: { position: e18('-1') } })).to.equal(undefined)
    expect(refusalOf({ order: reduceOnly })).to.equal('400 reduce_only_no_position')
    expect(refusalOf({ order: reduceOnly, account: { position: E18 } })).to.equal(
      '400 reduce_only_same_side',
    )
  })
})

it('an order of a perpetual that the chain refuses ends with what the chain names', () => {
  expect(trading.cancelReason('SRM_NoNegativeCash')).to.equal('insufficient_margin')
  expect(trading.cancelReason('OV_InvalidSignature')).to.equal('signature_revoked')
  expect(trading.cancelReason('TM_FeeTooHigh')).to.equal('fee_bound_too_low')
  expect(trading.cancelReason('SRM_Other')).to.equal('settlement_refused')
})

describe('the entry of a perpetual', () => {
  const perpOf = (facts: Partial<PerpetualFacts>) =>
    contractOf(market).present.marketEntry(market, observed(facts)).perp

  it('shows what the chain shows, field by field (PER-003, PER-006, PER-007)', () => {
    const shown = perpOf({
      mark: priceE18(e18('0.00065')),
      index: priceE18(e18('0.000649999999999')),
      fundingRate: e18('-0.0025125'),
      openInterest: amountE18(e18('1760000')),
      totalPosition: amountE18(e18('3520000')),
      positionCap: amountE18(e18('10000001')),
      initialRate: e18('0.15'),
      collateral: {
        asset: `0x${'c'.repeat(40)}`,
        marginFactor: e18('0.8'),
        initialScale: e18('0.9'),
        cap: amountE18(e18('500')),
        total: amountE18(e18('20.5')),
        depositsOpen: true,
      },
    })
    expect(shown).to.deep.equal({
      mark_price: '0.00065',
      index_price: '0.000649999999999',
      mark_price_ui: '0.00065',
      index_price_ui: '0.00065',
      price_status: 'ok',
      funding_rate_1h: '-0.0025125',
      ui_long_funding_rate_1h: '-0.0025125',
      funding_interval_seconds: 3600,
      open_interest: '1760000',
      open_interest_usd: '1143.999999',
      open_interest_cap: '5000000.5',
      total_position: '3520000',
      position_cap: '10000001',
      initial_margin_rate: '0.15',
      maintenance_margin_rate: '0.065',
      max_leverage: '6.66',
      trading_enabled: true,
      paused: false,
      trade_module_address: market.tradeModuleAddress,
      quote_asset_address: market.quoteAssetAddress,
      margin_manager_address: market.marginManagerAddress,
      collateral_assets: [
        {
          symbol: market.presentation.baseAssetSymbol,
          asset_address: `0x${'c'.repeat(40)}`,
          margin_factor: '0.8',
          im_scale: '0.9',
          cap: '500',
          total: '20.5',
          deposits_open: true,
        },
      ],
      updated_at: NOW_MS / 1000,
    })
  })

  it('says when prices are stale, and has no leverage without a rate (PER-005, PER-006)', () => {
    const zero = priceE18(0n)
    expect(perpOf({ mark: zero, index: zero, pricesStale: true, initialRate: 0n })).to.deep.include(
      {
        mark_price: '0',
        index_price: '0',
        mark_price_ui: '',
        index_price_ui: '',
        price_status: 'stale',
        open_interest_usd: '0',
        max_leverage: '',
      },
    )
    expect(contractOf(market).present.marketEntry(market)).to.deep.equal({})
  })
})

describe('the facts of a perpetual', () => {
  it('are read as they were written', () => {
    const { marketFacts, accountFacts } = trading.wire
    const facts: MarketFacts = observed({ fundingRate: -5n }).facts
    expect(marketFacts.read(JSON.parse(marketFacts.write(facts)), 'facts')).to.deep.equal(facts)
    for (const known of [account({ position: -7n }), account()]) {
      const { facts: read }: { facts: AccountFacts } = known
      expect(accountFacts.read(JSON.parse(accountFacts.write(read)), 'facts')).to.deep.equal(read)
    }
  })
})
