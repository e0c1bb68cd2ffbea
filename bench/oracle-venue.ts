import { assert } from '../core/assert.js'
import { applyCommand } from '../core/engine/apply-command.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import type { Change } from '../core/model/change.js'
import type { Command } from '../core/model/command.js'
import { openingOf } from '../core/model/market-terms.js'
import type { Match } from '../core/model/match.js'
import type { Order } from '../core/model/order.js'
import { benchMarket } from './bench-market.js'
import { benchOrder, cancelling, logged, placing, settling, toGrid } from './bench-orders.js'
import type { OracleMessage } from './oracle-file.js'

/** Kinds of lines, by the benchmark's numbers. */
const ACKNOWLEDGED = 0
const TRADED = 1
const CANCELLED = 2
const MODIFIED = 3
const CANCEL_REFUSED = 4
const MODIFY_REFUSED = 5

interface Resting {
  readonly order: Order
  readonly side: number
  readonly ticks: number
}

/**
 * The venue's pure step behind the messages of the public matching-engine benchmark. Each match is settled at once, since the
 * benchmark has no settlement; a modified order is cancelled and placed anew, as the benchmark prescribes.
 */
export interface OracleVenue {
  /** The lines that the benchmark expects of a message, in its order. */
  apply(message: OracleMessage): string[]
}

export function createOracleVenue(): OracleVenue {
  const state = emptyMatcherState(openingOf(benchMarket()))
  /** By the benchmark's order id; also some that have ended since. */
  const placed = new Map<number, Resting>()
  /** The benchmark's ids of the orders of this run. */
  const idOf = new Map<string, number>()
  let commands = 0
  let orders = 0

  function run(command: Command): readonly Change[] {
    commands += 1
    const { changes, continueOrderIds } = applyCommand(state, logged(command, commands))
    const settled = changes.flatMap((change) =>
      change.kind === 'OrderMatched' ? run(settling(change.match.settlementId)) : [],
    )
    const rest = continueOrderIds.flatMap((orderId) => run({ kind: 'ContinueOrder', orderId }))
    return [...changes, ...settled, ...rest]
  }
  /** Takes an order out of the book; undefined when nothing of it rests. */
  function take(orderId: number): Resting | undefined {
    const resting = placed.get(orderId)
    placed.delete(orderId)
    if (resting === undefined) return undefined
    idOf.delete(resting.order.orderId)
    if (!state.orders.has(resting.order.orderId)) return undefined
    run(cancelling(resting.order))
    return resting
  }
  /** Places the order of a message; the lines of its trades, and whether some of it did not trade. */
  function place({ seq, orderId, side, ticks, lots, ioc }: OracleMessage) {
    orders += 1
    const plain = benchOrder({ number: orders, side, price: ticks, lots })
    const order: Order = ioc ? { ...plain, timeInForce: 'IOC' } : plain
    idOf.set(order.orderId, orderId)
    const matches = run(placing(order)).flatMap((change) =>
      change.kind === 'OrderMatched' ? [change.match] : [],
    )
    const trades = matches.map((match) => tradeLine(seq, match))
    const traded = matches.reduce((sum, match) => sum + onGrid(match).lots, 0)
    if (!ioc && traded < lots) placed.set(orderId, { order, side: numberOf(side), ticks })
    return { trades, isLeft: traded < lots }
  }
  function tradeLine(seq: number, match: Match): string {
    const { price, lots } = onGrid(match)
    const maker = idOf.get(match.makerOrderId)
    const taker = idOf.get(match.takerOrderId)
    assert(maker !== undefined && taker !== undefined, 'a match of unknown orders')
    return [TRADED, seq, price, lots, maker, taker].join()
  }
  return {
    apply(message) {
      const { type, seq, orderId, ticks, lots, ioc } = message
      const side = numberOf(message.side)
      if (type === 'cancel') {
        const taken = take(orderId)
        if (taken === undefined) return [[CANCEL_REFUSED, seq, orderId].join()]
        return [[CANCELLED, seq, taken.side, orderId, taken.ticks].join()]
      }
      if (type === 'modify') {
        if (take(orderId) === undefined) return [[MODIFY_REFUSED, seq, orderId].join()]
        const { trades } = place(message)
        return [...trades, [MODIFIED, seq, side, orderId, ticks, lots].join()]
      }
      const { trades, isLeft } = place(message)
      const lines = [[ACKNOWLEDGED, seq, side, orderId, ticks, lots].join(), ...trades]
      if (ioc && isLeft) lines.push([CANCELLED, seq, side, orderId, ticks].join())
      return lines
    },
  }
}

const numberOf = (side: OracleMessage['side']): number => (side === 'buy' ? 0 : 1)
const onGrid = ({ price, amount }: Match) => toGrid(price, amount)
