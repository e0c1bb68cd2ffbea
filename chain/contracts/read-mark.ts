import type { Market } from '../../core/model/market.js'
import type { PriceE18 } from '../../core/money.js'
import type { Inclusion } from '../../core/transaction-journal.js'
import { rpcErrorOf } from '../abi/errors.js'
import type { ChainClient } from '../reads/client.js'
import { readLogs } from '../reads/logs.js'
import { throwDefect } from '../reads/read-failure.js'
import type { MatchCall } from './calldata.js'
import { readMatch } from './registry.js'

/**
 * The mark at which the chain booked a match that is mined; undefined where the contract type has none, and when the
 * block does not show the match. `unreadable`: the chain cannot be asked now.
 */
export type ReadMark = (
  match: MatchCall,
  mined: Inclusion,
) => Promise<PriceE18 | undefined | 'unreadable'>

/** `client` is a `read` client. */
export function createMarkReader(client: ChainClient, markets: readonly Market[]): ReadMark {
  return async (match, { hash, blockHash }) => {
    const read = readMatch(match, markets)
    const reported = read?.contract.reportedMark
    if (read === undefined || reported === undefined) return undefined
    const { market, terms } = read
    try {
      const filter = { address: market.tradeModuleAddress, topics: [reported.topic] }
      const logs = await readLogs(client, filter, { blockHash })
      const own = logs.filter((log) => log.transactionHash === hash)
      return reported.markOf(own, market, terms)
    } catch (error) {
      throwDefect(error)
      // A node that answers and has lost the block will not find it later either.
      return rpcErrorOf(error) === undefined ? 'unreadable' : undefined
    }
  }
}
