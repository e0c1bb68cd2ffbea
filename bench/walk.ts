import { applyCommand } from '../core/engine/apply-command.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import type { LoggedCommand } from '../core/model/command.js'
import { statusOf } from '../core/model/live-order.js'
import type { Order } from '../core/model/order.js'
import { openingOf } from '../core/model/market-terms.js'
import type { MatcherState } from '../core/engine/state.js'
import { benchMarket } from './bench-market.js'
import {
  benchOrder,
  cancelling,
  logged,
  placing,
  settling,
  type OrderOnGrid,
} from './bench-orders.js'
import { createRandom } from './random.js'

/** One step of a walk: an order in the units of the walk, or the cancel of one. */
export type WalkStep =
  | { readonly kind: 'place'; readonly onGrid: OrderOnGrid }
  | { readonly kind: 'cancel'; readonly number: number }

/** A market's flow, independent of the engine that matches it. */
export interface Walk {
  readonly steps: readonly WalkStep[]
  /** One for each step. */
  readonly commands: readonly LoggedCommand[]
  /** The same with a report after each match, which is how they stand in a log. */
  readonly settled: readonly LoggedCommand[]
  /** The state after them. */
  readonly state: MatcherState
}

/** What kind of flow a walk is. */
interface Flow {
  /** Of ten steps, those that place a passive order; one crosses, and the others cancel. */
  readonly passive: number
  /** Largest distance of a passive order from the middle. */
  readonly depth: number
  /** Whether the middle moves. */
  readonly drifts: boolean
  readonly crossingLots: number
}

/** A middle that drifts, in a book of a few thousand orders. */
const DRIFTING: Flow = { passive: 6, depth: 50, drifts: true, crossingLots: 30 }
/** A middle that stays, in a book that was filled before. */
const STATIC: Flow = { passive: 5, depth: 500, drifts: false, crossingLots: 3 }

const SEED = 7
const START_PRICE = 6_500
/** Distance of a crossing order beyond the middle. */
const REACH = 10
const PASSIVE_LOTS = 10

/**
 * A random walk of the middle under 60 % passive orders, 30 % cancels of resting orders, and 10 % crossing orders.
 * Without settlements the bound of pending matches limits the number of steps: to about 60,000 commands.
 */
export function createWalk(length: number): Walk {
  return walkOf(createWalker(SEED), length, emptyMatcherState(openingOf(benchMarket())))
}

/** The steps that fill a book, and those of a static market on it: half passive, 40 % cancels, 10 % crossing orders. */
export function createStaticWalk(resting: number, length: number): { filling: Walk; walk: Walk } {
  const walker = createWalker(SEED, STATIC)
  const state = emptyMatcherState(openingOf(benchMarket()))
  const fill = { next: () => walker.place() }
  return { filling: walkOf(fill, resting, state), walk: walkOf(walker, length, state, resting) }
}

function walkOf(
  walker: Pick<ReturnType<typeof createWalker>, 'next'>,
  length: number,
  state: MatcherState,
  numbered = 0,
): Walk {
  const steps: WalkStep[] = []
  const commands: LoggedCommand[] = []
  const settled: LoggedCommand[] = []
  while (steps.length < length) {
    const { step, command } = walker.next(state)
    steps.push(step)
    const next = logged(command, numbered + steps.length)
    commands.push(next)
    settled.push(next)
    for (const report of settleMatches(state, next, settled.length)) settled.push(report)
  }
  return { steps, commands, settled, state }
}

/** Applies the command and reports each of its matches as settled, with matcher numbers from the given one on. */
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

/** Generates the steps of a walk, each from the state after the ones before. */
export function createWalker(seed: number, flow: Flow = DRIFTING) {
  const random = createRandom(seed)
  const resting: Order[] = []
  let middle = START_PRICE
  let placed = 0

  function place(isCrossing = false) {
    placed += 1
    if (flow.drifts) middle += random(3) - 1
    const side = random(2) === 0 ? 'buy' : 'sell'
    const away = isCrossing ? -random(REACH) : 1 + random(flow.depth)
    const price = side === 'buy' ? middle - away : middle + away
    const lots = 1 + random(isCrossing ? flow.crossingLots : PASSIVE_LOTS)
    const onGrid: OrderOnGrid = { number: placed, side, price, lots }
    const order = benchOrder(onGrid)
    resting.push(order)
    return { step: { kind: 'place', onGrid } as const, command: placing(order) }
  }

  /** Removes one of the resting orders from the list and returns it. */
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
    place,
    next(state: MatcherState) {
      const kind = random(10)
      const order = kind >= flow.passive && kind < 9 ? takeResting(state) : undefined
      if (order === undefined) return place(kind === 9)
      const number = Number(order.orderId.slice(-12))
      return { step: { kind: 'cancel', number } as const, command: cancelling(order) }
    },
  }
}
