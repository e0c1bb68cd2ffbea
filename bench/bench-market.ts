import { commandMessages } from '../bus-schemas/commands.js'
import type { Address } from '../core/action.js'
import type { Market } from '../core/model/market.js'
import { loadMarkets } from '../data/markets.js'

const repeated = (pair: string): Address => `0x${pair.repeat(20)}`

/** A deployment's addresses by their names in the deployment file; synthetic, because no chain is used. */
export const BENCH_ADDRESSES = {
  wrapped_cngn: repeated('c1'),
  wrapped_usdc: repeated('d1'),
  spot_trade_module: repeated('e1'),
  spot_manager: repeated('f1'),
}

/** The EIP-712 domain of the actions. */
export const BENCH_DOMAIN = { chainId: 8453, verifyingContract: repeated('ab') }

/** The spot market of the shipped market file. */
export function benchMarket(): Market {
  const [market] = loadMarkets(BENCH_ADDRESSES).markets
  if (market === undefined) throw new Error('the market file is empty')
  return market
}

/** The messages of its command log. */
export const {
  encode: encodeCommands,
  encodeGroup: encodeCommandGroup,
  decode: decodeCommands,
} = commandMessages(benchMarket())
