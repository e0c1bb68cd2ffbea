import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { SenderHead } from '../chain/reads/blocks.js'
import { ChainUnreachable } from '../chain/reads/client.js'
import type { GasFacts } from '../chain/sender/gas.js'
import { SenderFrozen } from '../chain/sender/transaction-sender.js'
import { quoteE18, type QuoteE18 } from '../core/money.js'
import { SignerUnavailable } from '../core/transaction-journal.js'
import { JournalUnwritable } from '../data/journal/journal-file.js'
import { causeOf, costOfMatch, GAS_OF_A_MATCH, type Cause } from './cause.js'
import { createFairOrder, type GroupRoom } from './fair-order.js'
import type { SumOfGas } from './in-flight.js'
import { settleGroup, type GroupDeps } from './settle-group.js'
import type { QueuedSettlement, Settlement, SubmitResult } from './settlement.js'
import { createWaitingRoom, TOO_MANY, type WaitingRoom } from './waiting-room.js'

export interface QueueDeps extends GroupDeps {
  /** Reads the newest block; called for each group. Undefined: it is too early to judge by it. */
  readonly readHead: () => Promise<SenderHead | undefined>
  /** How long the queue waits for more settlements before each group. */
  readonly windowMs: number
  /** Settlements whose fee is below this wait at most a block for others of the same accounts; 0: none waits. */
  readonly shareBelowFee: QuoteE18
  /** USDC at 1e18 for 1e18 wei: a match whose fee is below what its gas costs at it is dust. */
  readonly gasTokenPrice: QuoteE18
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** Settlements that are not sent yet. */
export interface SettlementQueue {
  /**
   * Simulates the settlement and sends it, in a group with the others that wait. Rejects only when an invariant is
   * broken.
   */
  submit(settlement: Settlement): Promise<SubmitResult>
  /** Settlements that are not in a transaction yet, those of the current group included. */
  waiting(): number
  /** Finishes the current group, and answers everything else with `unavailable`. */
  stop(): Promise<void>
}

/** Longest wait of a small settlement for another one with which it can share a transaction: a block of the chain. */
export const SHARE_WITHIN_MS = 2_000
/** Pause between two looks while every settlement waits for the chain. */
const LOOK_AGAIN_MS = 100
const STOPPING = 'the executor is stopping'

/**
 * Works on one group at a time, so that each is simulated on what the groups before it leave. A group is what arrived
 * while the last one was worked on, by turns of those who cause it (fair-order.ts): under load groups are full, and without
 * load a settlement does not wait.
 */
export function createSettlementQueue(deps: QueueDeps): SettlementQueue {
  const { shareBelowFee, elapsedMs = () => performance.now() } = deps
  const room = createWaitingRoom()
  let group: readonly QueuedSettlement[] = []
  const choice = createGroupChoice({ ...deps, ...deps.packer })
  let working: Promise<void> | undefined
  let stopped = false

  /** Works on the next group; false when none of it was settled, because all wait for the chain. */
  async function settleNext(): Promise<boolean> {
    try {
      const next = await nextOf(deps, { room, choice, elapsedMs })
      if (next === undefined || next.group.length === 0) return false
      group = next.group
      const again = new Set(await settleGroup(deps, next.head, group, next.moreWait))
      const settled = group.filter((one) => !again.has(one))
      choice.served(settled)
      room.remove(settled)
      return settled.length > 0
    } catch (error) {
      fail(error as Error)
      return true
    } finally {
      group = []
    }
  }

  /** A failure of the chain or of the disk concerns all that wait; any other one only its group, or all before there is one. */
  function fail(error: Error): void {
    if (isOperating(error)) return turnAway(room.clear(), error.message)
    const failed = group.length > 0 ? group : room.all()
    for (const { reject } of failed) reject(error)
    room.remove(failed)
  }

  /** Answers what there is no room for. */
  function enter(one: QueuedSettlement): void {
    const entry = room.add(one, choice.causeOf(one).owner, group)
    if (entry.kind === 'full') return turnAway([one], entry.why)
    if (entry.displaced !== undefined) turnAway([entry.displaced], TOO_MANY)
    working ??= work()
  }

  async function work(): Promise<void> {
    while (room.all().length > 0 && !stopped) {
      await (deps.windowMs === 0 ? nextTurn() : delay(deps.windowMs))
      if (!(await settleNext())) await delay(LOOK_AGAIN_MS)
    }
    turnAway(room.clear(), STOPPING)
    working = undefined
  }

  return {
    submit: (settlement) =>
      new Promise((resolve, reject) => {
        const one: QueuedSettlement = { settlement, resolve, reject, deferrals: 0 }
        if (isSmall(settlement, shareBelowFee)) one.sharesUntilMs = elapsedMs() + SHARE_WITHIN_MS
        if (stopped) return turnAway([one], STOPPING)
        enter(one)
      }),
    waiting: () => room.all().length,
    async stop() {
      stopped = true
      await working
    },
  }
}

interface Next {
  readonly head: SenderHead
  readonly group: readonly QueuedSettlement[]
  readonly moreWait: boolean
}

interface QueueWork extends Required<Pick<QueueDeps, 'elapsedMs'>> {
  readonly room: WaitingRoom
  readonly choice: GroupChoice
}

/** The settlements to work on, and the block to judge them by; none where it is too early for all of them. */
async function nextOf(
  deps: QueueDeps,
  { room, choice, elapsedMs }: QueueWork,
): Promise<Next | undefined> {
  // A settlement that arrives later must not be judged by a block that is older than its request.
  const arrived = new Set(room.all())
  const [head, gas] = await Promise.all([deps.readHead(), deps.txSender.readGas()])
  if (head === undefined) return undefined
  const isDue = (one: QueuedSettlement) => arrived.has(one) && (one.waitsFor ?? -1) < head.count
  const due = withoutLone(room.all().filter(isDue), elapsedMs())
  return { head, ...choice.choose(due, gas, deps.book.gasAfter(head.count)) }
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
  [ChainUnreachable, JournalUnwritable, SenderFrozen, SignerUnavailable].some(
    (kind) => error instanceof kind,
  )

/** While so many blocks' gas is in flight nothing is added: what arrives later would be mined after it. */
const MAX_BLOCKS_IN_FLIGHT = 2n
/** The part of a block's gas that dust in flight may have, while others wait and while none does. */
const PART_OF_DUST = { besideOthers: 10n, alone: 2n }

/** Which settlements come next. */
interface GroupChoice {
  /** Of those that are due, in the order of their arrival, with the gas of the moment and what is in flight. */
  choose(
    due: readonly QueuedSettlement[],
    gas: GasFacts,
    inFlight: SumOfGas,
  ): { readonly group: readonly QueuedSettlement[]; readonly moreWait: boolean }
  /** They are settled: their owners have had their turns. */
  served(these: readonly QueuedSettlement[]): void
  /** By what gas cost at the last choice. */
  causeOf(one: Pick<QueuedSettlement, 'settlement'>): Cause
}

interface GroupChoiceDeps {
  readonly maxGroup: number
  /** USDC at 1e18 for 1e18 wei. */
  readonly gasTokenPrice: QuoteE18
}

function createGroupChoice({ maxGroup, gasTokenPrice }: GroupChoiceDeps): GroupChoice {
  let cost = quoteE18(0n)
  const order = createFairOrder<QueuedSettlement>(({ settlement }) => ({
    ...causeOf(settlement, cost),
    accountIds: settlement.accountIds,
  }))
  return {
    choose(due, gas, inFlight) {
      cost = costOfMatch(gas, gasTokenPrice)
      for (const one of due) one.isDust = causeOf(one.settlement, cost).isDust
      return order.next(due, roomFor(due, maxGroup, gas, inFlight))
    },
    served: (these) => order.served(these),
    causeOf: ({ settlement }) => causeOf(settlement, cost),
  }
}

/** How many settlements the next group may have besides what is in flight, and how many of them may be dust. */
function roomFor(
  due: readonly QueuedSettlement[],
  most: number,
  { blockGasLimit }: GasFacts,
  { gas, dustGas }: SumOfGas,
): GroupRoom {
  if (gas >= MAX_BLOCKS_IN_FLIGHT * blockGasLimit) return { most: 0, mostDust: 0 }
  const othersWait = due.some(({ isDust }) => isDust !== true)
  const part = othersWait ? PART_OF_DUST.besideOthers : PART_OF_DUST.alone
  // Rounded down.
  const left = (blockGasLimit / part - dustGas) / GAS_OF_A_MATCH
  // One stands in every group with others, and by itself where none is in flight.
  const least = othersWait || dustGas === 0n ? 1 : 0
  const mostOfGroup = othersWait ? Math.floor(most / Number(part)) : most
  const fitting = left < BigInt(mostOfGroup) ? Number(left) : mostOfGroup
  return { most, mostDust: Math.max(least, fitting) }
}
