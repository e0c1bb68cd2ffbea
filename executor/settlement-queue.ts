import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { ChainUnreachable } from '../chain/chain-unreachable.js'
import type { Head } from '../chain/read-head.js'
import { LaneFrozen } from '../chain/transaction-lane.js'
import { JournalUnwritable } from '../data/transaction-journal.js'
import { settleGroup } from './settle-group.js'
import type { GroupDeps } from './settle-group.js'
import type { Settlement } from './settlement.js'
import type { Submission, Waiting } from './waiting.js'

export interface QueueDeps extends GroupDeps {
  /** The newest block; asked for each group. */
  readonly readHead: () => Promise<Head>
  /** How long a group is gathered beyond what came while the last one was tried out. */
  readonly windowMs: number
}

/** Settlements on their way to a transaction. */
export interface SettlementQueue {
  /**
   * Tries the settlement out and sends it, together with whatever waits at the same time. Rejects only when an
   * invariant is broken.
   */
  submit(settlement: Settlement): Promise<Submission>
  /** Finishes the group under way and turns away whatever else waits or comes. */
  stop(): Promise<void>
}

/** Settlements that wait at once; further ones are told to come again. */
export const MAX_WAITING = 4_096
/** Pause between two looks when everything waits for the chain. */
const LOOK_AGAIN_MS = 100
const STOPPING = 'the executor is stopping'

/**
 * One group after the other is tried out and signed, so that each is judged by what those before it leave. A group is
 * whatever came while the last one was worked on: under load that fills it, and without load nobody waits.
 */
export function createSettlementQueue(deps: QueueDeps): SettlementQueue {
  let waiting: Waiting[] = []
  let working: Promise<void> | undefined
  let stopped = false

  function turnAway(them: readonly Waiting[], why: string): void {
    for (const { resolve } of them) resolve({ kind: 'unavailable', why })
  }

  /** Looks at the next group; false when everything waits for the chain. */
  async function lookOnce(): Promise<boolean> {
    // Only those that are here already: none may be judged by a block that is older than its request.
    const here = new Set(waiting)
    let group: Waiting[] = []
    try {
      const head = await deps.readHead()
      const isDue = (one: Waiting) => here.has(one) && (one.waitsFor ?? -1) < head.count
      const due = waiting.filter(isDue)
      group = due.slice(0, deps.carrier.maxGroup)
      if (group.length === 0) return false
      const again = await settleGroup(deps, head, group, due.length > group.length)
      leave(group.filter((one) => !again.includes(one)))
    } catch (error) {
      fail(group, error as Error)
    }
    return true
  }

  function leave(them: readonly Waiting[]): void {
    const gone = new Set(them)
    waiting = waiting.filter((one) => !gone.has(one))
  }

  /** What the chain or the disk did not do for one they will not do for the next. */
  function fail(group: readonly Waiting[], error: Error): void {
    if (isOperating(error)) {
      turnAway(waiting.splice(0), error.message)
    } else {
      for (const { reject } of group) reject(error)
      leave(group)
    }
  }

  async function work(): Promise<void> {
    while (waiting.length > 0 && !stopped) {
      await (deps.windowMs === 0 ? nextTurn() : delay(deps.windowMs))
      if (!(await lookOnce())) await delay(LOOK_AGAIN_MS)
    }
    turnAway(waiting.splice(0), STOPPING)
    working = undefined
  }

  return {
    submit: (settlement) =>
      new Promise((resolve, reject) => {
        const one: Waiting = { settlement, resolve, reject, deferrals: 0 }
        if (stopped) return turnAway([one], STOPPING)
        if (waiting.length >= MAX_WAITING) return turnAway([one], 'too many settlements wait')
        waiting.push(one)
        working ??= work()
      }),
    async stop() {
      stopped = true
      await working
    },
  }
}

const isOperating = (error: Error): boolean =>
  [ChainUnreachable, JournalUnwritable, LaneFrozen].some((kind) => error instanceof kind)
