import type {
  ContractSpec,
  ListedContract,
  ListedPair,
  ListedSummary,
  PairTickers,
  PairTrade,
} from '../../interface/listed-contracts.js'
import type { PricesAt } from '../contracts/contract.js'
import type { ListedContractTerms } from '../contracts/listed-terms.js'
import { contractOf } from '../contracts/registry.js'
import { traderTerms } from '../contracts/trader-terms.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { MarketObservation } from '../model/observation.js'
import { listedPrices, type TickerFacts } from './ticker-record.js'
import type { Trade } from './trade-record.js'

/** How listing sites name a spot market: the asset that is priced, and the one it is priced in. */
export const pairNameOf = ({ presentation }: Market): string =>
  `${presentation.baseAssetSymbol}_${presentation.quoteAssetSymbol}`

const assetsOf = ({ presentation: { baseAssetSymbol, quoteAssetSymbol } }: Market) => ({
  base: baseAssetSymbol,
  quote: quoteAssetSymbol,
})

/** Presents a spot market as a pair. */
export const listedPair = (market: Market): ListedPair => {
  const { base, quote } = assetsOf(market)
  return { ticker_id: market.market, base, target: quote }
}

/** A share of 10,000 as a fraction. */
const shareOf = (bps: number): string => formatDecimal(BigInt(bps), 4)

export const listedFees = ({ makerFeeBps, takerFeeBps }: Market) => ({
  maker_fee: shareOf(makerFeeBps),
  taker_fee: shareOf(takerFeeBps),
})

/** A market with what listing sites are shown of its contract. */
export interface MarketWithContract {
  readonly market: Market
  readonly terms: ListedContractTerms
}

/** Presents a contract; what neither trades nor the chain state is absent. */
export function listedContract(
  { market, terms }: MarketWithContract,
  facts: TickerFacts,
  observed: MarketObservation | undefined,
): ListedContract {
  const { base, quote } = assetsOf(market)
  const { expirySec, prices } = contractOf(market).present
  const shown = listedPrices(market, facts)
  const expiry = expirySec?.(market)
  return {
    ticker_id: market.market,
    base_currency: base,
    target_currency: quote,
    quote_currency: quote,
    ...dayOf(shown),
    target_volume: shown.quote,
    ...(shown.bid !== undefined && { bid: shown.bid }),
    ...(shown.ask !== undefined && { ask: shown.ask }),
    ...(shown.high !== undefined && { high: shown.high }),
    ...(shown.low !== undefined && { low: shown.low }),
    product_type: terms.productType,
    ...(observed && interestOf(terms, observed)),
    ...(observed && chainPrices(market, prices?.at(observed.facts))),
    ...(expiry !== undefined && { expiry_timestamp: expiry, end_timestamp: expiry }),
    ...listedFees(market),
  }
}

function interestOf({ openInterest }: ListedContractTerms, { facts }: MarketObservation) {
  if (openInterest === undefined) return {}
  const { amount, worthE6 } = openInterest(facts)
  return {
    open_interest: formatDecimal(amount, 18),
    open_interest_usd: formatDecimal(worthE6, 6),
  }
}

const chainPrices = (market: Market, prices: PricesAt | undefined) => ({
  ...(prices?.index !== undefined && {
    index_price: traderTerms(market).price(prices.index, 'half up'),
  }),
  ...(prices?.fundingRate !== undefined && {
    funding_rate: formatDecimal(prices.fundingRate, 18),
  }),
})

/** Presents what one contract of a market counts. */
export const contractSpec = ({ market, terms }: MarketWithContract): ContractSpec => ({
  ticker_id: market.market,
  contract_type: terms.contractType,
  contract_price: market.contractMultiplier.toString(),
  contract_price_currency: assetsOf(market).base,
})

type ShownPrices = ReturnType<typeof listedPrices>

const dayOf = ({ last, base, quote }: ShownPrices) => ({
  ...(last !== undefined && { last_price: last }),
  base_volume: base,
  quote_volume: quote,
})

/** Presents a spot market with its day. */
export function listedSummary(market: Market, facts: TickerFacts): ListedSummary {
  const { base, quote } = assetsOf(market)
  const shown = listedPrices(market, facts)
  const { bid, ask, high, low, changePercent } = shown
  return {
    trading_pairs: pairNameOf(market),
    base_currency: base,
    quote_currency: quote,
    ...dayOf(shown),
    ...(ask !== undefined && { lowest_ask: ask }),
    ...(bid !== undefined && { highest_bid: bid }),
    ...(changePercent !== undefined && { price_change_percent_24h: changePercent }),
    ...(high !== undefined && { highest_price_24h: high }),
    ...(low !== undefined && { lowest_price_24h: low }),
  }
}

/** Presents a spot market's day under the name of its pair. */
export const pairTicker = (market: Market, facts: TickerFacts): PairTickers[string] => ({
  ...dayOf(listedPrices(market, facts)),
  isFrozen: market.standing.status === 'open' ? '0' : '1',
})

/** Presents a trade, rounded half up. */
export function pairTrade(market: Market, { fill, atMs }: Trade): PairTrade {
  const terms = traderTerms(market)
  const volume = { amount: fill.amount, productE36: fill.price * fill.amount }
  return {
    trade_id: fill.tradeId,
    price: terms.price(fill.price, 'half up'),
    base_volume: terms.base(volume, 'half up'),
    quote_volume: terms.quote(volume, 'half up'),
    timestamp: atMs,
    type: terms.side(fill.takerSide),
  }
}
