import type { Database } from 'better-sqlite3'

/** The query behind lastTradeSec. */
export const LAST_TRADE_SQL = `
  SELECT at_ms FROM trades
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)
  ORDER BY trade_id DESC
  LIMIT 1`

/** Unix second of a market's newest fill, undefined before the first. */
export function createReadLastTradeSec(db: Database): (market: string) => number | undefined {
  const select = db.prepare<[string], number>(LAST_TRADE_SQL).pluck().safeIntegers(false)
  return (market) => {
    const atMs = select.get(market)
    return atMs === undefined ? undefined : Math.floor(atMs / 1000)
  }
}
