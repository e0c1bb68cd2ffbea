import { assert } from '../assert.js'
import { MAX_ORDINAL } from '../limits.js'

/** Markets that a trade id and a log position distinguish: the market's ordinal is the remainder by this. */
export const ORDINALS = MAX_ORDINAL + 1

/**
 * The number of something in its market, with the market's ordinal: unique in the venue, and increasing within a market. A
 * number that leaves the exact integers breaks an invariant.
 */
export function withOrdinal(no: number, ordinal: number): number {
  const id = no * ORDINALS + ordinal
  if (!Number.isSafeInteger(id)) assert(false, `number ${no} of market ${ordinal} is too large`)
  return id
}

/** The number in its market of what `withOrdinal` has named. */
export const numberIn = (id: number): number => (id - (id % ORDINALS)) / ORDINALS
