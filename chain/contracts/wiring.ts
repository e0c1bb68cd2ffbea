import type { Market } from '../../core/model/market.js'
import { orUnreachable } from '../reads/client.js'
import { newestCalls, type ObservingDeps } from './observe-account.js'
import { chainContractOf } from './registry.js'

/**
 * What of a market on the chain makes it another than its row says, in one line: an address without a contract, or wiring
 * that nothing changes at runtime. Undefined when there is nothing. Rejects with ChainUnreachable.
 */
export async function readWiring(deps: ObservingDeps, market: Market): Promise<string | undefined> {
  const missing = await Promise.all(contractsOf(market).map((each) => missingContract(deps, each)))
  const first = missing.find((each) => each !== undefined)
  if (first !== undefined) return first
  const read = chainContractOf(market)?.readWiring
  return read && orUnreachable(`wiring of ${market.market}`, read(market, newestCalls(deps)))
}

type NamedContract = readonly [name: string, address: Market['assetAddress']]

const contractsOf = (market: Market): readonly NamedContract[] => [
  ['asset', market.assetAddress],
  ['quote asset', market.quoteAssetAddress],
  ['trade module', market.tradeModuleAddress],
  ['margin manager', market.marginManagerAddress],
]

async function missingContract(
  { client }: ObservingDeps,
  [name, address]: NamedContract,
): Promise<string | undefined> {
  const code = await orUnreachable(`code of ${name}`, client.getCode({ address }))
  return code === undefined ? `no contract at ${name} ${address}` : undefined
}
