import type { RpcLog } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { eventsOf } from './answer-form.js'
import type { ChainClient } from './client.js'

/** The longest range of blocks of one call: a range that public nodes accept. */
export const MAX_LOG_BLOCKS = 500n

/** Which events: of these contracts, with one of these topics at each place; null is any. */
export interface EventFilter {
  readonly address: Address | readonly Address[]
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

/** A range of blocks, both ends included. */
export interface BlockSpan {
  readonly first: bigint
  readonly last: bigint
}

/**
 * The events of a range of at most MAX_LOG_BLOCKS blocks, or of one block by its hash, in the order of the chain. Rejects with the
 * node's error, and with OddAnswer for anything but a list of events.
 */
export async function readLogs(
  client: Pick<ChainClient, 'request'>,
  { address, topics }: EventFilter,
  where: BlockSpan | { readonly blockHash: Hex },
): Promise<readonly RpcLog[]> {
  const blocks =
    'blockHash' in where ? where : { fromBlock: hexOf(where.first), toBlock: hexOf(where.last) }
  const of = typeof address === 'string' ? address : [...address]
  const filter = { address: of, topics: topics.map(mutable), ...blocks }
  return eventsOf(await client.request({ method: 'eth_getLogs', params: [filter] }))
}

const hexOf = (number: bigint): Hex => `0x${number.toString(16)}`

const mutable = (topic: Hex | readonly Hex[] | null): Hex | Hex[] | null =>
  typeof topic === 'string' || topic === null ? topic : [...topic]

/** The blocks from `first` to `last` as ranges that one call takes, in order. */
export function* logSpans({ first, last }: BlockSpan): Generator<BlockSpan> {
  for (let from = first; from <= last; from += MAX_LOG_BLOCKS) {
    const end = from + MAX_LOG_BLOCKS - 1n
    yield { first: from, last: end < last ? end : last }
  }
}
