import { decodeBlock } from '../../bus-schemas/block-message.js'
import { StreamMissing } from '../../bus-schemas/bus.js'
import type { Bus, Subscription } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import type { Projection, StreamedBlock } from '../../data/apply-block.js'
import type { Standing } from '../answer-ping.js'
import { createBlockBatcher, MAX_BATCH_BLOCKS } from './batch-blocks.js'

export interface ProjectorOptions {
  readonly bus: Bus
  readonly projection: Projection
  /** Canonical names of the markets to follow; the projection knows all of them. */
  readonly markets: readonly string[]
  readonly log: Logger
  /** The projection cannot go on: a gap, a row that does not fit, or messages that are gone. */
  readonly onFatal: (error: unknown) => void
}

export interface Projector {
  /** Ready while no market is behind its feed by more than one batch. */
  standing(): Promise<Standing>
  /** Applies what has arrived and lets go of the feeds. */
  stop(): Promise<void>
}

/** Follows each market's feed from where its rows stand and folds it into the read model. */
export async function startProjector(options: ProjectorOptions): Promise<Projector> {
  const { bus, projection, markets, log, onFatal } = options
  const batcher = createBlockBatcher({
    apply: (batch) => applyBatch(projection, batch, log),
    onError: onFatal,
  })
  const follow = (market: string): Promise<Subscription> => {
    const { streamSeq, feedSeq } = projection.position(market)
    log.info({ market, stream_seq: streamSeq, feed_seq: feedSeq }, 'following the feed')
    return bus.follow({
      stream: feedStream(market),
      fromSeq: streamSeq + 1,
      onMessage: ({ seq, data }) => {
        const block = decodeBlock(data)
        assert(block.market === market, `a block of ${block.market} in the feed of ${market}`)
        return batcher.add({ streamSeq: seq, block })
      },
      onError: onFatal,
    })
  }
  const subscriptions = await Promise.all(markets.map(follow))
  return {
    standing: () => standing(options),
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

async function standing({ bus, projection, markets }: ProjectorOptions): Promise<Standing> {
  const positions: Record<string, number> = {}
  const behind: string[] = []
  for (const market of markets) {
    const { streamSeq, feedSeq } = projection.position(market)
    const lag = (await lastSeqOf(bus, market)) - streamSeq
    positions[`${market} feed_seq`] = feedSeq
    positions[`${market} stream_seq`] = streamSeq
    if (lag > MAX_BATCH_BLOCKS) behind.push(`${market} is ${lag} blocks behind`)
  }
  const ready = behind.length === 0
  return { ready, detail: ready ? 'follows the feeds' : behind.join(', '), positions }
}

/** 0 while the market's matcher has not made its feed yet. */
async function lastSeqOf(bus: Bus, market: string): Promise<number> {
  try {
    return (await bus.streamState(feedStream(market))).lastSeq
  } catch (error) {
    if (error instanceof StreamMissing) return 0
    throw error
  }
}
