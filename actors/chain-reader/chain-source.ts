import { readAccountEvents } from '../../chain/reads/account-events.js'
import { observeAccount, observeMarket } from '../../chain/contracts/observe-account.js'
import { readCloseOuts } from '../../chain/contracts/read-close-outs.js'
import { createReadLiquidations } from '../../chain/contracts/read-liquidations.js'
import { readBlock, readBlockHash, readHead } from '../../chain/reads/blocks.js'
import { createChainClient, orUnreachable } from '../../chain/reads/client.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import { readDelegations } from '../../chain/reads/delegations.js'
import type { HangUp } from '../../chain/reads/hang-up.js'
import { readTouches } from '../../chain/reads/touches.js'
import type { Market } from '../../core/model/market.js'
import type { AccountServiceOptions } from './serve-accounts.js'
import type { ChainReaderOptions } from './start.js'

export interface ChainSourceOptions {
  readonly rpcUrl: string
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  readonly markets: readonly Market[]
  readonly hangUp?: HangUp
}

/** The chain reads of the chain reader, from one node. */
export function openChainSource(options: ChainSourceOptions): Pick<
  ChainReaderOptions,
  'chain' | 'observe' | 'observeMarket' | 'readCloseOuts' | 'readLiquidations'
> & {
  readonly indexed: AccountServiceOptions['chain']
} {
  const { rpcUrl, deployment, markets, hangUp } = options
  const client = createChainClient(rpcUrl, 'read', hangUp)
  // A round does without the answer rather than wait for it.
  const probe = createChainClient(rpcUrl, 'probe', hangUp)
  return {
    chain: {
      readHead: () => readHead(client),
      readBlockHash: (number) => readBlockHash(client, number),
      readTouches: (first, last, events) =>
        readTouches({ client, deployment, markets }, first, last, events),
      readDelegations: (first, head) => readDelegations(probe, first, head),
    },
    indexed: {
      readHead: () => readHead(client),
      readBlock: (number) => readBlock(client, number),
      readAccountEvents: (first, last) => readAccountEvents({ client, deployment }, first, last),
    },
    observe: (market, id, head) =>
      orUnreachable(`account ${id}`, observeAccount({ client, deployment }, market, id, head)),
    observeMarket: (market, head, readAtMs) =>
      orUnreachable(
        `facts of ${market.market}`,
        observeMarket({ client, deployment }, market, head, readAtMs),
      ),
    readCloseOuts: (market, span) => readCloseOuts({ client, deployment }, market, span),
    readLiquidations: createReadLiquidations({ client, deployment }),
  }
}
