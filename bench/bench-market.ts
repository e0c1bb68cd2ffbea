import type { Address } from '../core/action.js'
import type { Market } from '../core/market.js'
import { loadMarkets } from '../data/load-markets.js'

const repeated = (pair: string): Address => `0x${pair.repeat(20)}`

/** A deployment's addresses by their names in the deployment file; made up, because no chain is asked. */
export const BENCH_ADDRESSES = {
  wrapped_cngn: repeated('c1'),
  wrapped_usdc: repeated('d1'),
  spot_trade_module: repeated('e1'),
  spot_manager: repeated('f1'),
}

/** What actions are signed on. */
export const BENCH_DOMAIN = { chainId: 8453, verifyingContract: repeated('ab') }

/** The spot market of the shipped market file. */
export function benchMarket(): Market {
  const [market] = loadMarkets(BENCH_ADDRESSES)
  if (market === undefined) throw new Error('the market file is empty')
  return market
}
