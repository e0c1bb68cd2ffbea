import { decodeBlock } from '../../bus-schemas/block-message.js'
import { type Bus, StreamMissing, type StreamState } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { Running } from '../../bus-schemas/process.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { OrderWatch } from './order-watch.js'

/** Messages after which the place to resume from is written down again. */
const REMEMBER_EVERY = 1_000

export interface FollowOrdersOptions {
  readonly bus: Pick<Bus, 'follow' | 'streamState'>
  readonly registry: Pick<IntakeRegistry, 'watchedFrom' | 'markWatchedFrom'>
  readonly watch: OrderWatch
  readonly market: string
  readonly log: Logger
  /** The feed cannot be followed any further. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Folds a market's feed into the watch, from where the oldest order that was live at the last note of it was placed.
 * Stopping leaves a note.
 */
export async function followOrders(options: FollowOrdersOptions): Promise<Running> {
  const { bus, registry, watch, market, log, onFatal } = options
  let sinceNote = 0
  const remember = (): void => {
    const from = watch.resumeFrom(market)
    sinceNote = 0
    if (from > 0) registry.markWatchedFrom(market, from)
  }
  const fromSeq = startOf(await stateOf(bus, market), registry.watchedFrom(market))
  log.info({ market, stream_seq: fromSeq }, 'watching the orders of a feed')
  const subscription = await bus.follow({
    stream: feedStream(market),
    fromSeq,
    onMessage: ({ seq, data }) => {
      const block = decodeBlock(data)
      assert(block.market === market, `a block of ${block.market} in the feed of ${market}`)
      watch.apply(seq, block)
      sinceNote += 1
      if (sinceNote >= REMEMBER_EVERY) remember()
    },
    onError: onFatal,
  })
  return {
    stop: async () => {
      await subscription.stop()
      remember()
    },
  }
}

/** A feed that ends before the note is another one, which is read whole; what is trimmed holds no live order's tale. */
function startOf({ firstSeq, lastSeq }: StreamState, noted: number): number {
  return noted > lastSeq + 1 ? firstSeq : Math.max(firstSeq, noted)
}

async function stateOf(bus: Pick<Bus, 'streamState'>, market: string): Promise<StreamState> {
  try {
    return await bus.streamState(feedStream(market))
  } catch (error) {
    // The market's matcher has not run yet; following waits for it.
    if (error instanceof StreamMissing) return { firstSeq: 1, lastSeq: 0 }
    throw error
  }
}
