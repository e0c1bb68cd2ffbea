import { recoverAuthorizationAddress } from 'viem/utils'
import type { Address } from '../../core/action.js'
import type { ChainHead } from './blocks.js'
import { orUnreachable, type ChainClient } from './client.js'

/** Most blocks that are read, whole, for one answer. */
const MAX_BLOCKS = 16n
/** Most authorizations of one answer: each takes a millisecond. */
const MAX_AUTHORIZATIONS = 200

/**
 * The keys whose code the blocks from `first` to the head may have changed, in lower case: the signers of their EIP-7702
 * authorizations, whether these took effect or not. Nothing else gives code to the address of a key that signs, and no event
 * tells of it. Undefined when there are too many blocks or authorizations, or the node has another block in place of the
 * head. Rejects with ChainUnreachable.
 */
export async function readDelegations(
  client: Pick<ChainClient, 'getBlock'>,
  first: bigint,
  head: ChainHead,
): Promise<readonly Address[] | undefined> {
  if (head.number - first >= MAX_BLOCKS) return undefined
  const numbers = Array.from(
    { length: Number(head.number - first) + 1 },
    (_, i) => first + BigInt(i),
  )
  const blocks = await orUnreachable(
    `transactions of blocks ${first} to ${head.number}`,
    Promise.all(
      numbers.map((blockNumber) => client.getBlock({ blockNumber, includeTransactions: true })),
    ),
  )
  if (blocks.at(-1)?.hash !== head.hash) return undefined
  const authorizations = blocks.flatMap(({ transactions }) =>
    transactions.flatMap(({ authorizationList = [] }) => authorizationList),
  )
  if (authorizations.length > MAX_AUTHORIZATIONS) return undefined
  const keys = new Set<Address>()
  for (const authorization of authorizations) {
    const key = await recoverAuthorizationAddress({ authorization }).catch(unrecoverable)
    if (key !== undefined) keys.add(key.toLowerCase() as Address)
  }
  return [...keys]
}

/** No key: the chain skips such an authorization. */
const unrecoverable = (): undefined => undefined
