import type { Address } from '../core/action.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** How many transactions of the address the newest block has seen; rejects with ChainUnreachable. */
export function countMined(client: ChainClient, address: Address): Promise<number> {
  return orUnreachable('nonce', client.getTransactionCount({ address, blockTag: 'latest' }))
}
