import { setTimeout as delay } from 'node:timers/promises'
import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { CHAIN_READER_SOURCE, commandsStream, commandsSubject } from '../../bus-schemas/subjects.js'
import type { MarketObservation } from '../../core/contracts/contract.js'
import type { AccountObservation } from '../../core/engine/accounts.js'
import type { Command, LoggedCommand } from '../../core/engine/command.js'
import { AppendRefused, AppendUnknown, type Bus } from '../../runtime/bus/bus.js'

const RETRY_PAUSE_MS = 250
/** Newest messages searched for the last number of an earlier run. */
const TAIL_MESSAGES = 2_000
const READ_CHUNK = 250

export interface FactsOptions extends LogMarket {
  readonly bus: Pick<Bus, 'append' | 'read' | 'streamState'>
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
 * An append with unknown outcome is repeated with the same numbers, which the matcher accepts once. Numbers start above
 * the clock's microseconds and above the last number of an earlier run.
 */
export async function openFacts(options: FactsOptions): Promise<PublishFacts> {
  const { market, nowMs } = options
  const { encodeGroup } = commandMessages(options)
  let sourceNo = Math.max(await lastOwnNo(options), nowMs() * 1_000)
  const publish = async (observed: readonly Command[]): Promise<void> => {
    const atMs = nowMs()
    let commands = observed.map((command): LoggedCommand => {
      sourceNo += 1
      return { source: CHAIN_READER_SOURCE, sourceNo, atMs, command }
    })
    while (commands.length > 0) {
      const { data, count } = encodeGroup(commands)
      await append(options, commandsSubject(market, 'chain-reader'), data)
      commands = commands.slice(count)
    }
  }
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

async function lastOwnNo(options: FactsOptions): Promise<number> {
  const { bus, market } = options
  const { take } = commandMessages(options)
  const stream = commandsStream(market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  let last = 0
  for (let next = Math.max(firstSeq, lastSeq - TAIL_MESSAGES + 1); next <= lastSeq;) {
    const messages = await bus.read(stream, next, READ_CHUNK)
    for (const { source, sourceNo } of messages.flatMap((message) => take(message))) {
      if (source === CHAIN_READER_SOURCE) last = Math.max(last, sourceNo)
    }
    next = (messages.at(-1)?.seq ?? lastSeq) + 1
  }
  return last
}
