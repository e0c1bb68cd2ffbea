import type { TradingRules } from '../contracts/contract.js'
import type { MarketObservation } from '../model/observation.js'
import { FACTS_REPEATED_MS, FACTS_SPARE_MS } from '../model/limits.js'

// What of a market without orders is logged. What asks here is the chain reader, which reads the facts each second: the answer is
// no part of a replay.

/** What the log has last, and what was read since. */
export interface ReadFacts {
  readonly logged: MarketObservation
  readonly read: MarketObservation
  /** Unix milliseconds of the reader's clock. */
  readonly nowMs: number
}

/**
 * Whether what was read belongs into the log of a market without orders: other facts, a hold that begins or ends with it, or
 * FACTS_REPEATED_MS without one. All else changes nothing but the age of facts that nothing is judged by.
 */
export function isObservationDue(
  { holdOf, wire }: Pick<TradingRules, 'holdOf' | 'wire'>,
  { logged, read, nowMs }: ReadFacts,
): boolean {
  // Either way: the reader's clock may have been set back.
  if (Math.abs(read.readAtMs - logged.readAtMs) >= FACTS_REPEATED_MS) return true
  const { write } = wire.marketFacts
  if (write(read.facts) !== write(logged.facts)) return true
  const [before, after] = [logged, read].map(
    (each) => holdOf?.(each, nowMs, FACTS_SPARE_MS)?.reason,
  )
  return before !== after
}
