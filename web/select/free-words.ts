import type { MarketEntry } from '../../client/index.js'
import type { Side } from '../../core/model/order.js'
import { formatE18 } from './format.js'
import type { MarketArithmetic } from './market-terms.js'
import type { Free } from './planned.js'

const MONEY_DECIMALS = 2

/** What is free for an order of this side, rounded down: the token that it gives, or margin. Undefined where it is not known. */
export function freeWords(
  { base_asset_symbol: base, quote_asset_symbol: quote }: MarketEntry,
  { isMargined }: MarketArithmetic,
  free: Free | undefined,
  side: Side,
): string | undefined {
  if (free === undefined) return undefined
  if (isMargined)
    return free.marginE18 === undefined
      ? undefined
      : `${formatE18(free.marginE18, MONEY_DECIMALS, 'down')} USDC of margin`
  const [amount, token] = side === 'buy' ? [free.quoteE18, quote] : [free.baseE18, base]
  return `${formatE18(amount, MONEY_DECIMALS, 'down')} ${token}`
}
