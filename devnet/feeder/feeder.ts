import type { FeedPrices } from '../chain/perp-parameters.js'
import type { Publisher } from './publish.js'

export interface Feeder {
  /** Publishes the prices if they changed, or if the last publication is `everyMs` old. */
  round(): Promise<void>
}

export interface FeederOptions {
  readonly readPrices: () => Promise<FeedPrices>
  readonly publisher: Publisher
  readonly everyMs: number
  /** Monotonic. */
  readonly nowMs: () => number
}

/** What is not published stays due: the next round after a failure tries again. */
export function createFeeder({ readPrices, publisher, everyMs, nowMs }: FeederOptions): Feeder {
  let published: FeedPrices | undefined
  let publishedAtMs = 0
  return {
    async round() {
      const prices = await readPrices()
      const atMs = nowMs()
      if (published !== undefined && isSame(prices, published) && atMs < publishedAtMs + everyMs)
        return
      await publisher.publish(prices)
      published = prices
      publishedAtMs = atMs
    },
  }
}

const isSame = (a: FeedPrices, b: FeedPrices): boolean =>
  a.index === b.index &&
  a.mark === b.mark &&
  a.bid === b.bid &&
  a.ask === b.ask &&
  a.stable === b.stable &&
  a.confidence === b.confidence
