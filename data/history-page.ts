/**
 * Where a row of an owner's history stands, over all markets: by market time, then by log position. No two rows of
 * one history stand at the same place.
 */
export interface HistoryPosition {
  /** Unix milliseconds. */
  readonly atMs: number
  /** Log position: `seq × 256 + the market's ordinal`. */
  readonly key: number
}

/** A page of an owner's history, newest first: at most `limit` rows strictly older than `before`, when given. */
export interface HistoryPage {
  readonly limit: number
  readonly before?: HistoryPosition | undefined
}

/** The bounds of a page as the queries take them; absent, they lie beyond every row. */
export function boundsOf({ before }: HistoryPage): [atMs: number, key: number] {
  return before === undefined
    ? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
    : [before.atMs, before.key]
}
