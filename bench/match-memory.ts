import { applyCommand } from '../core/engine/apply-command.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import { LIVE_ORDERS_MAX } from '../core/model/limits.js'
import { openingOf } from '../core/model/market-terms.js'
import type { MatcherState } from '../core/engine/state.js'
import { benchMarket } from './bench-market.js'
import { logged, placing, restingOrder } from './bench-orders.js'
import type { Row, Size } from './bench.js'
import { heapBytes } from './heap.js'
import { decodeCommands, encodeCommands } from './bench-market.js'

/** A market holds at most LIVE_ORDERS_MAX orders; a million takes five markets in one process. */
const ORDERS = { tiny: 1_000, usual: 5 * LIVE_ORDERS_MAX, full: 5 * LIVE_ORDERS_MAX }
const BATCH = 64
const MIB = 2 ** 20

/** Heap of resting orders; they are decoded from messages, so that they hold the same objects as in a matcher. */
export async function memoryAtRest(size: Size): Promise<{ rows: Row[]; note: string }> {
  const orders = ORDERS[size]
  const before = await heapBytes()
  const states: MatcherState[] = []
  for (let left = orders; left > 0; left -= LIVE_ORDERS_MAX) {
    states.push(filledMarket(Math.min(left, LIVE_ORDERS_MAX)))
  }
  const bytes = (await heapBytes()) - before
  const resting = states.reduce((sum, { orders }) => sum + orders.size, 0)
  if (resting !== orders) throw new Error(`${resting} of ${orders} orders rest`)
  return {
    rows: [
      { what: `memory at ${orders} resting orders`, unit: 'MiB', values: [bytes / MIB] },
      { what: 'memory per resting order', unit: 'bytes', values: [bytes / orders] },
    ],
    note: `Memory is the heap's, once, after collecting garbage, in ${states.length} market${states.length === 1 ? '' : 's'}: one keeps at most ${LIVE_ORDERS_MAX} orders.`,
  }
}

function filledMarket(orders: number): MatcherState {
  const state = emptyMatcherState(openingOf(benchMarket()))
  for (let from = 1; from <= orders; from += BATCH) {
    const count = Math.min(BATCH, orders - from + 1)
    const commands = Array.from({ length: count }, (_, index) => {
      const number = from + index
      return logged(placing(restingOrder(number)), number)
    })
    for (const command of decodeCommands(encodeCommands(commands))) applyCommand(state, command)
  }
  return state
}
