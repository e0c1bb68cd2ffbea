import type { CloseOutsRead, CloseOutSpan } from '../../chain/contracts/read-close-outs.js'
import type { BlockPlace } from '../../chain/reads/blocks.js'
import { MAX_LOG_BLOCKS } from '../../chain/reads/logs.js'
import type { CloseOut } from '../../core/model/close-out.js'
import type { MarketFacts } from '../../core/model/observation.js'

/** Blocks that are read again, because a reorganisation may have changed them. */
export const READ_AGAIN = 64n
/** How far back a reader looks for close-outs of a market that it finds settled when it starts: a day of blocks of two seconds. */
export const LOOK_BACK = 43_200n

/** The close-outs of one market. */
export interface FollowedCloseOuts {
  readonly hasBegun: (seen: MarketFacts) => boolean
  readonly read: (span: CloseOutSpan) => Promise<CloseOutsRead>
  readonly publish: (closed: readonly CloseOut[]) => Promise<void>
}

export interface CloseOutFollower {
  /**
   * Publishes what was closed up to the head, or in the next MAX_LOG_BLOCKS blocks; each close-out once, and again where the
   * chain shows another in its place. Rejects as the reads and `publish` do, and can be repeated. Reads nothing before the
   * market is settled, nor once all of it is closed.
   */
  round(seen: MarketFacts, head: BlockPlace): Promise<void>
}

/** Follows the close-outs of a market from the first facts that it is given. */
export function createCloseOutFollower(followed: FollowedCloseOuts): CloseOutFollower {
  /** The first block that was not read. */
  let next: bigint | undefined
  /** The first head at which nothing was open. */
  let emptySince: bigint | undefined
  let isOver = false
  /** What was published of the blocks that are read again, by account. */
  const published = new Map<bigint, { readonly blockNumber: bigint; readonly text: string }>()

  const forgetBefore = (first: bigint): void => {
    for (const [id, { blockNumber }] of published) if (blockNumber < first) published.delete(id)
  }
  return {
    async round(seen, head) {
      if (isOver) return
      if (!followed.hasBegun(seen)) {
        next = head.number + 1n
        return
      }
      const first = atLeastZero(next === undefined ? head.number - LOOK_BACK : next - READ_AGAIN)
      if (first > head.number) return
      const furthest = first + MAX_LOG_BLOCKS - 1n
      const last = furthest < head.number ? furthest : head.number
      const { closed, isAnyLeft } = await followed.read({ first, last, head })
      const news = closed.filter((it) => published.get(it.subaccountId)?.text !== textOf(it))
      if (news.length > 0) await followed.publish(news)
      for (const it of news) {
        const { subaccountId, blockNumber } = it
        published.set(subaccountId, { blockNumber, text: textOf(it) })
      }
      next = last + 1n
      forgetBefore(next - READ_AGAIN)
      emptySince = isAnyLeft ? undefined : (emptySince ?? head.number)
      const isOld = emptySince !== undefined && head.number >= emptySince + READ_AGAIN
      isOver = isOld && last === head.number
    },
  }
}

/** A close-out as text: equal ones have equal texts. */
const textOf = ({ txHash, position, variation, owner }: CloseOut): string =>
  `${txHash} ${position} ${variation} ${owner}`

const atLeastZero = (number: bigint): bigint => (number > 0n ? number : 0n)
