import type { Hex } from '../core/action.js'
import type { ChainView } from './follow-transaction.js'
import { isOpen } from './followed-transactions.js'
import type { Followed } from './followed-transactions.js'
import type { ChainHead, LaneChain } from './lane-chain.js'
import type { LanePolicy } from './lane-policy.js'
import type { Span } from './read-event-receipts.js'
import type { Receipt } from './read-receipt.js'
import type { Tracking } from './tracking.js'

/**
 * Blocks of mined transactions that one look compares, the newest and the oldest so many. There are only more where
 * finality is far away: then the hash of a block stands for those before it, and the oldest become final first.
 */
const MAX_NEWEST_BLOCKS = 16
const MAX_OLDEST_BLOCKS = 16
/** Blocks whose events are asked for at once: each may have hundreds. */
const MAX_NEWEST_BLOCKS_ASKED = 4n
/** Receipts asked for side by side: those of full batches are long. */
const RECEIPTS_AT_ONCE = 16

/** Asks for all that can tell what has become of the followed transactions. Rejects with ChainUnreachable. */
export async function lookAtChain(
  tracking: Tracking,
  { head, nowMs }: { head: ChainHead; nowMs: number },
): Promise<ChainView> {
  const { chain, policy, followed, highest } = tracking
  const all = followed.all()
  const [count, finalHeight] = await Promise.all([
    chain.countAt(head.hash),
    finalHeightOf(chain, policy, head),
  ])
  const receipts = await readReceipts(
    tracking,
    head,
    all.filter((it) => isOpen(it) && (it.transaction.evmNonce < count || it.consumer)),
  )
  const heights = new Set([
    ...[...receipts.values()].map(({ blockNumber }) => blockNumber),
    ...all.flatMap(({ consumer }) => (consumer === undefined ? [] : [consumer.blockNumber])),
    ...minedHeights(all),
  ])
  const blocks = await readBlocks(chain, head, heights)
  const behind = head.number < highest
  return { nowMs, head: head.number, behind, finalHeight, count, blocks, receipts }
}

async function finalHeightOf(
  chain: LaneChain,
  { finality }: LanePolicy,
  head: ChainHead,
): Promise<bigint> {
  return finality === 'finalized' ? chain.finalized() : head.number - finality.depth
}

async function readReceipts(
  { chain, head: before }: Tracking,
  head: ChainHead,
  wanted: readonly Followed[],
): Promise<Map<number, Receipt>> {
  const found = new Map<number, Receipt>()
  if (wanted.length === 0) return found
  const told = await chain.receiptsIn(
    newBlocks(before, head),
    wanted.map(({ transaction }) => transaction),
  )
  for (const [evmNonce, receipt] of told) found.set(evmNonce, receipt)
  const asked = wanted.filter(({ transaction }) => !told.has(transaction.evmNonce))
  for (let at = 0; at < asked.length; at += RECEIPTS_AT_ONCE) {
    const some = asked.slice(at, at + RECEIPTS_AT_ONCE)
    const receipts = await Promise.all(some.map(({ transaction }) => chain.receipt(transaction)))
    for (const [i, { transaction }] of some.entries()) {
      const receipt = receipts[i]
      if (receipt !== undefined) found.set(transaction.evmNonce, receipt)
    }
  }
  return found
}

/** The blocks since the last look, of those the newest; at least the newest block. */
function newBlocks(before: ChainHead | undefined, { number: to }: ChainHead): Span {
  const after = before === undefined || before.number >= to ? to : before.number + 1n
  const oldest = to - MAX_NEWEST_BLOCKS_ASKED + 1n
  return { from: after > oldest ? after : oldest, to }
}

function minedHeights(all: readonly Followed[]): bigint[] {
  const heights = all.flatMap(({ mined }) => (mined === undefined ? [] : [mined.blockNumber]))
  const newestFirst = [...new Set(heights)].sort((a, b) => (a < b ? 1 : -1))
  if (newestFirst.length <= MAX_NEWEST_BLOCKS + MAX_OLDEST_BLOCKS) return newestFirst
  return [...newestFirst.slice(0, MAX_NEWEST_BLOCKS), ...newestFirst.slice(-MAX_OLDEST_BLOCKS)]
}

/** One question for each height, none for heights above the head. */
async function readBlocks(
  chain: LaneChain,
  head: ChainHead,
  heights: ReadonlySet<bigint>,
): Promise<Map<bigint, Hex | undefined>> {
  const hashAt = async (height: bigint): Promise<Hex | undefined> => {
    if (height === head.number) return head.hash
    return height > head.number ? undefined : chain.blockHash(height)
  }
  const read = [...heights].map(async (height) => [height, await hashAt(height)] as const)
  return new Map(await Promise.all(read))
}
