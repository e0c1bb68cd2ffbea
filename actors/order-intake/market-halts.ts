import { decodeIndexLagQuestion, encodeIndexLagAnswer } from '../../bus-schemas/reports.js'
import { askIndexLag } from '../../bus-schemas/subjects.js'
import {
  indexLagAt,
  type IndexLag,
  type IndexLagLimit,
  type IndexWatch,
} from '../../core/contracts/index-lag.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { marketStopped, tradingPaused } from '../../core/entry/market-refusals.js'
import type { Refusal } from '../../core/entry/refusals.js'
import type { MarketTerms } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import type { IntakeRegistry, StatedTerms } from '../../data/intake-registry.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import {
  readQuestion,
  warnOfUnreadable,
  type AnswerParts,
} from '../../runtime/bus/read-question.js'

/** The markets of the intake, as their feeds have stated them, and whether each takes new orders. */
export interface MarketHalts {
  /** Always the same array. */
  readonly markets: readonly Market[]
  /**
   * Adds a registered market, or takes its texts anew; what its feed stated before this process started holds at once. Whether it
   * was known.
   */
  add(row: Market): boolean
  /** Takes the terms that a message of the market's feed states. */
  state(market: string, streamSeq: number, terms: MarketTerms): void
  /** Takes neither orders nor cancels of the market, for this reason, until it is released. */
  stop(market: string, why: string): void
  release(market: string): void
  /** Takes no new order of the market, for this reason, before the next start. */
  close(market: string, why: string): void
  /** Why markets are stopped or closed. */
  stopped(): readonly string[]
  /** Why the market takes no new order now; undefined when it does. */
  readonly refusalOf: (market: string) => Refusal | undefined
  /** Why the market takes no cancel now; undefined when it does. */
  readonly cancelRefusalOf: (market: string) => Refusal | undefined
}

interface MarketHaltsOptions {
  readonly registry: Pick<IntakeRegistry, 'terms' | 'markTerms'>
}

/** A market without terms is one whose feed has stated none yet. */
export function createMarketHalts({ registry }: MarketHaltsOptions): MarketHalts {
  const list = createMarketList([])
  /** What the feed of each market stated last, and in which message. */
  const stated = new Map<string, StatedTerms>()
  const stopped = new Map<string, string>()
  const closed = new Map<string, string>()
  return {
    markets: list.markets,
    add(row) {
      const { market } = row
      const isKnown = list.markets.some((each) => each.market === market)
      list.add(row)
      const terms = isKnown ? undefined : registry.terms(market)
      if (terms !== undefined) {
        stated.set(market, terms)
        list.state(market, terms.terms)
      }
      return isKnown
    },
    state(market, streamSeq, terms) {
      if (streamSeq <= (stated.get(market)?.streamSeq ?? 0)) return
      registry.markTerms(market, streamSeq, terms)
      stated.set(market, { streamSeq, terms })
      list.state(market, terms)
    },
    stop: (market, why) => void stopped.set(market, why),
    release: (market) => void stopped.delete(market),
    close: (market, why) => void closed.set(market, why),
    stopped: () => [...stopped.values(), ...closed.values()],
    cancelRefusalOf(market) {
      const why = stopped.get(market)
      return why === undefined ? undefined : marketStopped(why)
    },
    refusalOf(market) {
      const why = stopped.get(market) ?? closed.get(market)
      if (why !== undefined) return tradingPaused(why)
      const { status, reason = '' } = stated.get(market)?.terms.standing ?? { status: 'open' }
      return status === 'paused' ? tradingPaused(`${market} is paused: ${reason}`) : undefined
    },
  }
}

/** The newest sample of the index and the limit by which it judges new orders. */
export interface IndexLagWatch extends Subscription {
  /** As of this moment; undefined without a limit. */
  readonly lag: (nowMs: number) => IndexLag | undefined
}

/**
 * Answers reports of samples and questions for the limit. The newest sample counts, by the time at which it was taken. It
 * is in memory alone: after a start, the next report counts.
 */
export async function openIndexLagWatch(
  { bus, log, indexLimit: gate }: AnswerParts & { readonly indexLimit?: IndexLagLimit | undefined },
  queue: string,
): Promise<IndexLagWatch> {
  let watch: IndexWatch | undefined = gate && { gate }
  const subscription = await bus.answer(askIndexLag, queue, (data, replyTo) => {
    const question = readQuestion(decodeIndexLagQuestion, data, warnOfUnreadable(log))
    if (question === undefined) return
    const { sample } = question
    if (watch !== undefined && sample !== undefined && sample.atMs >= (watch.sample?.atMs ?? 0)) {
      watch = { ...watch, sample }
    }
    bus.reply(replyTo, encodeIndexLagAnswer(watch === undefined ? {} : { watch }))
  })
  return {
    lag: (nowMs) => watch && indexLagAt(watch, nowMs),
    stop: () => subscription.stop(),
  }
}
