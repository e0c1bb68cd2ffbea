import type { Address, Hex } from '../core/action.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** A block, and how many transactions of an address the chain had mined with it: what it shows and what not. */
export interface Head {
  readonly blockHash: Hex
  readonly count: number
}

/** The newest block as the address sees it; rejects with ChainUnreachable. */
export function readHead(client: ChainClient, address: Address): Promise<Head> {
  return orUnreachable('newest block', fetchHead(client, address))
}

/**
 * Whether the node says the same of the block as before. One that was just about to show the next block may have mixed the
 * two: what was read in between is then of one of them, and nobody knows of which. Rejects with ChainUnreachable.
 */
export async function isUnchanged(
  client: ChainClient,
  address: Address,
  { blockHash, count }: Head,
): Promise<boolean> {
  const now = client.getTransactionCount({ address, blockHash })
  return (await orUnreachable('nonce in a block', now)) === count
}

async function fetchHead(client: ChainClient, address: Address): Promise<Head> {
  const { hash: blockHash } = await client.getBlock({ blockTag: 'latest' })
  // Of this very block: an answer about another one would count a transaction twice, or not at all.
  const count = await client.getTransactionCount({ address, blockHash })
  return { blockHash, count }
}
