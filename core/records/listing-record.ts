import type {
  ListedBook,
  ListedLevel,
  ListedSide,
  ListedTrade,
  ListedTrades,
} from '../../interface/listing.js'
import { traderTerms, type PresentedTerms } from '../contracts/trader-terms.js'
import type { Market } from '../model/market.js'
import type { AmountE18, PriceE18 } from '../money.js'
import { pairTrade } from './listed-contract-record.js'
import type { Trade } from './trade-record.js'

/** Open orders of one price, engine values. */
export interface PriceLevel {
  readonly price: PriceE18
  readonly open: AmountE18
}

/** Levels of a market, best first. */
export interface BookLevels {
  readonly bids: readonly PriceLevel[]
  readonly asks: readonly PriceLevel[]
}

/** Levels of a book as listings show them, best first. */
type ListedLevels = Pick<ListedBook, 'bids' | 'asks'>

/** Presents levels in ticker terms. */
export const listedBook = (market: Market, levels: BookLevels, nowMs: number): ListedBook => ({
  ticker_id: market.market,
  timestamp: nowMs,
  ...listedLevels(market, levels),
})

/**
 * Bids are rounded down and asks up, so that neither is better than the book; amounts are rounded down. Levels whose prices a
 * listing cannot tell apart are one.
 */
export function listedLevels(market: Market, levels: BookLevels): ListedLevels {
  const terms = traderTerms(market)
  const { bids, asks } = terms.sides(levels.bids, levels.asks)
  return { bids: listedSide(terms, bids, 'down'), asks: listedSide(terms, asks, 'up') }
}

/** Best first, as the levels come. */
function listedSide(
  terms: PresentedTerms,
  levels: readonly PriceLevel[],
  rounding: 'down' | 'up',
): ListedLevel[] {
  const sums = new Map<string, { amount: bigint; productE36: bigint }>()
  for (const { price, open } of levels) {
    const listed = terms.price(price, rounding)
    const sum = sums.get(listed) ?? { amount: 0n, productE36: 0n }
    sums.set(listed, {
      amount: sum.amount + open,
      productE36: sum.productE36 + price * open,
    })
  }
  return [...sums].map(([price, sum]) => [price, terms.base(sum, 'down')])
}

/** Presents trades by the taker's side in ticker terms, each side as it comes: `side` alone, or both. */
export function listedTrades(
  market: Market,
  trades: readonly Trade[],
  side: ListedSide | undefined,
): ListedTrades {
  const listed = trades.map((trade) => listedTrade(market, trade))
  const of = (type: ListedSide) =>
    side === undefined || side === type
      ? { [type]: listed.filter((trade) => trade.type === type) }
      : {}
  return { ...of('buy'), ...of('sell') }
}

/** Rounded half up, as the ticker's volumes are. */
function listedTrade(market: Market, trade: Trade): ListedTrade {
  const { quote_volume, timestamp, ...shown } = pairTrade(market, trade)
  return { ...shown, target_volume: quote_volume, trade_timestamp: timestamp }
}
