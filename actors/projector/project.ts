import type { Database } from 'better-sqlite3'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import type { CloseOut } from '../../core/model/close-out.js'
import type { Projection, StreamedBlock } from '../../data/history/project.js'
import type { ProjectedMarket } from '../../data/history/write-change.js'
import { createWriteCloseOuts } from '../../data/history/close-outs.js'
import { createLiquidationWriter, type LiquidationWriter } from '../../data/history/liquidations.js'
import { createPriceWriter, type PriceWriter } from '../../data/history/write-prices.js'
import { stateOrEmpty, type Bus, type Subscription } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { ProcessStanding } from '../../runtime/process/process.js'
import { projectLiquidations } from './project-liquidations.js'
import { projectPrices } from './project-prices.js'

export interface ProjectorOptions {
  readonly bus: Bus
  readonly projection: Projection
  readonly prices: PriceWriter
  readonly writeCloseOuts: (market: string, closed: readonly CloseOut[]) => void
  readonly liquidations: LiquidationWriter
  /** The markets to follow. */
  readonly markets: readonly ProjectedMarket[]
  readonly log: Logger
  /** The projection cannot go on: a gap, a conflicting row, or trimmed messages. */
  readonly onFatal: (error: unknown) => void
}

export interface Projector {
  /** Follows one market more; one with the ordinal of another market is left out, and named by the standing. */
  follow(market: ProjectedMarket): Promise<void>
  /** The newest change in the projection; undefined for a market that is not followed. */
  projectedSeq(market: string): number | undefined
  /** Ready while no market is left out or behind its feed by more than one batch. */
  standing(): Promise<ProcessStanding>
  /** Applies what has arrived and stops following. */
  stop(): Promise<void>
}

/** What writes into the read model besides the projection of the feeds. */
export const openWriters = (
  db: Database,
): Pick<ProjectorOptions, 'prices' | 'writeCloseOuts' | 'liquidations'> => ({
  prices: createPriceWriter(db),
  writeCloseOuts: createWriteCloseOuts(db),
  liquidations: createLiquidationWriter(db),
})

/** Follows each market's feed from the stored position and applies it to the read model. */
export async function startProjector(options: ProjectorOptions): Promise<Projector> {
  const { bus, projection, prices, writeCloseOuts, log, onFatal } = options
  const followed: string[] = []
  const leftOut: string[] = []
  const subscriptions: Subscription[] = []
  const batcher = createBlockBatcher({
    apply: (batch) => applyBatch(projection, batch, log),
    onError: onFatal,
  })
  const follow = async (row: ProjectedMarket): Promise<void> => {
    const { market } = row
    const refused = projection.add(row)
    if (refused !== undefined) {
      const { ordinal, takenBy } = refused
      const why = `${market} is not projected: its ordinal ${ordinal} belongs to ${takenBy}`
      log.error({ market }, `${why}; open its log under an ordinal of its own`)
      leftOut.push(why)
      return
    }
    const { streamSeq, feedSeq } = projection.position(market)
    log.info({ market, stream_seq: streamSeq, feed_seq: feedSeq }, 'following the feed')
    followed.push(market)
    const subscription = await bus.follow({
      stream: feedStream(market),
      fromSeq: streamSeq + 1,
      onMessage: ({ seq, data }) => {
        const block = decodeBlock(data)
        assert(block.market === market, `a block of ${block.market} in the feed of ${market}`)
        return batcher.add({ streamSeq: seq, block })
      },
      onError: onFatal,
    })
    const ofPrices = await projectPrices({
      bus,
      writer: prices,
      market: row,
      writeCloseOuts,
      onFatal,
    })
    subscriptions.push(subscription, ofPrices)
  }
  await Promise.all(options.markets.map(follow))
  subscriptions.push(await projectLiquidations({ bus, writer: options.liquidations, onFatal }))
  return {
    follow,
    projectedSeq: (market) =>
      followed.includes(market) ? projection.position(market).feedSeq : undefined,
    standing: () => standing(options, followed, leftOut),
    async stop() {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()))
      batcher.stop()
    },
  }
}

function applyBatch(projection: Projection, batch: readonly StreamedBlock[], log: Logger): void {
  projection.applyBatch(batch)
  const last = batch.at(-1)
  if (last === undefined) return
  const { market, firstSeq, changes } = last.block
  const seq = firstSeq + changes.length - 1
  log.debug({ blocks: batch.length, market, seq }, 'batch applied')
}

async function standing(
  { bus, projection }: ProjectorOptions,
  followed: readonly string[],
  leftOut: readonly string[],
): Promise<ProcessStanding> {
  const positions: Record<string, number> = {}
  const trouble = [...leftOut]
  for (const market of followed) {
    const { streamSeq, feedSeq } = projection.position(market)
    const { lastSeq } = await stateOrEmpty(bus, feedStream(market))
    const lag = lastSeq - streamSeq
    positions[`${market} feed_seq`] = feedSeq
    positions[`${market} stream_seq`] = streamSeq
    if (lag > MAX_BATCH_BLOCKS) trouble.push(`${market} is ${lag} blocks behind`)
  }
  const ready = trouble.length === 0
  return { ready, detail: ready ? 'follows the feeds' : trouble.join(', '), positions }
}

/** Most blocks, and about the most changes, of one transaction and of the queue for the next one. */
export const MAX_BATCH_BLOCKS = 500
export const MAX_BATCH_CHANGES = 5_000
/**
 * Pause after a transaction, in milliseconds; blocks that arrive in it share the next transaction, where their rows share
 * pages. A block after a longer pause is applied at once.
 */
export const REST_MS = 20

export interface BlockBatcher {
  /**
   * Queues the next block. Blocks of one turn of the event loop are applied together after it, but no sooner than REST_MS
   * after the last batch. A full queue is applied at once, and the returned promise resolves then: back-pressure.
   */
  add(block: StreamedBlock): void | Promise<void>
  /** Applies the queue; nothing is applied afterwards. */
  stop(): void
}

/** Groups blocks into batches: small when idle, large under load. Nothing is applied after a failed batch. */
export function createBlockBatcher(options: {
  readonly apply: (batch: readonly StreamedBlock[]) => void
  readonly onError: (error: unknown) => void
  /** Defaults to REST_MS. */
  readonly restMs?: number
}): BlockBatcher {
  const { restMs = REST_MS } = options
  let queue: StreamedBlock[] = []
  let changes = 0
  let scheduled: NodeJS.Immediate | undefined
  let resting: NodeJS.Timeout | undefined
  let stopped = false
  const applied: (() => void)[] = []

  const rest = () => {
    clearTimeout(resting)
    resting = setTimeout(() => {
      resting = undefined
      if (queue.length > 0) flush()
    }, restMs)
  }
  const flush = () => {
    scheduled = undefined
    const batch = queue
    queue = []
    changes = 0
    try {
      if (!stopped && batch.length > 0) options.apply(batch)
      rest()
    } catch (error) {
      stopped = true
      options.onError(error)
    }
    for (const resolve of applied.splice(0)) resolve()
  }
  return {
    add(block) {
      queue.push(block)
      changes += block.block.changes.length
      const isFull = queue.length >= MAX_BATCH_BLOCKS || changes >= MAX_BATCH_CHANGES
      if (isFull || resting === undefined) scheduled ??= setImmediate(flush)
      if (!isFull) return
      return new Promise((resolve) => applied.push(resolve))
    },
    stop() {
      clearImmediate(scheduled)
      flush()
      clearTimeout(resting)
      stopped = true
    },
  }
}
