import { setTimeout as delay } from 'node:timers/promises'
import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { CHAIN_READER_SOURCE, commandsSubject } from '../../bus-schemas/subjects.js'
import type { MarketObservation } from '../../core/contracts/contract.js'
import type { AccountObservation } from '../../core/engine/accounts.js'
import type { Command, LoggedCommand, Numbering } from '../../core/engine/command.js'
import { AppendRefused, AppendUnknown, type Bus } from '../../runtime/bus/bus.js'

const RETRY_PAUSE_MS = 250

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
  /** The chain's time now, unix milliseconds. */
  readonly clock: (chainMs: number) => Promise<void>
}

/**
 * Begins the term in the market's log: behind this marker the market skips what an earlier reader still appends. An append
 * with unknown outcome is repeated with the same numbers, which the matcher accepts once.
 */
export async function openFacts(options: FactsOptions): Promise<PublishFacts> {
  const { market, nowMs, numbers } = options
  const { encodeGroup } = commandMessages(options)
  const publish = async (observed: readonly Command[]): Promise<void> => {
    const atMs = nowMs()
    let commands = observed.map((command): LoggedCommand => ({
      ...{ source: CHAIN_READER_SOURCE, sourceNo: numbers.next(), atMs, command },
    }))
    while (commands.length > 0) {
      const { data, count } = encodeGroup(commands)
      await append(options, commandsSubject(market, 'chain-reader'), data)
      commands = commands.slice(count)
    }
  }
  await publish([{ kind: 'Tick' }])
  return {
    accounts: (observations) =>
      publish(observations.map((account) => ({ kind: 'AccountObserved', account }))),
    market: (observation) => publish([{ kind: 'MarketObserved', observation }]),
    clock: (chainMs) => publish([{ kind: 'ClockObserved', chainMs }]),
  }
}

async function append(
  { bus, signal, onUnknown }: FactsOptions,
  subject: string,
  data: Uint8Array,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      await bus.append(subject, data)
      return
    } catch (error) {
      if (!(error instanceof AppendUnknown || error instanceof AppendRefused)) throw error
      onUnknown(error)
      await delay(RETRY_PAUSE_MS, undefined, { signal })
    }
  }
}
