import type { Database } from 'better-sqlite3'

/** Highest projected `seq` of a market; 0 before its first change and for a market that is not projected. */
export function createReadProjectedSeq(db: Database): (market: string) => number {
  const select = db
    .prepare<[string], number>('SELECT feed_seq FROM markets WHERE market = ?')
    .pluck()
    .safeIntegers(false)
  return (market) => select.get(market) ?? 0
}
