import type { Address, Hex } from '../../core/action.js'
import { callBatchOf } from './call-batch.js'
import { orUnreachable, type ChainClient } from './client.js'

/** Those of the addresses that have code at the end of the block. Rejects with ChainUnreachable. */
export type ReadCode = (
  addresses: readonly Address[],
  blockHash: Hex,
) => Promise<ReadonlySet<Address>>

/** Addresses of one block that are remembered. */
const KEPT = 16_384

/** Asks about an address once while the block is the same; what is asked at once shares a call of the node. */
export function createCodeReader(client: ChainClient): ReadCode {
  const batch = callBatchOf(client)
  let at: Hex | undefined
  let known = new Map<Address, boolean>()

  return async (addresses, blockHash) => {
    if (at !== blockHash || known.size > KEPT) {
      at = blockHash
      known = new Map()
    }
    const ofBlock = known
    const asked = [...new Set(addresses)].filter((address) => !ofBlock.has(address))
    const answers = await orUnreachable(
      'code of signers',
      Promise.all(asked.map((address) => batch.hasCode(address, { blockHash }))),
    )
    for (const [i, address] of asked.entries()) ofBlock.set(address, answers[i] === true)
    return new Set(addresses.filter((address) => ofBlock.get(address) === true))
  }
}
