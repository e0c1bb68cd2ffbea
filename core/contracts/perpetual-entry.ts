import type { ContractEntry } from '../../interface/market.js'
import type { PerpState } from '../../interface/perpetual.js'
import { divHalfUp, formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { MarketFacts, MarketObservation } from '../model/observation.js'
import { E18 } from '../money.js'
import type { MarketPrices, PricesAt } from './contract.js'
import { indexLagEntry, type IndexLag } from './index-lag.js'
import type { OpenInterest } from './listed-terms.js'
import { perpetualOf, type PerpetualFacts } from './perpetual-facts.js'
import { UI_PRICE_DECIMALS } from './translation.js'

const E8 = 10n ** 8n
const E16 = 10n ** 16n
const E30 = 10n ** 30n
const FUNDING_INTERVAL_SECONDS = 3600

/** `perp` of a perpetual's market entry; absent while the chain was not read. */
export function perpetualEntry(
  market: Market,
  observed?: MarketObservation,
  indexLag?: IndexLag,
): ContractEntry {
  return observed === undefined ? {} : { perp: perpState(market, observed, indexLag) }
}

/** `trading_enabled` (PER-004). */
export const isTradingEnabled = (facts: PerpetualFacts): boolean =>
  facts.moduleAllowed && facts.positionCap > 0n && !facts.paused && !facts.disabled

/** Nothing while a feed is stale: the chain then shows zeros. */
function pricesAt(facts: MarketFacts): PricesAt | undefined {
  const { mark, index, fundingRate, pricesStale } = perpetualOf(facts)
  if (pricesStale || mark === 0n || index === 0n) return undefined
  return { mark, index, fundingRate }
}

/** Mark, index and funding of a perpetual. */
export const perpetualPrices: MarketPrices = { hasFunding: true, at: pricesAt }

/** The state of the market on the chain. */
export function perpState(
  market: Market,
  { facts, readAtMs }: MarketObservation,
  indexLag?: IndexLag,
): PerpState {
  const perpetual = perpetualOf(facts)
  return {
    ...pricesOf(perpetual),
    ...positionsOf(perpetual),
    initial_margin_rate: e18(perpetual.initialRate),
    maintenance_margin_rate: e18(perpetual.maintenanceRate),
    max_leverage: leverageOf(perpetual),
    trading_enabled: isTradingEnabled(perpetual),
    paused: perpetual.paused,
    trade_module_address: market.tradeModuleAddress,
    quote_asset_address: market.quoteAssetAddress,
    margin_manager_address: market.marginManagerAddress,
    collateral_assets: collateralOf(market, perpetual),
    ...(indexLag !== undefined && { index_lag: indexLagEntry(indexLag, perpetual.index) }),
    updated_at: Math.floor(readAtMs / 1000),
  }
}

const e18 = (value: bigint): string => formatDecimal(value, 18)

/** A price at display scale, half up; empty when there is none above zero. */
export const uiPrice = (price: bigint): string =>
  price > 0n ? formatDecimal(divHalfUp(price, E8), UI_PRICE_DECIMALS) : ''

function pricesOf({ mark, index, pricesStale, fundingRate }: PerpetualFacts) {
  return {
    mark_price: e18(mark),
    index_price: e18(index),
    mark_price_ui: uiPrice(mark),
    index_price_ui: uiPrice(index),
    price_status: pricesStale ? ('stale' as const) : ('ok' as const),
    funding_rate_1h: e18(fundingRate),
    ui_long_funding_rate_1h: e18(fundingRate),
    funding_interval_seconds: FUNDING_INTERVAL_SECONDS,
  } as const
}

/** What listing sites are shown of the open positions. */
export const perpetualOpenInterest = (facts: MarketFacts): OpenInterest =>
  openInterestOf(perpetualOf(facts))

const openInterestOf = ({ openInterest, index }: PerpetualFacts): OpenInterest => ({
  amount: openInterest,
  worthE6: (openInterest * index) / E30,
})

/** The chain counts both sides in the cap; `open_interest` counts one (PER-003). */
function positionsOf(facts: PerpetualFacts) {
  const { totalPosition, positionCap } = facts
  const { amount, worthE6 } = openInterestOf(facts)
  return {
    open_interest: e18(amount),
    open_interest_usd: formatDecimal(worthE6, 6),
    open_interest_cap: e18(positionCap / 2n),
    total_position: e18(totalPosition),
    position_cap: e18(positionCap),
  }
}

/** 1 / rate at two decimals, rounded down. */
const leverageOf = ({ initialRate }: PerpetualFacts): string =>
  initialRate === 0n ? '' : formatDecimal((E18 * E18) / initialRate / E16, 2)

function collateralOf({ presentation }: Market, { collateral }: PerpetualFacts) {
  if (collateral === undefined) return []
  const { asset, marginFactor, initialScale, cap, total, depositsOpen } = collateral
  return [
    {
      symbol: presentation.baseAssetSymbol,
      asset_address: asset,
      margin_factor: e18(marginFactor),
      im_scale: e18(initialScale),
      cap: e18(cap),
      total: e18(total),
      deposits_open: depositsOpen,
    },
  ]
}
