import type {
  ListedBook,
  ListedLevel,
  ListedSide,
  ListedTrade,
  ListedTrades,
} from '../../interface/listing.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { Side } from '../model/order.js'
import type { AmountE18, PriceE18 } from '../money.js'
import { inversePrice, listedVolume, type Rounding } from './listed-numbers.js'
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

/**
 * Presents levels of a spot market in ticker terms: a buyer of cNGN sells USDC, so engine bids are asks. Bids are rounded
 * down and asks up, so that neither is better than the book; amounts of USDC are rounded down. Levels whose prices a listing
 * cannot tell apart are one.
 */
export const listedBook = (market: Market, levels: BookLevels, nowMs: number): ListedBook => ({
  ticker_id: market.market,
  timestamp: nowMs,
  bids: listedLevels(levels.asks, 'down'),
  asks: listedLevels(levels.bids, 'up'),
})

/** Best first, as the levels come. */
function listedLevels(levels: readonly PriceLevel[], rounding: Rounding): ListedLevel[] {
  const products = new Map<string, bigint>()
  for (const { price, open } of levels) {
    const listed = inversePrice(price, rounding)
    products.set(listed, (products.get(listed) ?? 0n) + price * open)
  }
  return [...products].map(([price, product]) => [price, listedVolume(product, 'down')])
}

/** Presents trades by the taker's side in ticker terms, each side as it comes: `side` alone, or both. */
export function listedTrades(trades: readonly Trade[], side: ListedSide | undefined): ListedTrades {
  const listed = trades.map(listedTrade)
  const of = (type: ListedSide) =>
    side === undefined || side === type
      ? { [type]: listed.filter((trade) => trade.type === type) }
      : {}
  return { ...of('buy'), ...of('sell') }
}

/** Rounded half up, as the ticker's volumes are. */
const listedTrade = ({ fill, atMs }: Trade): ListedTrade => ({
  trade_id: fill.tradeId,
  price: inversePrice(fill.price, 'half up'),
  base_volume: listedVolume(fill.price * fill.amount, 'half up'),
  target_volume: formatDecimal(fill.amount, 18),
  trade_timestamp: atMs,
  type: listedSideOf(fill.takerSide),
})

/** What a taker of this engine side does with the base asset of a listing; its own inverse. */
export const listedSideOf = (side: Side): Side => (side === 'sell' ? 'buy' : 'sell')
