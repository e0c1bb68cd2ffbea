import { expect } from 'chai'
import type { PositionEntry } from '../../../core/contracts/contract.js'
import { hidePerpetual, type PerpetualFacts } from '../../../core/contracts/perpetual-facts.js'
import {
  hidePosition,
  perpetualPositions,
  type PerpetualPosition,
} from '../../../core/contracts/perpetual-position.js'
import { amountE18, priceE18 } from '../../../core/money.js'
import { MarginAccount, PositionRecord } from '../../../interface/position.js'
import { aPerp } from '../../support/builders.js'
import { e18, perpetualFacts } from '../../support/perpetual.js'

const escrow = `0x${'c1'.repeat(20)}` as const
const market = aPerp()

const collateral = {
  asset: escrow,
  marginFactor: e18('0.8'),
  initialScale: e18('0.9'),
  depositsOpen: true,
  cap: amountE18(e18('1000000000')),
  total: amountE18(0n),
}

const at = (mark: string, more: Partial<PerpetualFacts> = {}): PerpetualFacts =>
  perpetualFacts({ mark: priceE18(e18(mark)), index: priceE18(e18(mark)), ...more })

const show = (facts: PerpetualFacts, own: PerpetualPosition, entry?: PositionEntry) => {
  const shown = perpetualPositions({
    market,
    subaccountId: 7n,
    facts: hidePosition(own),
    entry,
    observed: { facts: hidePerpetual(facts), blockNumber: 1n, blockTimeSec: 1, readAtMs: 1_000 },
  })
  MarginAccount.strict().parse(shown.account)
  if (shown.position !== undefined) PositionRecord.strict().parse(shown.position)
  return shown
}

/** 100 USDC and long by a million, entered at 0.00065. */
const long: PerpetualPosition = {
  position: e18('1000000'),
  cash: e18('100'),
  collateral: 0n,
  unsettled: 0n,
  initialSurplus: e18('35'),
  maintenanceSurplus: e18('57.75'),
}

describe('positions of a perpetual', () => {
  it('show a long and its account', () => {
    const shared = {
      market: 'cNGN-PERP',
      subaccount_id: '7',
      initial_margin_surplus: '35',
      maintenance_margin_surplus: '57.75',
    }
    expect(show(at('0.00065'), long)).to.deep.equal({
      position: {
        ...shared,
        liquidation_status: 'ok',
        liquidation_distance: '0.095022',
        liquidation_price: '0.000588235294117648',
        ui_side: 'long',
        engine_position: '1000000',
        ui_size: '1000000',
        ui_notional_usdc: '650',
        mark_price_ui: '0.00065',
        index_price_ui: '0.00065',
        price_status: 'ok',
        unrealized_pnl: '0',
        liquidation_price_ui: '0.0005882353',
      },
      account: { ...shared, cash: '100', collateral: [] },
    })
  })

  it('show a short at 1x, and no liquidation price of a long at 1x (PER-043)', () => {
    const short = { ...long, position: e18('-1000000'), cash: e18('650') }
    const surplus = e18('607.75')
    const { position } = show(at('0.00065'), { ...short, maintenanceSurplus: surplus })
    expect(position).to.deep.include({
      ui_side: 'short',
      engine_position: '-1000000',
      ui_size: '1000000',
      liquidation_price_ui: '0.0012206573',
    })
    const safe = { ...long, cash: e18('650'), maintenanceSurplus: surplus }
    expect(show(at('0.00065'), safe).position).not.to.have.property('liquidation_price_ui')
  })

  it('take the profit and both surpluses from the chain, negative ones too (PER-044)', () => {
    const { position, account } = show(at('0.0006'), {
      position: e18('1000000'),
      cash: e18('100'),
      collateral: 0n,
      unsettled: e18('-50'),
      initialSurplus: e18('-10'),
      maintenanceSurplus: e18('11'),
    })
    const surpluses = { initial_margin_surplus: '-10', maintenance_margin_surplus: '11' }
    expect(position).to.deep.include({ ...surpluses, unrealized_pnl: '-50' })
    expect(account).to.deep.include({ ...surpluses, cash: '100' })
  })

  it('value collateral at the index, and its margin with the factor alone (PER-046)', () => {
    const facts = at('0.00063', { collateral, index: priceE18(e18('0.0006')) })
    const posted = { ...long, collateral: e18('1000000') }
    expect(show(facts, posted).account.collateral).to.deep.equal([
      {
        symbol: market.presentation.baseAssetSymbol,
        asset_address: escrow,
        balance: '1000000',
        value_usd: '600',
        margin_value_usd: '480',
      },
    ])
    expect(show(facts, long).account.collateral).to.deep.equal([
      {
        symbol: market.presentation.baseAssetSymbol,
        asset_address: escrow,
        balance: '0',
        value_usd: '0',
        margin_value_usd: '0',
      },
    ])
  })

  it('are no position where there is none', () => {
    expect(show(at('0.00065'), { ...long, position: 0n })).to.have.all.keys('account')
  })

  it('show sizes and cash while prices are stale, and empty text for what needs one (PER-047)', () => {
    const stale = perpetualFacts({
      mark: priceE18(0n),
      index: priceE18(0n),
      pricesStale: true,
      collateral,
    })
    const { position: size, cash } = long
    const { position, account } = show(stale, { position: size, cash, collateral: e18('5') })
    const surpluses = { initial_margin_surplus: '', maintenance_margin_surplus: '' }
    expect(position).to.deep.equal({
      market: 'cNGN-PERP',
      subaccount_id: '7',
      ui_side: 'long',
      ui_size: '1000000',
      engine_position: '1000000',
      ui_notional_usdc: '',
      mark_price_ui: '',
      index_price_ui: '',
      price_status: 'stale',
      unrealized_pnl: '',
      ...surpluses,
      liquidation_status: 'stale',
      liquidation_price: '',
      liquidation_distance: '',
    })
    expect(account).to.deep.include({ ...surpluses, cash: '100' })
    expect(account.collateral[0]).to.include({ balance: '5', value_usd: '', margin_value_usd: '' })
  })

  it('show the entry while the venue’s fills add up to the chain’s position (PER-045)', () => {
    const cost = e18('1000000') * e18('0.0006')
    const entered = show(at('0.00065'), long, { size: e18('1000000'), cost }).position
    expect(entered).to.include({ entry_price: '0.0006', pnl_since_entry: '50' })
    for (const entry of [
      { size: e18('999999'), cost },
      { size: e18('1000000'), cost: undefined },
    ]) {
      const { position } = show(at('0.00065'), long, entry)
      expect(position).not.to.have.any.keys('entry_price', 'pnl_since_entry')
    }
    const stale = perpetualFacts({ mark: priceE18(0n), pricesStale: true })
    const unpriced = show(stale, long, { size: e18('1000000'), cost }).position
    expect(unpriced).to.include({ entry_price: '0.0006' })
    expect(unpriced).not.to.have.property('pnl_since_entry')
  })
})
