import type {
  LiquidationSpan,
  ReadLiquidations,
  SeenMarket,
} from '../../chain/contracts/read-liquidations.js'
import { compareRead, isNews, type Liquidation } from '../../core/contracts/liquidation.js'
import { LOOK_BACK, READ_AGAIN } from './follow-close-outs.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import { openLiquidationLog, type LiquidationLog } from './liquidation-log.js'
import { createRunLength } from './run-length.js'

/** Runs of blocks that one round reads at most. */
const RUNS_PER_ROUND = 4

export interface LiquidationFollower {
  /**
   * Publishes the liquidations of these markets up to the head, or in the next runs of blocks towards it, and takes back those of
   * blocks that the chain has lost. Rejects as the reads and the appends do, and can be repeated.
   */
  round(markets: readonly SeenMarket[], head: bigint): Promise<void>
}

/**
 * Follows the liquidations of markets, from a day before the first head or from what is published on. The last READ_AGAIN blocks are
 * read again in each round; a market that comes later has the blocks read again from the beginning.
 */
export function createLiquidationFollower(
  read: ReadLiquidations,
  log: LiquidationLog,
): LiquidationFollower {
  /** The first block that was not read, or of which a doubt is left. */
  let next: bigint | undefined
  let doubts: ReadonlySet<string> = new Set()
  const known = new Set<string>()
  const length = createRunLength()

  const firstAfter = (head: bigint): bigint => {
    const published = log.lastBlock()
    const from =
      published !== undefined && published > head - LOOK_BACK ? published : head - LOOK_BACK
    // The chain may have become shorter.
    const read = next !== undefined && next > head + 1n ? head + 1n : next
    const first = (read ?? from) - READ_AGAIN
    return first > 0n ? first : 0n
  }
  /** Reads a span in parts that the node takes. */
  const readParts = async (
    markets: readonly SeenMarket[],
    { first, last, head }: LiquidationSpan,
  ): Promise<readonly Liquidation[]> => {
    const most = length.most()
    const found: Liquidation[] = []
    for (let from = first; from <= last; from += most)
      found.push(
        ...(await read(markets, { first: from, last: smaller(from + most - 1n, last), head })),
      )
    return found
  }
  /** True when there is no more to read in this round: it has reached the head, or a later read decides what is lost. */
  const run = async (markets: readonly SeenMarket[], head: bigint): Promise<boolean> => {
    const first = firstAfter(head)
    // Longer than what the next run reads again of it, or that would have the same beginning.
    const blocks = larger(length.most(), 2n * READ_AGAIN)
    const last = smaller(first + blocks - 1n, head)
    const isAtHead = last === head
    const asked = smaller(length.most(), last - first + 1n)
    const found = await length.attempt(asked, () => readParts(markets, { first, last, head }))
    if (found === undefined) return false
    // What stands in blocks beyond the head is of another chain, or the node lags.
    const shown = { markets: namesOf(markets), first, last: isAtHead ? undefined : last, found }
    const news = compareRead(log.held, shown, doubts)
    if (isNews(news) && !(await log.publish(news))) return false
    doubts = news.doubts
    // The next read has the same beginning, so that each doubted place is shown by it or taken back.
    next = doubts.size > 0 ? first + READ_AGAIN : last + 1n
    return isAtHead || doubts.size > 0
  }
  return {
    async round(markets, head) {
      if (markets.length === 0) return
      const isNew = markets.some(({ market }) => !known.has(market.market))
      if (isNew && next !== undefined) next = head - LOOK_BACK + READ_AGAIN
      for (const { market } of markets) known.add(market.market)
      for (let runs = 0; runs < RUNS_PER_ROUND; runs++) if (await run(markets, head)) return
    },
  }
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const namesOf = (markets: readonly SeenMarket[]): ReadonlySet<string> =>
  new Set(markets.map(({ market }) => market.market))

/** The follower with the stream of the bus; nothing where liquidations cannot be read. Rejects as openLiquidationLog does. */
export async function openLiquidations(options: {
  readonly readLiquidations?: ReadLiquidations
  readonly bus: Bus
  readonly log: Logger
}): Promise<{ readonly liquidations?: LiquidationFollower }> {
  const { readLiquidations: read, bus, log } = options
  if (read === undefined) return {}
  return { liquidations: createLiquidationFollower(read, await openLiquidationLog(bus, log)) }
}
