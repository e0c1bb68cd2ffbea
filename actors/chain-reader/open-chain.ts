import { orUnreachable } from '../../chain/chain-unreachable.js'
import { createChainClient } from '../../chain/client.js'
import type { Deployment } from '../../chain/deployment.js'
import { observeAccount } from '../../chain/observe-account.js'
import { readBlockHash, readHead, readTouches } from '../../chain/read-blocks.js'
import type { Market } from '../../core/market.js'
import type { ChainReaderOptions } from './start.js'

export interface ChainSourceOptions {
  readonly rpcUrl: string
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  readonly markets: readonly Market[]
}

/** The chain reader's questions to one node. */
export function openChainSource(
  options: ChainSourceOptions,
): Pick<ChainReaderOptions, 'chain' | 'observe'> {
  const { rpcUrl, deployment, markets } = options
  const client = createChainClient(rpcUrl, 'read')
  return {
    chain: {
      readHead: () => readHead(client),
      readBlockHash: (number) => readBlockHash(client, number),
      readTouches: (first, last) => readTouches({ client, deployment, markets }, first, last),
    },
    observe: (assets, id, head) =>
      orUnreachable(`account ${id}`, observeAccount({ client, deployment, assets }, id, head)),
  }
}
