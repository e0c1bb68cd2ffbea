import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { LaneFrozen } from '../chain/lane/transaction-lane.js'
import type { SenderHead } from '../chain/reads/blocks.js'
import { ChainUnreachable } from '../chain/reads/client.js'
import type { QuoteE18 } from '../core/money.js'
import { SignerUnavailable } from '../core/transaction-journal.js'
import { JournalUnwritable } from '../data/journal/transaction-journal.js'
import { settleGroup, type GroupDeps } from './settle-group.js'
import type { QueuedSettlement, Settlement, Submission } from './settlement.js'

export interface QueueDeps extends GroupDeps {
  /** Reads the newest block; called for each group. Undefined: it is too early to judge by it. */
  readonly readHead: () => Promise<SenderHead | undefined>
  /** How long the queue waits for more settlements before each group. */
  readonly windowMs: number
  /** Settlements whose fee is below this wait at most a block for others of the same accounts; 0: none waits. */
  readonly shareBelowFee: QuoteE18
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** Settlements that are not sent yet. */
export interface SettlementQueue {
  /**
   * Simulates the settlement and sends it, in a group with the others that wait. Rejects only when an invariant is
   * broken.
   */
  submit(settlement: Settlement): Promise<Submission>
  /** Settlements that are not in a transaction yet, those of the current group included. */
  waiting(): number
  /** Finishes the current group, and answers everything else with `unavailable`. */
  stop(): Promise<void>
}

/** The bound of the queue; further settlements are answered with `unavailable`. */
export const MAX_WAITING = 4_096
/** Longest wait of a small settlement for another one with which it can share a transaction: a block of the chain. */
export const SHARE_WITHIN_MS = 2_000
/** Pause between two looks while every settlement waits for the chain. */
const LOOK_AGAIN_MS = 100
const STOPPING = 'the executor is stopping'

/**
 * Works on one group at a time, so that each is simulated on what the groups before it leave. A group is what arrived
 * while the last one was worked on: under load groups are full, and without load a settlement does not wait.
 */
export function createSettlementQueue(deps: QueueDeps): SettlementQueue {
  const { shareBelowFee, elapsedMs = () => performance.now() } = deps
  let waiting: QueuedSettlement[] = []
  let working: Promise<void> | undefined
  let stopped = false

  /** Works on the next group; false when every settlement waits for the chain. */
  async function settleNext(): Promise<boolean> {
    // A settlement that arrives later must not be judged by a block that is older than its request.
    const arrived = new Set(waiting)
    let group: QueuedSettlement[] = []
    try {
      const head = await deps.readHead()
      if (head === undefined) return false
      const isDue = (one: QueuedSettlement) => arrived.has(one) && (one.waitsFor ?? -1) < head.count
      const due = withoutLone(waiting.filter(isDue), elapsedMs())
      group = due.slice(0, deps.packer.maxGroup)
      if (group.length === 0) return false
      const again = await settleGroup(deps, head, group, due.length > group.length)
      remove(group.filter((one) => !again.includes(one)))
    } catch (error) {
      fail(group, error as Error)
    }
    return true
  }

  function remove(these: readonly QueuedSettlement[]): void {
    const gone = new Set(these)
    waiting = waiting.filter((one) => !gone.has(one))
  }

  /** A failure of the chain or of the disk concerns all that wait; any other one only its group. */
  function fail(group: readonly QueuedSettlement[], error: Error): void {
    if (isOperating(error)) {
      turnAway(waiting.splice(0), error.message)
    } else {
      for (const { reject } of group) reject(error)
      remove(group)
    }
  }

  async function work(): Promise<void> {
    while (waiting.length > 0 && !stopped) {
      await (deps.windowMs === 0 ? nextTurn() : delay(deps.windowMs))
      if (!(await settleNext())) await delay(LOOK_AGAIN_MS)
    }
    turnAway(waiting.splice(0), STOPPING)
    working = undefined
  }

  return {
    submit: (settlement) =>
      new Promise((resolve, reject) => {
        const one: QueuedSettlement = { settlement, resolve, reject, deferrals: 0 }
        if (isSmall(settlement, shareBelowFee)) one.sharesUntilMs = elapsedMs() + SHARE_WITHIN_MS
        if (stopped) return turnAway([one], STOPPING)
        if (waiting.length >= MAX_WAITING) return turnAway([one], 'too many settlements wait')
        waiting.push(one)
        working ??= work()
      }),
    waiting: () => waiting.length,
    async stop() {
      stopped = true
      await working
    },
  }
}

function turnAway(these: readonly QueuedSettlement[], why: string): void {
  for (const { resolve } of these) resolve({ kind: 'unavailable', why })
}

/** Whether its fee pays too little of a transaction of its own. The fee of an unknown market is not known. */
const isSmall = ({ match }: Settlement, below: QuoteE18): boolean =>
  match !== undefined && match.terms.takerFee < below

/** The settlements without small ones that have to wait for another one of their accounts, in their order. */
function withoutLone(due: readonly QueuedSettlement[], nowMs: number): QueuedSettlement[] {
  const waits = ({ sharesUntilMs = 0 }: QueuedSettlement): boolean => sharesUntilMs > nowMs
  if (!due.some(waits)) return [...due]
  const ofAccounts = new Map<string, number>()
  for (const one of due) ofAccounts.set(accountsOf(one), (ofAccounts.get(accountsOf(one)) ?? 0) + 1)
  return due.filter((one) => !waits(one) || (ofAccounts.get(accountsOf(one)) ?? 0) > 1)
}

const accountsOf = ({ settlement: { accountIds } }: QueuedSettlement): string =>
  accountIds.map(String).sort().join()

const isOperating = (error: Error): boolean =>
  [ChainUnreachable, JournalUnwritable, LaneFrozen, SignerUnavailable].some(
    (kind) => error instanceof kind,
  )
