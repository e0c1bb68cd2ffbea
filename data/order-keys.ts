import type { Database } from 'better-sqlite3'
import { assert } from '../core/assert.js'

/** The key of an order that was placed; InvariantBroken for one that never was. */
export type OrderKeys = (orderId: string) => number

export function createOrderKeys(db: Database): OrderKeys {
  const select = db
    .prepare<[string], number>('SELECT order_key FROM orders WHERE order_id = ?')
    .pluck()
    .safeIntegers(false)
  return (orderId) => {
    const key = select.get(orderId)
    assert(key !== undefined, `order ${JSON.stringify(orderId)} was never placed`)
    return key
  }
}
