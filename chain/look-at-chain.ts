import type { Hex } from '../core/action.js'
import type { ChainView } from './follow-transaction.js'
import { isOpen } from './followed-transactions.js'
import type { Followed } from './followed-transactions.js'
import type { ChainHead, LaneChain } from './lane-chain.js'
import type { LanePolicy } from './lane-policy.js'
import type { Receipt } from './read-receipt.js'
import type { Tracking } from './tracking.js'

/**
 * Blocks of mined transactions that one look compares, the newest first. What is final is not followed, so there are only
 * more where finality is far away; the hash of a block stands for all blocks before it.
 */
const MAX_BLOCKS_PER_LOOK = 32

/** Asks for all that can tell what has become of the followed transactions. Rejects with ChainUnreachable. */
export async function lookAtChain(
  { chain, policy, followed, highest }: Tracking,
  { head, nowMs }: { head: ChainHead; nowMs: number },
): Promise<ChainView> {
  const all = followed.all()
  const [count, finalHeight] = await Promise.all([
    chain.countAt(head.hash),
    finalHeightOf(chain, policy, head),
  ])
  const receipts = await readReceipts(
    chain,
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
  chain: LaneChain,
  asked: readonly Followed[],
): Promise<Map<number, Receipt>> {
  const found = await Promise.all(
    asked.map(async ({ transaction }) => {
      const receipt = await chain.receipt(transaction)
      return receipt === undefined ? [] : [[transaction.evmNonce, receipt] as const]
    }),
  )
  return new Map(found.flat())
}

function minedHeights(all: readonly Followed[]): bigint[] {
  const heights = all.flatMap(({ mined }) => (mined === undefined ? [] : [mined.blockNumber]))
  const newestFirst = [...new Set(heights)].sort((a, b) => (a < b ? 1 : -1))
  // The oldest one as well, so that what becomes final is let go.
  return [...newestFirst.slice(0, MAX_BLOCKS_PER_LOOK - 1), ...newestFirst.slice(-1)]
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
