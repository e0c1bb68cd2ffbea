import { describeDifference, differences, openingOf } from '../../core/contracts/market-terms.js'
import type { MatcherState } from '../../core/engine/state.js'
import type { MatcherSettings } from './config.js'

/** Whether the market's row of the market file agrees with its log. */
export interface Agreement {
  /** Where they differ, with the cure; undefined once they agree. */
  trouble(): string | undefined
}

/**
 * Compares them at the start: the log governs, and a difference is an edit that no command has made. While they differ
 * the row is read again each time, so that the cure needs no restart. Later edits are seen by the next start.
 */
export function createAgreement(
  { market, readRow, facts }: Pick<MatcherSettings, 'market' | 'readRow' | 'facts'>,
  state: MatcherState,
): Agreement {
  let found = differences(openingOf(market), state)
  const lines = () => found.map((each) => describeDifference(market.market, each))
  if (found.length > 0) facts.fileDiffers(lines())
  return {
    trouble: () => {
      if (found.length === 0) return undefined
      found = differences(openingOf(readRow()), state)
      return found.length === 0 ? undefined : lines().join('; ')
    },
  }
}
