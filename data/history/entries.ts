import type { Database } from 'better-sqlite3'
import { orderText } from '../../bus-schemas/orders.js'
import { assert } from '../../core/assert.js'
import type { PositionEntry } from '../../core/contracts/contract.js'
import {
  afterFill,
  afterReversal,
  NO_ENTRY,
  type PositionMove,
} from '../../core/contracts/positions.js'
import type { Fill } from '../../core/model/match.js'
import type { Side } from '../../core/model/order.js'

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
function createEntryOf(db: Database) {
  const select = db.prepare<[number, string], EntryRow>(
    'SELECT size, cost FROM position_entries WHERE market_id = ? AND subaccount_id = ?',
  )
  return (ordinal: number, subaccountId: bigint): PositionEntry => {
    const row = select.get(ordinal, String(subaccountId))
    return row === undefined ? NO_ENTRY : entryOf(row)
  }
}

/** One order's leg of a fill. */
interface EntryLeg {
  readonly side: Side
  readonly fill: Pick<Fill, 'price' | 'amount'>
}

interface EntryWriter {
  /** Adds a fill of the order with this key to the position of its account. */
  fill(ordinal: number, orderKey: number, leg: EntryLeg): void
  /** Takes back a fill that the chain has lost. */
  reverse(ordinal: number, orderKey: number, leg: EntryLeg): void
}

/** Writes what the fills of accounts add up to; must run inside a transaction. */
export function createEntryWriter(db: Database): EntryWriter {
  const before = createEntryOf(db)
  const body = db.prepare<[number], string>('SELECT body FROM orders WHERE order_key = ?').pluck()
  const write = db.prepare(
    `INSERT INTO position_entries (market_id, subaccount_id, size, cost) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET size = excluded.size, cost = excluded.cost`,
  )
  const mover =
    (after: typeof afterFill) =>
    (ordinal: number, orderKey: number, { side, fill: { price, amount } }: EntryLeg): void => {
      const order = body.get(orderKey)
      assert(order !== undefined, `order ${orderKey} has a fill and no row`)
      const { subaccountId } = orderText.read(order)
      const move: PositionMove = { side, price, amount }
      const { size, cost } = after(before(ordinal, subaccountId), move)
      write.run(
        ordinal,
        String(subaccountId),
        String(size),
        cost === undefined ? null : String(cost),
      )
    }
  return { fill: mover(afterFill), reverse: mover(afterReversal) }
}
