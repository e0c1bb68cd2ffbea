import { formatDecimal } from '../decimal.js'
import type { Market } from '../market.js'
import { exactNumber } from '../decimal.js'

/** The market entry of interface 2.2 as it is sent. */
export type MarketEntry = Readonly<Record<string, unknown>> & { readonly market: string }

/** The fields of a market that every order record repeats. */
export interface MarketFields {
  readonly market: string
  readonly contract_type: string
  readonly settlement_type?: string
  readonly base_asset_symbol: string
  readonly quote_asset_symbol: string
  readonly display_name: string
  readonly display_label: string
  readonly tick_size: string
  readonly price_semantics: 'linear'
  readonly display_semantics: 'direct'
}

/** What the market entry and the order record both say about a market. */
export function marketFields(market: Market): MarketFields {
  const { presentation } = market
  return {
    market: market.market,
    contract_type: market.contractType,
    ...(market.settlementType === undefined ? {} : { settlement_type: market.settlementType }),
    base_asset_symbol: presentation.baseAssetSymbol,
    quote_asset_symbol: presentation.quoteAssetSymbol,
    display_name: presentation.displayName,
    display_label: presentation.displayLabel,
    tick_size: formatDecimal(market.tickSize, 18),
    price_semantics: 'linear',
    display_semantics: 'direct',
  }
}

/** Dated contracts carry their expiry, in unix seconds, as the instrument's sub id. */
function expiryTimestamp(market: Market): { readonly expiry_timestamp?: number } {
  const dated = market.contractType === 'future' || market.contractType === 'deliverable_fx_future'
  return dated ? { expiry_timestamp: exactNumber(market.subId) } : {}
}

function units(market: Market): Record<string, string> {
  const { presentation, orderEntry } = market
  return {
    ...(orderEntry === undefined ? {} : { order_entry_spec: orderEntry.name }),
    ui_price_unit: presentation.uiPriceUnit,
    ui_size_unit: presentation.uiSizeUnit,
    ui_side_meaning: presentation.uiSideMeaning,
    engine_price_unit: presentation.enginePriceUnit,
    engine_amount_unit: presentation.engineAmountUnit,
    engine_side_policy: orderEntry?.orientation === 'inverted' ? 'invert_ui_side' : 'same_as_ui',
    ui_price_to_engine: presentation.uiPriceToEngine,
    ui_size_to_engine: presentation.uiSizeToEngine,
  }
}

/** Presents a market; `lastTradeSec` is the unix second of its newest fill, absent before the first. */
export function marketEntry(market: Market, lastTradeSec?: number): MarketEntry {
  return {
    ...marketFields(market),
    ...expiryTimestamp(market),
    min_size: formatDecimal(market.minSize, 18),
    ...(market.amountStep === undefined
      ? {}
      : { amount_step: formatDecimal(market.amountStep, 18) }),
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

/** The body of `GET /v1/markets`: enabled markets by identifier in byte order (decision D1). */
export function marketEntries(
  markets: readonly Market[],
  lastTradeSecOf: (market: string) => number | undefined,
): MarketEntry[] {
  return markets
    .filter((market) => market.enabled)
    .toSorted((a, b) => (a.market < b.market ? -1 : 1))
    .map((market) => marketEntry(market, lastTradeSecOf(market.market)))
}
