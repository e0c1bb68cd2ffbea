import type { Database } from 'better-sqlite3'
import { NO_ENTRY, type PositionEntry } from '../../core/contracts/position-entry.js'

interface EntryRow {
  readonly size: string
  readonly cost: string | null
}

const entryOf = ({ size, cost }: EntryRow): PositionEntry => ({
  size: BigInt(size),
  cost: cost === null ? undefined : BigInt(cost),
})

/** SQL of positionEntry. */
export const ENTRY_SQL = `
  SELECT size, cost FROM position_entries
  WHERE market_id = (SELECT market_id FROM markets WHERE market = ?) AND subaccount_id = ?`

/** What the fills of an account in a market add up to; undefined without any. */
export function createReadEntry(db: Database) {
  const select = db.prepare<[string, string], EntryRow>(ENTRY_SQL)
  return (market: string, subaccountId: bigint): PositionEntry | undefined => {
    const row = select.get(market, String(subaccountId))
    return row && entryOf(row)
  }
}

/** The same by the market's ordinal, to be written again. */
export function createEntryOf(db: Database) {
  const select = db.prepare<[number, string], EntryRow>(
    'SELECT size, cost FROM position_entries WHERE market_id = ? AND subaccount_id = ?',
  )
  return (ordinal: number, subaccountId: bigint): PositionEntry => {
    const row = select.get(ordinal, String(subaccountId))
    return row === undefined ? NO_ENTRY : entryOf(row)
  }
}
