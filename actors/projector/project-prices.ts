import { commandsStream } from '../../bus-schemas/subjects.js'
import { contractOf } from '../../core/contracts/registry.js'
import type { CloseOut } from '../../core/model/close-out.js'
import type { ObservedMarket, PriceWriter } from '../../data/history/write-prices.js'
import { stateOrEmpty, type Bus, type Subscription } from '../../runtime/bus/bus.js'
import { followObservations } from '../../runtime/bus/follow-observations.js'

export interface PriceProjectorOptions {
  readonly bus: Pick<Bus, 'follow' | 'streamState'>
  readonly writer: PriceWriter
  readonly market: ObservedMarket
  /** Writes what the chain has closed of the market. */
  readonly writeCloseOuts: (market: string, closed: readonly CloseOut[]) => void
  /** The command log cannot be followed. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Writes the history of a market's prices, and what the chain has closed of its positions, from the observations in its command
 * log, from the stored position of the prices or, where the log was trimmed beyond it, from the oldest message kept. Nothing
 * where the contract type has no prices.
 */
export async function projectPrices(options: PriceProjectorOptions): Promise<Subscription> {
  const { bus, writer, market, writeCloseOuts, onFatal } = options
  if (contractOf(market).present.prices === undefined) return { stop: () => Promise.resolve() }
  return followObservations({
    bus,
    market,
    onFailure: onFatal,
    fromSeq: async () => {
      const next = writer.position(market.market) + 1
      const { firstSeq } = await stateOrEmpty(bus, commandsStream(market.market))
      return Math.max(next, firstSeq)
    },
    onObserved: (observation, streamSeq) => writer.write(market, streamSeq, observation),
    onClosed: (closed) => writeCloseOuts(market.market, closed),
  })
}
