import { z } from 'zod'
import { decimal, type Shape, signedDecimal, unixSeconds } from './values.js'

/**
 * What listing sites poll of pairs and of contracts, besides tickers, books and trades: the endpoints of CoinGecko's and
 * CoinMarketCap's standards. The base asset is priced in the quote asset (`target` and `quote` are the same): on spot
 * USDC in cNGN, on the perpetual cNGN in USDC, on futures USDC in cNGN. What the venue does not know is absent. Additive.
 */

const tickerId = z.string().describe('The market’s identifier.')
const base = z.string().describe('Symbol of the asset that is priced.')
const quote = z.string().describe('Symbol of the asset it is priced in.')

/** An item of `GET /v1/integrations/pairs`. */
export const ListedPair = z
  .object({ ticker_id: tickerId, base, target: quote })
  .meta({ id: 'ListedPair', description: 'A spot market as a pair of assets.' })
export type ListedPair = Shape<typeof ListedPair>

const price = decimal.describe('Quote per base.')
const pricesOfDay = {
  last_price: price.optional().describe('Of the newest trade at any age; absent before the first.'),
  base_volume: decimal.describe('Base asset, trailing 24 hours.'),
  quote_volume: decimal.describe('Quote asset, trailing 24 hours.'),
}
const feeShare = decimal.describe('Share of what is traded, for example `0.0025`.')
const fees = { maker_fee: feeShare.optional(), taker_fee: feeShare.optional() }

/** An item of `GET /v1/integrations/contracts`. */
export const ListedContract = z
  .object({
    ticker_id: tickerId,
    base_currency: base,
    target_currency: quote,
    quote_currency: quote,
    ...pricesOfDay,
    target_volume: decimal.describe('The same as `quote_volume`.'),
    bid: price.optional().describe('Best bid, rounded down.'),
    ask: price.optional().describe('Best ask, rounded up.'),
    high: price.optional().describe('Trailing 24 hours.'),
    low: price.optional().describe('Trailing 24 hours.'),
    product_type: z.enum(['Perpetual', 'Futures']),
    open_interest: decimal
      .optional()
      .describe(
        'Sum of the long positions, in the base asset. Of a future absent: the chain counts all series together.',
      ),
    open_interest_usd: decimal.optional().describe('The same at the index, in USDC.'),
    index_price: price.optional(),
    funding_rate: signedDecimal
      .optional()
      .describe(
        'Perpetuals: share of one hour, positive when longs pay. It accrues with each second, so there is no next rate and no time of one.',
      ),
    expiry_timestamp: unixSeconds.optional().describe('Futures: unix seconds.'),
    end_timestamp: unixSeconds.optional().describe('The same as `expiry_timestamp`.'),
    ...fees,
  })
  .meta({ id: 'ListedContract', description: 'A perpetual or a future as listing sites poll it.' })
export type ListedContract = Shape<typeof ListedContract>

/** An item of `GET /v1/integrations/contract_specs`. */
export const ContractSpec = z
  .object({
    ticker_id: tickerId,
    contract_type: z
      .literal('Vanilla')
      .describe('Margined and settled in the asset that prices it.'),
    contract_price: decimal.describe('What one contract counts, in `contract_price_currency`.'),
    contract_price_currency: base,
  })
  .meta({ id: 'ContractSpec', description: 'What one contract of a market counts.' })
export type ContractSpec = Shape<typeof ContractSpec>

const pairName = z.string().describe('`<base>_<quote>`, for example `USDC_cNGN`.')

/** An item of `GET /v1/integrations/summary`. */
export const ListedSummary = z
  .object({
    trading_pairs: pairName,
    base_currency: base,
    quote_currency: quote,
    ...pricesOfDay,
    lowest_ask: price.optional(),
    highest_bid: price.optional(),
    price_change_percent_24h: signedDecimal
      .optional()
      .describe('At four decimals, truncated toward zero; absent when nothing traded.'),
    highest_price_24h: price.optional(),
    lowest_price_24h: price.optional(),
  })
  .meta({ id: 'ListedSummary', description: 'A spot market with its trailing 24 hours.' })
export type ListedSummary = Shape<typeof ListedSummary>

/** The body of `GET /v1/integrations/assets`, by symbol. */
export const ListedAssets = z
  .record(
    z.string(),
    z.object({
      name: z.string().describe('Its symbol: the venue knows no longer name.'),
      unified_cryptoasset_id: z
        .int()
        .min(1)
        .optional()
        .describe('The token at CoinMarketCap; absent where the operator has not set it.'),
      can_withdraw: z.boolean(),
      can_deposit: z.boolean(),
      contract_address: z.string().describe('Of the token, on the chain of `/v1/venue`.'),
      ...fees,
    }),
  )
  .meta({
    id: 'ListedAssets',
    description: 'Assets of the spot markets.',
  })
export type ListedAssets = Shape<typeof ListedAssets>

/** The body of `GET /v1/integrations/ticker`, by pair. */
export const PairTickers = z
  .record(
    z.string(),
    z.object({
      ...pricesOfDay,
      isFrozen: z.enum(['0', '1']).describe('`1` while the market is not open.'),
    }),
  )
  .meta({ id: 'PairTickers', description: 'Spot markets by pair, `<base>_<quote>`.' })
export type PairTickers = Shape<typeof PairTickers>

/** An item of `GET /v1/integrations/trades/{market_pair}`. */
export const PairTrade = z
  .object({
    trade_id: z.int().min(1),
    price,
    base_volume: decimal,
    quote_volume: decimal,
    timestamp: z.int().min(0).describe('Unix milliseconds.'),
    type: z.enum(['buy', 'sell']).describe('What the taker did with the base asset.'),
  })
  .meta({ id: 'PairTrade', description: 'A trade of the trailing 24 hours.' })
export type PairTrade = Shape<typeof PairTrade>

/** A market of the path. */
export const MarketPairPath = z.object({
  market_pair: z
    .string()
    .describe('`<base>_<quote>` of a spot market, or the identifier of any market.'),
})
