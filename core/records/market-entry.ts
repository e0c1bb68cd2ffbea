import type { MarketEntry, MarketFields, TradingStatus } from '../../interface/market.js'
import type { IndexLag } from '../contracts/index-lag.js'
import { contractOf } from '../contracts/registry.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { MarketObservation } from '../model/observation.js'

/** What the market entry and the order record both say about a market. */
export function marketFields(market: Market): MarketFields {
  const { presentation } = market
  return {
    market: market.market,
    contract_type: market.contractType,
    settlement_type: market.settlementType,
    base_asset_symbol: presentation.baseAssetSymbol,
    quote_asset_symbol: presentation.quoteAssetSymbol,
    display_name: presentation.displayName,
    display_label: presentation.displayLabel,
    tick_size: formatDecimal(market.tickSize, 18),
    price_semantics: 'linear',
    display_semantics: 'direct',
  }
}

function units(market: Market) {
  const { presentation, orderEntry } = market
  const { uiDecimals } = contractOf(market).present
  return {
    ...(orderEntry === undefined ? {} : { order_entry_spec: orderEntry.name }),
    ui_price_unit: presentation.uiPriceUnit,
    ui_size_unit: presentation.uiSizeUnit,
    ui_side_meaning: presentation.uiSideMeaning,
    ui_price_decimals: uiDecimals.price,
    ui_size_decimals: uiDecimals.size,
    engine_price_unit: presentation.enginePriceUnit,
    engine_amount_unit: presentation.engineAmountUnit,
    engine_side_policy:
      orderEntry?.orientation === 'inverted'
        ? ('invert_ui_side' as const)
        : ('same_as_ui' as const),
    ui_price_to_engine: presentation.uiPriceToEngine,
    ui_size_to_engine: presentation.uiSizeToEngine,
  }
}

/** Presents how a market trades now. */
export const tradingStatus = ({ standing }: Market): TradingStatus => ({
  trading_status: standing.status,
  ...(standing.reason !== undefined && { trading_status_reason: standing.reason }),
})

/** What a market entry shows besides the terms of the market. */
export interface ShownOfMarket {
  /** Unix second of its newest fill; absent before the first. */
  readonly lastTradeSec?: number | undefined
  /** What the chain shows of it; absent while that is not known. */
  readonly observed?: MarketObservation | undefined
  /** The index against a sample from outside; absent without a limit. */
  readonly indexLag?: IndexLag | undefined
}

export function marketEntry(
  market: Market,
  { lastTradeSec, observed, indexLag }: ShownOfMarket = {},
): MarketEntry {
  return {
    ...marketFields(market),
    aliases: market.aliases,
    ...contractOf(market).present.marketEntry(market, observed, indexLag),
    ...tradingStatus(market),
    min_size: formatDecimal(market.minSize, 18),
    ...(market.amountStep === undefined
      ? {}
      : { amount_step: formatDecimal(market.amountStep, 18) }),
    ...(market.minNotional !== undefined && {
      min_notional: formatDecimal(market.minNotional, 18),
    }),
    ...((market.openOrderLimit ?? 0) > 0 && { open_order_limit: market.openOrderLimit }),
    contract_multiplier: market.contractMultiplier.toString(),
    settlement_note: market.presentation.settlementNote,
    asset_address: market.assetAddress,
    sub_id: market.subId.toString(),
    pricing_model: 'linear',
    display_price_kind: 'direct',
    ...(lastTradeSec === undefined ? {} : { last_trade_timestamp: lastTradeSec }),
    ...units(market),
    taker_fee_bps: market.takerFeeBps,
    maker_fee_bps: market.makerFeeBps,
    trade_module_address: market.tradeModuleAddress,
    quote_asset_address: market.quoteAssetAddress,
    margin_manager_address: market.marginManagerAddress,
  }
}

/** The body of `GET /v1/markets`: enabled markets by identifier in byte order (REA-007). */
export function marketEntries(
  markets: readonly Market[],
  shownOf: (market: string) => ShownOfMarket,
): MarketEntry[] {
  return markets
    .filter((market) => market.enabled)
    .toSorted((a, b) => (a.market < b.market ? -1 : 1))
    .map((market) => marketEntry(market, shownOf(market.market)))
}
