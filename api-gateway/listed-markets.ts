import { contractOf } from '../core/contracts/registry.js'
import type { Market } from '../core/model/market.js'
import type { MarketWithContract } from '../core/records/listed-contract-record.js'

const byName = (a: Market, b: Market): number => (a.market < b.market ? -1 : 1)

/** The enabled markets that are pairs of assets, by identifier. */
export const listedPairs = (markets: readonly Market[]): Market[] =>
  markets
    .filter((market) => market.enabled && contractOf(market).present.hasTicker)
    .toSorted(byName)

/** The enabled markets of contracts, by identifier. */
export const listedContracts = (markets: readonly Market[]): MarketWithContract[] =>
  markets.toSorted(byName).flatMap((market) => {
    const terms = market.enabled ? contractOf(market).present.listedContract : undefined
    return terms === undefined ? [] : [{ market, terms }]
  })
