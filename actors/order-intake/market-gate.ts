import { decodeIndexLagQuestion, encodeIndexLagAnswer } from '../../bus-schemas/reports.js'
import { askIndexLag } from '../../bus-schemas/subjects.js'
import {
  indexLagAt,
  type IndexLag,
  type IndexLagGate,
  type IndexWatch,
} from '../../core/contracts/index-lag.js'
import {
  describeDifference,
  differences,
  openingOf,
  type MarketTerms,
} from '../../core/contracts/market-terms.js'
import type { Market } from '../../core/contracts/market.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { marketStopped, tradingPaused } from '../../core/entry/market-refusals.js'
import type { Refusal } from '../../core/entry/refusals.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import {
  readQuestion,
  warnOfUnreadable,
  type AnswerParts,
} from '../../runtime/bus/read-question.js'
import type { Logger } from '../../runtime/process/log.js'

/** The markets of the intake, as their feeds have stated them, and whether each takes new orders. */
export interface MarketGate {
  /** Always the same array. */
  readonly markets: readonly Market[]
  /** Adds a row of the market file; what its feed stated before this process started holds at once. */
  add(row: Market): void
  /** Takes the terms that a message of the market's feed states. */
  state(market: string, streamSeq: number, terms: MarketTerms): void
  /** The market's feed is read as far as it went when this process started. */
  caughtUp(market: string): void
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

interface MarketGateOptions {
  readonly registry: Pick<IntakeRegistry, 'terms' | 'markTerms'>
  /** Reads the market's row of the market file again. */
  readonly readRow: (market: string) => Market | undefined
  readonly log: Logger
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

interface Gated {
  row: Market
  terms: MarketTerms | undefined
  /** Message of the feed that stated them. */
  statedAt: number
  /** The feed was not read yet as far as it went at the start. */
  isStarting: boolean
  /** Where market file and log differ; while there is a difference no new order is taken. */
  differs: string | undefined
  lookedAtMs: number
}

const LOOK_EVERY_MS = 1_000

/**
 * Compares the market file with the feed at the start: a difference is an edit that no command has made. Edits of a
 * running venue are left to its next start, since the command that changes a market writes the log first.
 */
export function createMarketGate(options: MarketGateOptions): MarketGate {
  const { registry, readRow, log, elapsedMs = () => performance.now() } = options
  const list = createMarketList([])
  const gated = new Map<string, Gated>()
  const stopped = new Map<string, string>()
  const closed = new Map<string, string>()

  const compare = (market: Gated): void => {
    const { differs: before } = market
    const { market: name } = market.row
    let lines = linesOf(market)
    if (lines.length > 0 && elapsedMs() - market.lookedAtMs >= LOOK_EVERY_MS) {
      // The row may have been read long ago, by an intake that stood by while commands changed log and file.
      market.lookedAtMs = elapsedMs()
      market.row = readRow(name) ?? market.row
      lines = linesOf(market)
    }
    market.differs = lines.length === 0 ? undefined : lines.join('; ')
    if (market.differs === before) return
    if (market.differs === undefined) log.info({ market: name }, 'market file and log agree')
    else log.error({ market: name, why: market.differs }, 'new orders are refused')
  }
  return {
    markets: list.markets,
    add(row) {
      const { market } = row
      const { streamSeq = 0, terms } = registry.terms(market) ?? {}
      const known: Gated = {
        ...{ row, terms, statedAt: streamSeq, isStarting: true },
        ...{ differs: undefined, lookedAtMs: -Infinity },
      }
      gated.set(market, known)
      list.add(row)
      if (terms !== undefined) list.state(market, terms)
      compare(known)
    },
    state(market, streamSeq, terms) {
      const known = gated.get(market)
      if (known === undefined || streamSeq <= known.statedAt) return
      registry.markTerms(market, streamSeq, terms)
      list.state(market, terms)
      Object.assign(known, { terms, statedAt: streamSeq })
      if (known.isStarting || known.differs !== undefined) compare(known)
    },
    caughtUp(market) {
      const known = gated.get(market)
      if (known !== undefined) known.isStarting = false
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
      const known = gated.get(market)
      if (known?.differs !== undefined) compare(known)
      if (known?.differs !== undefined) return tradingPaused(known.differs)
      const { status, reason = '' } = known?.terms?.standing ?? { status: 'open' }
      return status === 'paused' ? tradingPaused(`${market} is paused: ${reason}`) : undefined
    },
  }
}

/** Where the market file and the log differ, as far as the feed was heard. */
const linesOf = ({ row, terms }: Gated): string[] => {
  const found = terms === undefined ? [] : differences(openingOf(row), terms)
  return found.map((each) => describeDifference(row.market, each))
}

/** The newest sample of the index and the gate that judges new orders by it. */
export interface IndexGate extends Subscription {
  /** As of this moment; undefined without a gate. */
  readonly lag: (nowMs: number) => IndexLag | undefined
}

/**
 * Answers reports of samples and questions for the gate. The newest sample counts, by the time at which it was taken. It
 * is in memory alone: after a start, the next report counts.
 */
export async function openIndexGate(
  { bus, log, indexGate: gate }: AnswerParts & { readonly indexGate?: IndexLagGate | undefined },
  queue: string,
): Promise<IndexGate> {
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
