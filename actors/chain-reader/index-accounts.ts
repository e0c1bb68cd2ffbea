import type { ChainHead } from '../../chain/reads/blocks.js'
import type { Hex } from '../../core/action.js'
import type { IndexedBlock, IndexedEvents } from '../../core/owner-accounts.js'
import { blockTimeSec } from '../../core/time.js'
import type { AccountIndex } from '../../data/account-index.js'
import { createRunLength } from './run-length.js'

/** Runs of blocks that one round reads at most: the facts of markets come first. */
const RUNS_PER_ROUND = 4

export interface IndexSource {
  /** The block with this number; rejects with ChainUnreachable, also when there is none. */
  readBlock(number: bigint): Promise<{ readonly hash: Hex; readonly timestamp: bigint }>
  readAccountEvents(first: bigint, last: bigint): Promise<IndexedEvents>
}

export interface IndexerOptions {
  readonly index: AccountIndex
  readonly chain: IndexSource
  /** The block of the deployment: nothing of it is older. */
  readonly firstBlock: bigint
  /**
   * Called before blocks that the chain has lost are taken back, or all where it is another chain: what is left lacks what their
   * successors hold, until the head is reached again.
   */
  readonly onTakeBack?: () => void
}

/** Keeps the index of accounts up to the newest block. */
export interface AccountIndexer {
  /**
   * Reads on towards a head, and back where the chain has reorganised. True when it has reached it. Rejects with
   * ChainUnreachable, of events when even one block of them is refused; can be repeated.
   */
  advance(head: ChainHead): Promise<boolean>
}

export function createAccountIndexer(options: IndexerOptions): AccountIndexer {
  const { index, chain, firstBlock, onTakeBack = () => undefined } = options
  const length = createRunLength()
  /**
   * Takes back what the chain does not hold any more. A node that lags shows fewer blocks of the same chain, the first one among
   * them: nothing is lost.
   */
  const takeBackLost = async (head: ChainHead): Promise<void> => {
    let isLost = false
    for (const block of index.blocks()) {
      if (block.number > head.number) continue
      const now = block.number === head.number ? head : await chain.readBlock(block.number)
      if (now.hash === block.hash) {
        if (!isLost) return
        onTakeBack()
        index.rollBack(block)
        return
      }
      isLost = true
    }
    // None of the blocks that are kept is on this chain: a longer reorganisation, or another chain.
    if (!isLost) return
    onTakeBack()
    index.rollBack(undefined)
  }
  const readRun = async (head: ChainHead): Promise<boolean> => {
    const known = index.readTo()
    const first = known === undefined ? firstBlock : known.number + 1n
    if (first > head.number) return true
    // The first block alone: its hash, which stays, tells another chain also where that is shorter than all else that was read.
    const end = known === undefined ? first : first + length.most() - 1n
    const number = end < head.number ? end : head.number
    const before = number === head.number ? head : await chain.readBlock(number)
    const events = await length.attempt(number - first + 1n, () =>
      chain.readAccountEvents(first, number),
    )
    if (events === undefined) return false
    const after = await chain.readBlock(number)
    // Another block took its place meanwhile: the next round reads the run again.
    if (after.hash !== before.hash) return false
    index.append(events, blockOf(number, before))
    return number === head.number
  }
  return {
    async advance(head) {
      await takeBackLost(head)
      for (let run = 0; run < RUNS_PER_ROUND; run++) if (await readRun(head)) return true
      return false
    },
  }
}

const blockOf = (
  number: bigint,
  { hash, timestamp }: { readonly hash: Hex; readonly timestamp: bigint },
): IndexedBlock => ({ number, hash, timeSec: blockTimeSec(timestamp) })
