/** Markets a key can tell apart: the ordinal is its low byte. */
const ORDINALS = 256

/**
 * A log position as one integer: the change's seq × 256 + the market's ordinal. Unique in the venue, increasing within
 * a market, and for a taker's fill the trade id (decision D4).
 */
export function logKey(seq: number, ordinal: number): number {
  return seq * ORDINALS + ordinal
}

/** The seq a key was made of. */
export function seqOfKey(key: number): number {
  return (key - (key % ORDINALS)) / ORDINALS
}
