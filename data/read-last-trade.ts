import type { Database } from 'better-sqlite3'
import { priceE18 } from '../core/money.js'
import type { PriceE18 } from '../core/money.js'

/** The query behind lastTradeSec and lastPrice. */
export const LAST_TRADE_SQL = `
  SELECT at_ms AS atMs, price FROM trades
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?)
    AND reversed_at_ms IS NULL
  ORDER BY trade_id DESC
  LIMIT 1`

type LastTrade = Readonly<{ atMs: number; price: string }>

const prepareLast = (db: Database) =>
  db.prepare<[string], LastTrade>(LAST_TRADE_SQL).safeIntegers(false)

/** Unix second of a market's newest fill that stands, undefined before the first. */
export function createReadLastTradeSec(db: Database): (market: string) => number | undefined {
  const select = prepareLast(db)
  return (market) => {
    const last = select.get(market)
    return last && Math.floor(last.atMs / 1000)
  }
}

/** Price of a market's newest fill that stands, undefined before the first. */
export function createReadLastPrice(db: Database): (market: string) => PriceE18 | undefined {
  const select = prepareLast(db)
  return (market) => {
    const last = select.get(market)
    return last && priceE18(BigInt(last.price))
  }
}
