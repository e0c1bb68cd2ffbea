import { expect } from 'chai'
import { quoteE18 } from '../../../core/money.js'
import { marketEntries, marketEntry, tradingStatus } from '../../../core/records/market-entry.js'
import { aFuture, aMarket } from '../../support/builders.js'

const market = aMarket()

describe('market entry', () => {
  it('presents the spot market with every field of its kind and no other (REA-009)', () => {
    expect(marketEntry(market, { lastTradeSec: 1_760_000_000 })).to.deep.equal({
      market: 'cNGN-USDC',
      contract_type: 'spot',
      settlement_type: 'spot',
      base_asset_symbol: 'USDC',
      quote_asset_symbol: 'cNGN',
      display_name: 'cNGN-USDC',
      display_label: 'cNGN per USDC',
      tick_size: '0.000000000000000001',
      trading_status: 'open',
      price_semantics: 'linear',
      display_semantics: 'direct',
      min_size: '0.000001',
      contract_multiplier: '1',
      aliases: ['USDCcNGN-SPOT'],
      settlement_note: market.presentation.settlementNote,
      asset_address: `0x${'c1'.repeat(20)}`,
      sub_id: '0',
      pricing_model: 'linear',
      display_price_kind: 'direct',
      last_trade_timestamp: 1_760_000_000,
      order_entry_spec: 'cngn_usdc_spot_v1',
      ui_price_unit: 'cNGN per USDC',
      ui_size_unit: 'USDC notional',
      ui_side_meaning: market.presentation.uiSideMeaning,
      ui_price_decimals: 4,
      ui_size_decimals: 2,
      engine_price_unit: 'USDC per cNGN',
      engine_amount_unit: 'cNGN',
      engine_side_policy: 'invert_ui_side',
      ui_price_to_engine: 'engine_price = 1 / ui_price',
      ui_size_to_engine: 'engine_amount = ui_size * ui_price',
      taker_fee_bps: 25,
      maker_fee_bps: 0,
      trade_module_address: `0x${'e1'.repeat(20)}`,
      quote_asset_address: `0x${'d1'.repeat(20)}`,
      margin_manager_address: `0x${'f1'.repeat(20)}`,
    })
  })

  it('leaves out the last trade before the first fill (REA-008)', () => {
    expect(marketEntry(market)).not.to.have.property('last_trade_timestamp')
  })

  it('shows the least notional and the most open orders, where a market has such', () => {
    const limited = aMarket({ minNotional: quoteE18(5n * 10n ** 17n), openOrderLimit: 3 })
    expect(marketEntry(limited)).to.include({ min_notional: '0.5', open_order_limit: 3 })
    const unlimited = marketEntry(aMarket({ openOrderLimit: 0 }))
    expect(unlimited).not.to.have.any.keys('min_notional', 'open_order_limit')
  })

  it('shows a dated contract with its expiry and step, and the engine side as it is', () => {
    const entry = marketEntry(aFuture())
    expect(entry).to.include({
      settlement_type: 'cash_settled_future',
      expiry_timestamp: 1_796_047_200,
      sub_id: '1796047200',
      amount_step: '1',
      engine_side_policy: 'same_as_ui',
    })
    expect(entry).not.to.have.property('order_entry_spec')
  })

  it('says why a market does not trade, and nothing of one that does', () => {
    const standing = { status: 'held', reason: 'BM_AdjustmentsPaused' } as const
    expect(tradingStatus({ ...market, standing })).to.deep.equal({
      trading_status: 'held',
      trading_status_reason: 'BM_AdjustmentsPaused',
    })
    expect(tradingStatus(market)).to.deep.equal({ trading_status: 'open' })
  })

  it('lists enabled markets by identifier in byte order (REA-007)', () => {
    const named = (name: string, enabled = true) => ({ ...market, market: name, enabled })
    const markets = [named('cNGN-X'), named('USDC-A'), named('a', false), named('cNGN-B')]
    const entries = marketEntries(markets, () => ({ lastTradeSec: 5 }))
    expect(entries.map((entry) => entry.market)).to.deep.equal(['USDC-A', 'cNGN-B', 'cNGN-X'])
    expect(entries[0]).to.include({ last_trade_timestamp: 5 })
  })
})
