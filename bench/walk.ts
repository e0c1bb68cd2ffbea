import { applyCommand } from '../core/apply-command.js'
import type { LoggedCommand } from '../core/command.js'
import type { Order } from '../core/order.js'
import { statusOf } from '../core/live-order.js'
import { emptyMatcherState, type MatcherState } from '../core/matcher-state.js'
import { benchMarket } from './bench-market.js'
import {
  benchOrder,
  cancelling,
  logged,
  type OrderOnGrid,
  placing,
  settling,
} from './bench-orders.js'
import { createRandom } from './random.js'

/** One step of a walk: an order in the units of the walk, or the cancel of one. */
export type WalkStep =
  | { readonly kind: 'place'; readonly onGrid: OrderOnGrid }
  | { readonly kind: 'cancel'; readonly number: number }

/** A market's flow, the same for whoever is to match it. */
export interface Walk {
  readonly steps: readonly WalkStep[]
  /** One for each step. */
  readonly commands: readonly LoggedCommand[]
  /** The same with a report behind each match, which is how they stand in a log. */
  readonly settled: readonly LoggedCommand[]
  /** What they lead to. */
  readonly state: MatcherState
}

const SEED = 7
const START_PRICE = 6_500
/** How far a passive order stays from the middle at most, and how far a crossing one reaches beyond it. */
const DEPTH = 50
const REACH = 10
const PASSIVE_LOTS = 10
const CROSSING_LOTS = 30

/**
 * A random walk of the middle under 60 % passive orders, 30 % cancels of orders that rest, and 10 % orders that cross.
 * Without settlement a market takes so many steps only as leave its pending matches below their bound: of the commands
 * alone about 60,000.
 */
export function createWalk(length: number): Walk {
  const walker = createWalker(SEED)
  const state = emptyMatcherState(benchMarket())
  const steps: WalkStep[] = []
  const commands: LoggedCommand[] = []
  const settled: LoggedCommand[] = []
  while (steps.length < length) {
    const { step, command } = walker.next(state)
    steps.push(step)
    const next = logged(command, steps.length)
    commands.push(next)
    settled.push(next)
    for (const report of settleMatches(state, next, settled.length)) settled.push(report)
  }
  return { steps, commands, settled, state }
}

/** Applies the command and reports every match it makes as settled, from a number of the matcher's on. */
export function settleMatches(
  state: MatcherState,
  command: LoggedCommand,
  firstNo: number,
): LoggedCommand[] {
  const reports: LoggedCommand[] = []
  for (const change of applyCommand(state, command).changes) {
    if (change.kind !== 'OrderMatched') continue
    const report = logged(settling(change.match.settlementId), firstNo + reports.length)
    reports.push({ ...report, atMs: command.atMs })
  }
  for (const report of reports) applyCommand(state, report)
  return reports
}

/** Makes the steps of a walk, each for the state that the ones before led to. */
export function createWalker(seed: number) {
  const random = createRandom(seed)
  const resting: Order[] = []
  let middle = START_PRICE
  let placed = 0

  function place(isCrossing: boolean) {
    placed += 1
    middle += random(3) - 1
    const side = random(2) === 0 ? 'buy' : 'sell'
    const away = isCrossing ? -random(REACH) : 1 + random(DEPTH)
    const price = side === 'buy' ? middle - away : middle + away
    const lots = 1 + random(isCrossing ? CROSSING_LOTS : PASSIVE_LOTS)
    const onGrid: OrderOnGrid = { number: placed, side, price, lots }
    const order = benchOrder(onGrid)
    resting.push(order)
    return { step: { kind: 'place', onGrid } as const, command: placing(order) }
  }

  /** One of the orders that still rest, taken out of the list. */
  function takeResting(state: MatcherState): Order | undefined {
    while (resting.length > 0) {
      const at = random(resting.length)
      const order = resting[at]
      const last = resting.pop()
      if (last !== undefined && at < resting.length) resting[at] = last
      const live = order && state.orders.get(order.orderId)
      if (live !== undefined && statusOf(live) === 'active') return order
    }
    return undefined
  }

  return {
    next(state: MatcherState) {
      const kind = random(10)
      const order = kind >= 6 && kind < 9 ? takeResting(state) : undefined
      if (order === undefined) return place(kind === 9)
      const number = Number(order.orderId.slice(-12))
      return { step: { kind: 'cancel', number } as const, command: cancelling(order) }
    },
  }
}
