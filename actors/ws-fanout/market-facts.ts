import { commandMessages } from '../../bus-schemas/commands.js'
import { decodeIndexLagAnswer, encodeIndexLagQuestion } from '../../bus-schemas/index-lag.js'
import { askIndexLag, commandsStream } from '../../bus-schemas/subjects.js'
import type { MarketObservation } from '../../core/contracts/contract.js'
import type { IndexWatch } from '../../core/contracts/index-lag.js'
import type { Market } from '../../core/contracts/market.js'
import { tradingOf } from '../../core/contracts/registry.js'
import {
  BusUnavailable,
  MessagesGone,
  NoAnswer,
  StreamMissing,
  type Bus,
  type Subscription,
} from '../../runtime/bus/bus.js'

/** The chain reader observes a market each second; a log that is busier than this shows the next one soon. */
const TAIL_MESSAGES = 250
const ASK_TIMEOUT_MS = 1_000

export interface MarketFactsOptions {
  readonly bus: Pick<Bus, 'ask' | 'follow' | 'streamState'>
  readonly market: Market
  /** Called with each observation of the market in its log, from one of the newest on. */
  readonly onObserved: (observation: MarketObservation) => void
  /** Called with the gate of the index's lag about as often; undefined where there is none. */
  readonly onIndex: (watch: IndexWatch | undefined) => void
  /** The log cannot be followed. */
  readonly onFailure: (error: Error) => void
}

/** Follows what a market's log says of the market on the chain; nothing where its contract type has no facts of a market. */
export async function followMarketFacts(options: MarketFactsOptions): Promise<Subscription> {
  const { bus, market, onFailure } = options
  if (tradingOf(market).gate === undefined) return { stop: () => Promise.resolve() }
  const { decode } = commandMessages(market)
  const stream = commandsStream(market.market)
  const fromSeq = await tailOf(options, stream)
  let resumed: Promise<Subscription> | undefined
  const subscription = await bus.follow({
    ...{ stream, fromSeq },
    onMessage({ data }) {
      // Nearly all messages are orders, which are not worth decoding here.
      if (!MENTIONS.test(data)) return
      for (const { command } of decode(data)) {
        if (command.kind !== 'MarketObserved') continue
        options.onObserved(command.observation)
        askIndex(options)
      }
    },
    onError(error) {
      // The log was trimmed while the bus was away: what is gone is older than what counts.
      if (error instanceof MessagesGone) resumed = followMarketFacts(options)
      else onFailure(error)
      resumed?.catch(onFailure)
    },
  })
  return {
    stop: async () => {
      await subscription.stop()
      await (await resumed)?.stop()
    },
  }
}

/** Keeps what is known while the intake does not answer. */
function askIndex({ bus, onIndex, onFailure }: MarketFactsOptions): void {
  bus.ask(askIndexLag, encodeIndexLagQuestion({}), ASK_TIMEOUT_MS).then(
    (data) => onIndex(decodeIndexLagAnswer(data).watch),
    (error: unknown) => {
      if (!(error instanceof NoAnswer || error instanceof BusUnavailable)) onFailure(error as Error)
    },
  )
}

const KIND = Buffer.from('"MarketObserved"')
const MENTIONS = {
  test: (data: Uint8Array): boolean =>
    Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(KIND),
}

async function tailOf({ bus }: MarketFactsOptions, stream: string): Promise<number> {
  try {
    const { firstSeq, lastSeq } = await bus.streamState(stream)
    return Math.max(firstSeq, lastSeq - TAIL_MESSAGES + 1)
  } catch (error) {
    if (error instanceof StreamMissing) return 1
    throw error
  }
}
