import type { CloseOut } from '../../core/model/close-out.js'
import type { Market } from '../../core/model/market.js'
import { blockTimeSec } from '../../core/time.js'
import { hexOf, quantityOf } from '../reads/answer-form.js'
import type { BlockPlace } from '../reads/blocks.js'
import { orUnreachable } from '../reads/client.js'
import { readLogs, type BlockSpan } from '../reads/logs.js'
import { accountCalls, blockCalls, readCustody, type ObservingDeps } from './observe-account.js'
import { chainContractOf } from './registry.js'

/** Close-outs in a range of blocks. */
export interface CloseOutsRead {
  /** In the order of the chain; those of accounts that the matching contract does not hold are left out. */
  readonly closed: readonly CloseOut[]
  /** Whether a position of the market may be open at the head. */
  readonly isAnyLeft: boolean
}

/** A range of blocks, and the newest block, at which owners are read. */
export interface CloseOutSpan extends BlockSpan {
  readonly head: BlockPlace
}

/**
 * The positions of a market that the chain closed in the blocks of the span, of which there are at most MAX_LOG_BLOCKS. None
 * where the contract type closes none. Rejects with ChainUnreachable.
 */
export function readCloseOuts(
  deps: ObservingDeps,
  market: Market,
  span: CloseOutSpan,
): Promise<CloseOutsRead> {
  return orUnreachable(`close-outs of ${market.market}`, fetchCloseOuts(deps, market, span))
}

async function fetchCloseOuts(
  deps: ObservingDeps,
  market: Market,
  { head, ...span }: CloseOutSpan,
): Promise<CloseOutsRead> {
  const closing = chainContractOf(market)?.closing
  if (closing === undefined) return { closed: [], isAnyLeft: false }
  const [logs, isAnyLeft] = await Promise.all([
    readLogs(deps.client, closing.eventOf(market), span),
    closing.isAnyLeft(market, blockCalls(deps, head)),
  ])
  const events = logs.map((log) => ({
    ...closing.read(log),
    txHash: hexOf(log.transactionHash, 'the transaction of an event'),
    blockNumber: quantityOf(log.blockNumber, 'the block of an event'),
  }))
  const [owners, times] = await Promise.all([
    byKey(
      events,
      ({ subaccountId }) => subaccountId,
      (id) => ownerOf(deps, id, head),
    ),
    byKey(
      events,
      ({ blockNumber }) => blockNumber,
      (number) => timeOf(deps, number),
    ),
  ])
  const closed = events.flatMap((event): CloseOut[] => {
    const owner = owners.get(event.subaccountId)
    const blockTimeSec = times.get(event.blockNumber)
    if (owner === undefined || blockTimeSec === undefined) return []
    return [{ ...event, owner, blockTimeSec }]
  })
  return { closed, isAnyLeft }
}

async function ownerOf(deps: ObservingDeps, subaccountId: bigint, head: BlockPlace) {
  const { custodyOwner } = await readCustody(deps, accountCalls(deps, subaccountId, head))
  return custodyOwner
}

async function timeOf({ client }: ObservingDeps, blockNumber: bigint): Promise<number> {
  const { timestamp } = await client.getBlock({ blockNumber })
  return blockTimeSec(timestamp)
}

/** What is read for each key, once. */
async function byKey<Item, Key, Value>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
  read: (key: Key) => Promise<Value>,
): Promise<ReadonlyMap<Key, Value>> {
  const keys = [...new Set(items.map(keyOf))]
  return new Map(await Promise.all(keys.map(async (key) => [key, await read(key)] as const)))
}
