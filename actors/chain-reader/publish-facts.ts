import { MAX_CLOSE_OUTS, type LogMarket } from '../../bus-schemas/commands.js'
import { CHAIN_READER_SOURCE } from '../../bus-schemas/subjects.js'
import type { CloseOut } from '../../core/model/close-out.js'
import type { Command, Numbering } from '../../core/model/command.js'
import type { MarketObservation, AccountObservation } from '../../core/model/observation.js'
import { createLogWriter } from '../../runtime/actor/command-writer.js'
import type { Bus } from '../../runtime/bus/bus.js'

export interface FactsOptions extends LogMarket {
  readonly bus: Pick<Bus, 'append'>
  /** Those of the term in which this reader leads; markets share them. */
  readonly numbers: Numbering
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly signal: AbortSignal
  readonly onUnknown: (error: unknown) => void
}

/** Appends observations to a market's log, in order; resolves when they are durable, rejects when aborted. */
export interface PublishFacts {
  readonly accounts: (observations: readonly AccountObservation[]) => Promise<void>
  readonly market: (observation: MarketObservation) => Promise<void>
  /** Positions that the chain has closed; at least one. */
  readonly closed: (closed: readonly CloseOut[]) => Promise<void>
  /** The chain's time now, unix milliseconds. */
  readonly clock: (chainMs: number) => Promise<void>
}

/**
 * Begins the term in the market's log: after this marker the market skips what an earlier reader still appends. An append
 * with unknown outcome is repeated with the same numbers, which the matcher accepts once.
 */
export async function openFacts(options: FactsOptions): Promise<PublishFacts> {
  const { signal } = options
  const writer = createLogWriter({
    ...options,
    writer: 'chain-reader',
    source: CHAIN_READER_SOURCE,
  })
  const publish = async (observed: readonly Command[]): Promise<void> => {
    signal.throwIfAborted()
    await writer.append(observed.map((command) => ({ command })))
  }
  await publish([{ kind: 'Tick' }])
  return {
    accounts: (observations) =>
      publish(observations.map((account) => ({ kind: 'AccountObserved', account }))),
    market: (observation) => publish([{ kind: 'MarketObserved', observation }]),
    closed: (closed) =>
      publish(
        Array.from({ length: Math.ceil(closed.length / MAX_CLOSE_OUTS) }, (_, i) => ({
          kind: 'PositionsClosed',
          closed: closed.slice(i * MAX_CLOSE_OUTS, (i + 1) * MAX_CLOSE_OUTS),
        })),
      ),
    clock: (chainMs) => publish([{ kind: 'ClockObserved', chainMs }]),
  }
}
