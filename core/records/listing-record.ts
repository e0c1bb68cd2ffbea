import type {
  ListedBook,
  ListedLevel,
  ListedSide,
  ListedTrade,
  ListedTrades,
} from '../../interface/listing.js'
import type { Market } from '../contracts/market.js'
import { divHalfUp, formatDecimal } from '../decimal.js'
import { mulDivCeil, mulDivFloor, type AmountE18, type PriceE18, type QuoteE18 } from '../money.js'
import { inverseE10, PRICE_DECIMALS } from './ticker-record.js'
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

const ONE = 10n ** 18n
/** The tokens have six decimals on a listing. */
const TO_VOLUME = 10n ** 12n
const VOLUME_DECIMALS = 6

/**
 * Presents levels of a spot market in ticker terms: a buyer of cNGN sells USDC, so engine bids are asks. Bids are rounded
 * down and asks up, so that neither is better than the book; amounts of USDC are rounded down.
 */
export function listedBook(market: Market, levels: BookLevels, nowMs: number): ListedBook {
  return {
    ticker_id: market.market,
    timestamp: nowMs,
    bids: levels.asks.map((level) => listedLevel(level, mulDivFloor)),
    asks: levels.bids.map((level) => listedLevel(level, mulDivCeil)),
  }
}

function listedLevel({ price, open }: PriceLevel, round: typeof mulDivFloor): ListedLevel {
  const inverse = inverseE10(price, (one, by) => round(one, 1n, by))
  const base = mulDivFloor(open, price, ONE) / TO_VOLUME
  return [formatDecimal(inverse, PRICE_DECIMALS), formatDecimal(base, VOLUME_DECIMALS)]
}

/** Presents trades, newest first, by the taker's side in ticker terms; those that were reversed are left out. */
export function listedTrades(trades: readonly Trade[], type: ListedSide | undefined): ListedTrades {
  const listed = trades.filter(({ reversed }) => reversed !== true).map(listedTrade)
  const of = (side: ListedSide) =>
    type === undefined || type === side
      ? { [side]: listed.filter((trade) => trade.type === side) }
      : {}
  return { ...of('buy'), ...of('sell') }
}

/** Rounded half up, as the ticker's volumes are. */
function listedTrade({ fill, atMs }: Trade): ListedTrade {
  const quote = divHalfUp(fill.price * fill.amount, ONE) as QuoteE18
  return {
    trade_id: fill.tradeId,
    price: formatDecimal(inverseE10(fill.price, divHalfUp), PRICE_DECIMALS),
    base_volume: formatDecimal(divHalfUp(quote, TO_VOLUME), VOLUME_DECIMALS),
    target_volume: formatDecimal(fill.amount, 18),
    trade_timestamp: atMs,
    type: fill.takerSide === 'sell' ? 'buy' : 'sell',
  }
}
