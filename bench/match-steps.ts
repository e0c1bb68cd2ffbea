import { OrderBook } from 'nodejs-order-book'
import { applyCommand } from '../core/engine/apply-command.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import type { LoggedCommand } from '../core/model/command.js'
import { openingOf } from '../core/model/market-terms.js'
import type { MatcherState } from '../core/engine/state.js'
import { benchMarket } from './bench-market.js'
import { logged, settling } from './bench-orders.js'
import { playOnPeer, type PeerStep } from './match-peer.js'

/**
 * Steps that are timed together: few enough that their input stays in the processor's cache, as it does when a matcher
 * has just decoded it.
 */
const STRETCH = 256

/** Some steps of a walk, followed by the settlement of all their matches. */
export interface Stretch {
  readonly commands: readonly LoggedCommand[]
  readonly reports: readonly LoggedCommand[]
}

/** Cost of one run, µs of processor time per step of the walk. */
export interface StepTimes {
  readonly step: number
  /** Including the settlement of every match. */
  readonly settled: number
}

/** Splits the commands of a walk on a market that was filled so, so that at most the matches of one batch are pending. */
export function stretchesOf(
  commands: readonly LoggedCommand[],
  filling: readonly LoggedCommand[] = [],
): Stretch[] {
  const state = filledWith(filling)
  const stretches: Stretch[] = []
  let reported = 0
  for (const stretch of cut(commands)) {
    for (const command of stretch) applyCommand(state, command)
    const atMs = state.nowMs
    const reports = Array.from(state.matches.keys(), (settlementId) => {
      reported += 1
      return { ...logged(settling(settlementId), reported), atMs }
    })
    for (const report of reports) applyCommand(state, report)
    stretches.push({ commands: stretch, reports })
  }
  return stretches
}

function filledWith(commands: readonly LoggedCommand[]): MatcherState {
  const state = emptyMatcherState(openingOf(benchMarket()))
  for (const command of commands) applyCommand(state, command)
  return state
}

/** What stands before a walk, not timed, and who looks at its end. */
interface Around<Step, End> {
  readonly filling?: readonly Step[]
  readonly onEnd?: (end: End) => void
}

/** Runs a walk on a market; the steps and the settlements between them are timed separately. */
export function timeVenue(
  stretches: readonly Stretch[],
  { filling = [], onEnd }: Around<LoggedCommand, MatcherState> = {},
) {
  const state = filledWith(filling)
  const apply = (commands: readonly LoggedCommand[]) => () => {
    for (const command of commands) applyCommand(state, command)
  }
  let steps = 0
  let stepUs = 0
  let settleUs = 0
  for (const { commands, reports } of stretches) {
    stepUs += cpuUsOf(commands, apply(commands))
    settleUs += cpuUsOf(reports, apply(reports))
    steps += commands.length
  }
  onEnd?.(state)
  return { step: stepUs / steps, settled: (stepUs + settleUs) / steps } satisfies StepTimes
}

/** The same walk on the peer, timed in the same batches. */
export function timePeer(
  steps: readonly PeerStep[],
  { filling = [], onEnd }: Around<PeerStep, OrderBook> = {},
): number {
  const book = new OrderBook()
  playOnPeer(book, filling)
  let us = 0
  for (const stretch of cut(steps)) us += cpuUsOf(stretch, () => playOnPeer(book, stretch))
  onEnd?.(book)
  return us / steps.length
}

function* cut<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += STRETCH) yield list.slice(at, at + STRETCH)
}

function cpuUsOf(given: readonly unknown[], work: () => void): number {
  if (readThrough(given) === 0) return 0
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Reads a whole value, so that it is in the cache as if it had just been created; returns its number of values. */
function readThrough(value: unknown): number {
  if (typeof value === 'string') return value.charCodeAt(0) >= 0 ? 1 : 0
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1
  let count = 0
  for (const key in value) count += readThrough(value[key as keyof typeof value])
  return count
}
