import type { FillEvent, MarketEntry, SettledLeg } from '../../client/index.js'
import { traderPrice, traderSize } from './book-rows.js'
import { formatE18, formatSigned } from './format.js'
import { marketTerms } from './market-terms.js'
import { readOrZero, readSigned } from './numbers.js'
import { sideWords, traderSide } from './side-words.js'

/** A leg of a match as its row shows it, in trader terms. */
export interface OwnFillRow {
  readonly key: string
  readonly market: string
  readonly orderId: string
  readonly at: string
  readonly side: 'buy' | 'sell'
  readonly sideWords: string
  readonly price: string
  readonly size: string
  readonly sizeUnit: string
  /** In USDC, rounded up. */
  readonly fee: string
  /** Variation margin of a future in cNGN, with its sign; absent elsewhere. */
  readonly variation?: string
  readonly liquidity: string
  readonly state: 'pending' | 'settled'
  readonly hash: string | undefined
}

const FEE_DECIMALS = 6
const VARIATION_DECIMALS = 2

/** Only `settled` counts; a pending leg waits for the chain. */
export function fillRow(entry: MarketEntry, leg: FillEvent | SettledLeg): OwnFillRow {
  const terms = marketTerms(entry)
  const side = traderSide(terms, leg.side)
  const priceE18 = readOrZero(leg.price)
  const sizeE18 = traderSize(terms, { priceE18, amountE18: readOrZero(leg.size) })
  const { tx_hash: hash } = leg
  const variationE18 = readSigned(leg.vm_cngn)
  return {
    key: `${leg.trade_id ?? ('settlement_id' in leg ? leg.settlement_id : '')} ${leg.order_id}`,
    market: entry.market,
    orderId: leg.order_id,
    at: leg.created_at,
    side,
    hash,
    sideWords: sideWords(entry, side),
    price: formatE18(traderPrice(terms, priceE18), entry.ui_price_decimals),
    size: formatE18(sizeE18, entry.ui_size_decimals),
    sizeUnit: entry.base_asset_symbol,
    fee: formatE18(readOrZero(leg.fee), FEE_DECIMALS, 'up'),
    ...(variationE18 !== undefined && {
      variation: formatSigned(variationE18, VARIATION_DECIMALS),
    }),
    liquidity: leg.liquidity,
    state: hash === undefined ? 'pending' : 'settled',
  }
}
