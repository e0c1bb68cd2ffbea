import { formatDecimal, parseDecimal } from '../core/decimal.js'
import type { Side } from '../core/model/order.js'
import type { BookRecord } from '../interface/order.js'
import type { BookDelta } from '../interface/socket.js'

/** The open amount at one price of one side, as decimal text. */
export interface Level {
  readonly price: string
  readonly size: string
}

/** A market's book, built from a snapshot and its updates; engine sides and prices. */
export interface LocalBook {
  /** Last applied sequence; undefined before a snapshot. */
  seq(): number | undefined
  /** Replaces all content by a snapshot. */
  reset(snapshot: BookRecord, seq: number): void
  /** Applies the next update. */
  apply(delta: BookDelta, seq: number): void
  /** Best price first. */
  levels(side: Side): Level[]
  /** Open amount by order id. */
  openAmounts(): Map<string, string>
  /** Whether the order is in the book. */
  has(orderId: string): boolean
}

interface BookedOrder {
  readonly side: Side
  readonly priceE18: bigint
  readonly openE18: bigint
}

export function createLocalBook(): LocalBook {
  const orders = new Map<string, BookedOrder>()
  let seq: number | undefined

  function put(orderId: string, side: Side, [price, open]: readonly [string, string]): void {
    const openE18 = readE18(open)
    if (openE18 === 0n) orders.delete(orderId)
    else orders.set(orderId, { side, priceE18: readE18(price), openE18 })
  }

  return {
    seq: () => seq,
    reset({ bids, asks }, at) {
      orders.clear()
      for (const order of [...bids, ...asks]) {
        put(order.order_id, order.side, [order.limit_price, order.open_amount])
      }
      seq = at
    },
    apply(delta, at) {
      put(delta.order_id, delta.side, [delta.limit_price, delta.order_open])
      seq = at
    },
    levels: (side) =>
      levelsOf(
        [...orders.values()].filter((entry) => entry.side === side),
        side,
      ),
    has: (orderId) => orders.has(orderId),
    openAmounts: () =>
      new Map([...orders].map(([id, { openE18 }]) => [id, formatDecimal(openE18, 18)])),
  }
}

function levelsOf(entries: readonly BookedOrder[], side: Side): Level[] {
  const sizes = new Map<bigint, bigint>()
  for (const { priceE18, openE18 } of entries) {
    sizes.set(priceE18, (sizes.get(priceE18) ?? 0n) + openE18)
  }
  const lowFirst = [...sizes].sort(([a], [b]) => (a < b ? -1 : 1))
  const best = side === 'sell' ? lowFirst : lowFirst.reverse()
  return best.map(([price, size]) => ({
    price: formatDecimal(price, 18),
    size: formatDecimal(size, 18),
  }))
}

function readE18(text: string): bigint {
  const value = parseDecimal(text, 18)
  if (value === undefined) throw new TypeError(`the venue sent ${JSON.stringify(text)} as a number`)
  return value
}
