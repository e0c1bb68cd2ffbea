import type { FutureState } from '../../interface/future.js'
import type { ContractEntry } from '../../interface/market.js'
import { exactNumber, formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { MarketFacts, MarketObservation } from '../model/observation.js'
import { E18, type PriceE18 } from '../money.js'
import type { MarkedFill, MarketPrices, MarkFields, PricesAt } from './contract.js'
import { futureOf } from './future-facts.js'
import { fillBand, FIXING_SEC } from './future-prices.js'

/** Unix seconds of expiry: the instrument's sub id. */
export const expirySecOf = ({ subId }: Pick<Market, 'subId'>): number => exactNumber(subId)

/** Trading ends an hour before expiry. */
export const lastTradeSecOf = (market: Pick<Market, 'subId'>): number =>
  expirySecOf(market) - FIXING_SEC

/** Mark and variation margin of a fill: size × (mark − price) for the buyer, exact for whole sizes; positive: received. */
export function futureFill({ side, price, amount, markPrice }: MarkedFill): MarkFields {
  const ofBuyer = (amount / E18) * (markPrice - price)
  const variation = side === 'buy' ? ofBuyer : -ofBuyer
  return { mark_price: formatDecimal(markPrice, 18), vm_cngn: formatDecimal(variation, 18) }
}

/** A stale index is still the last one known. */
function pricesAt(facts: MarketFacts): PricesAt | undefined {
  const { mark, index } = futureOf(facts)
  if (mark === 0n) return undefined
  return index === 0n ? { mark } : { mark, index }
}

/** Mark and index of a series. */
export const futurePrices: MarketPrices = { hasFunding: false, at: pricesAt }

/** `expiry_timestamp` and `future` of a future's market entry. */
export const futureEntry = (market: Market, observed?: MarketObservation): ContractEntry => ({
  expiry_timestamp: expirySecOf(market),
  future: {
    ...(observed === undefined ? {} : observedState(market, observed)),
    last_trade_time: lastTradeSecOf(market),
    amount_scale: market.amountScale.toString(),
    trade_module_address: market.tradeModuleAddress,
    margin_manager_address: market.marginManagerAddress,
  },
})

/**
 * The state of the series on the chain; the band is that of the block that was read. Prices that the chain
 * does not have are absent: of a series that was not created, and of an index without a first price.
 */
function observedState(
  market: Market,
  { facts, blockTimeSec, readAtMs }: MarketObservation,
): Partial<FutureState> {
  const future = futureOf(facts)
  return {
    ...(future.mark > 0n && {
      mark_price: e18(future.mark),
      band_status: future.indexStale ? ('index_stale' as const) : ('ok' as const),
      ...(future.index > 0n && bandOf(future.index, expirySecOf(market), blockTimeSec)),
    }),
    ...(future.settled === true && { settlement_price: e18(future.mark) }),
    initial_margin_rate: e18(future.initialRate),
    maintenance_margin_rate: e18(future.maintenanceRate),
    paused: future.paused,
    updated_at: Math.floor(readAtMs / 1000),
  }
}

const e18 = (value: bigint): string => formatDecimal(value, 18)

function bandOf(index: PriceE18, expirySec: number, atSec: number): Partial<FutureState> {
  const band = fillBand(index, expirySec, atSec)
  return {
    index_price: e18(index),
    band_width: e18(band.widthE18),
    fill_band_low: e18(band.low),
    fill_band_high: e18(band.high),
  }
}
