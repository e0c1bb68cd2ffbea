import { decodeIndexLagAnswer, encodeIndexLagQuestion } from '../../bus-schemas/reports.js'
import { askIndexLag, commandsStream } from '../../bus-schemas/subjects.js'
import type { IndexWatch } from '../../core/contracts/index-lag.js'
import { tradingOf } from '../../core/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import type { MarketObservation } from '../../core/model/observation.js'
import {
  BusUnavailable,
  NoAnswer,
  stateOrEmpty,
  type Bus,
  type Subscription,
} from '../../runtime/bus/bus.js'
import { followObservations } from '../../runtime/bus/follow-observations.js'

/** The chain reader observes a market each second, one without orders each half minute: then little else is in its log. */
const TAIL_MESSAGES = 250
const ASK_EVERY_MS = 1_000
const ASK_TIMEOUT_MS = 1_000

export interface MarketFactsOptions {
  readonly bus: Pick<Bus, 'ask' | 'follow' | 'streamState'>
  readonly market: Market
  /** Called with each observation of the market in its log, from one of the newest on. */
  readonly onObserved: (observation: MarketObservation) => void
  /** Called with the limit of the index's lag each second; undefined where there is none. */
  readonly onIndex: (watch: IndexWatch | undefined) => void
  /** The log cannot be followed. */
  readonly onFailure: (error: Error) => void
}

/** Follows what a market's log says of the market on the chain; nothing where its contract type has no facts of a market. */
export async function followMarketFacts(options: MarketFactsOptions): Promise<Subscription> {
  const { bus, market, onFailure } = options
  if (tradingOf(market).holdOf === undefined) return { stop: () => Promise.resolve() }
  const observations = await followObservations({
    bus,
    market,
    onFailure,
    // What was trimmed is older than what counts.
    fromSeq: () => tailOf(options, commandsStream(market.market)),
    onObserved: options.onObserved,
  })
  // Not with the observations: those of a market without orders are seldom.
  askIndex(options)
  const timer = setInterval(() => askIndex(options), ASK_EVERY_MS)
  return {
    stop: async () => {
      clearInterval(timer)
      await observations.stop()
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

async function tailOf({ bus }: MarketFactsOptions, stream: string): Promise<number> {
  const { firstSeq, lastSeq } = await stateOrEmpty(bus, stream)
  return Math.max(firstSeq, lastSeq - TAIL_MESSAGES + 1)
}
