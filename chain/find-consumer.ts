import type { Address } from '../core/action.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import type { Inclusion } from './transaction-journal.js'

/** Blocks that are looked back at; older states are pruned by many nodes, and a nonce used there was used long ago. */
const MAX_BLOCKS_BACK = 4_096n

/**
 * The transaction that used a nonce of the address, looked for in the blocks up to `head` themselves; undefined when it is
 * not in any of the last thousands. Rejects with ChainUnreachable when a node cannot tell.
 */
export async function findConsumer(
  client: ChainClient,
  { from, evmNonce, head }: { from: Address; evmNonce: number; head: bigint },
): Promise<Inclusion | undefined> {
  const isUsedAt = (height: bigint) =>
    orUnreachable('nonce of an older block', usedAt(client, from, height)).then(
      (count) => count > evmNonce,
    )
  if (!(await isUsedAt(head))) return undefined
  let used = head
  let unused = head
  for (let back = 1n; ; back *= 2n) {
    if (used === 0n || back > MAX_BLOCKS_BACK) return undefined
    unused = head > back ? head - back : 0n
    if (!(await isUsedAt(unused))) break
    used = unused
  }
  while (used - unused > 1n) {
    // Rounded down: any height between the two will do.
    const middle = (used + unused) / 2n
    if (await isUsedAt(middle)) used = middle
    else unused = middle
  }
  return inBlock(client, used, { from, evmNonce })
}

function usedAt(client: ChainClient, address: Address, height: bigint): Promise<number> {
  return client.getTransactionCount({ address, blockNumber: height })
}

async function inBlock(
  client: ChainClient,
  height: bigint,
  { from, evmNonce }: { from: Address; evmNonce: number },
): Promise<Inclusion | undefined> {
  const block = await orUnreachable(
    'transactions of a block',
    client.getBlock({ blockNumber: height, includeTransactions: true }),
  )
  const found = block.transactions.find(
    (it) => it.from.toLowerCase() === from && it.nonce === evmNonce,
  )
  return found && { hash: found.hash, blockNumber: height, blockHash: block.hash }
}
