import type { MarginBalance } from '../../interface/balances.js'
import { formatDecimal } from '../decimal.js'

/** How far an account is from its liquidation, by the price of one market with all else unchanged. */
export type LiquidationOutlook =
  | {
      readonly status: 'ok'
      /** At 1e18, rounded towards the present price. */
      readonly price: bigint
      /** Of the present price, at 1e6, rounded down. */
      readonly distanceE6: bigint
    }
  /** Below maintenance margin; without a position; no price of the market does it; a price is stale. */
  | { readonly status: 'due' | 'no_position' | 'none' | 'stale' }

const E6 = 10n ** 6n

/** The outlook where margin is used up beyond `price`; a price that is not above zero is none. Both at 1e18, `now` above zero. */
export function outlookAt(now: bigint, price: bigint): LiquidationOutlook {
  if (price <= 0n) return { status: 'none' }
  const apart = price < now ? now - price : price - now
  return { status: 'ok', price, distanceE6: (apart * E6) / now }
}

/** As positions and balances show it. */
export function outlookRecord(
  outlook: LiquidationOutlook,
): Pick<MarginBalance, 'liquidation_status' | 'liquidation_price' | 'liquidation_distance'> {
  if (outlook.status !== 'ok')
    return {
      liquidation_status: outlook.status,
      liquidation_price: '',
      liquidation_distance: outlook.status === 'due' ? '0' : '',
    }
  return {
    liquidation_status: 'ok',
    liquidation_price: formatDecimal(outlook.price, 18),
    liquidation_distance: formatDecimal(outlook.distanceE6, 6),
  }
}
