import { setTimeout as delay } from 'node:timers/promises'
import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { ChainUnreachable } from '../reads/client.js'
import { acceptForeign } from './accept-foreign.js'
import { NO_DOUBT, type ChainView } from './follow-transaction.js'
import { createFollowedTransactions, isOpen } from './key-nonces.js'
import {
  broadcast,
  isPublished,
  raiseStuck,
  rebroadcastDue,
  resendDropped,
} from './keep-sending.js'
import { lookAtChain, settleTransactions } from './look-at-chain.js'
import { watchGas, watchNonces } from './watch-nonces.js'
import type { Frozen } from './observe-sender.js'
import type { MinedTransaction, OpenTransaction } from '../../core/transaction-journal.js'
import type { TrackerOptions, TrackerState, ResultWaiters, Acceptance } from './tracking.js'

/** Follows every journaled transaction of one key until it is final. */
export interface TransactionTracker {
  /** Broadcasts open transactions of the journal again, in the order of nonces, and starts to poll. */
  start(): Promise<void>
  /** One poll of the chain, for callers that do not `start`. */
  look(): Promise<void>
  /** Follows a journaled transaction, and broadcasts it once the journal on the bus holds it. */
  add(transaction: OpenTransaction): void
  /** The result of an intent; undefined when there is none within the time, or when the tracker stops. */
  waitFor(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  /** Whether the intent's transaction is not final. */
  isFollowing(intentId: string): boolean
  /** Whether a node accepted the transaction. */
  wasTaken(intentId: string): boolean
  /** The number of transactions that are not mined. */
  openCount(): number
  /** The number of transactions that are not final. */
  followedCount(): number
  /** The most that the open transactions may still cost, in wei. */
  reservedWei(): bigint
  frozen(): Frozen | undefined
  /** Ends the freeze for the foreign transaction of that hash; rejects with ChainUnreachable. */
  acceptForeign(hash: Hex): Promise<Acceptance>
  /** Whether the key held less than its reserve at the last poll. */
  isGasLow(): boolean
  /** Whether the chain was verified since the node last failed to answer. */
  isVerified(): boolean
  /** Milliseconds since the last successful poll. */
  readonly chainSilentMs: () => number
  stop(): Promise<void>
}

/** One poller serves all transactions of the key. */
export function createTransactionTracker(options: TrackerOptions): TransactionTracker {
  const { journal, nonces, nowMs, onFatal } = options
  const tracking = beginTracking(options)
  const { followed, waiters } = tracking
  const stopping = new AbortController()
  let looking: Promise<void> = Promise.resolve()

  return {
    async start() {
      await lookOnce(tracking)
      looking = lookAlways(tracking, stopping.signal).catch(onFatal)
    },
    look: () => lookOnce(tracking),
    add(transaction) {
      assert(transaction.from === nonces.address, 'a transaction of another key')
      assert(
        !followed.has(transaction.evmNonce),
        `nonce ${transaction.evmNonce} is followed already`,
      )
      const added = followed.add({ transaction })
      const send = async (): Promise<void> => {
        if (!isPublished(tracking, added)) await journal.durable()
        // A poll may have sent it meanwhile; what a stop keeps back is sent by the next start.
        if (added.sentAtMs === undefined && !stopping.signal.aborted)
          await broadcast(tracking, added)
      }
      send().catch(onFatal)
    },
    waitFor(intentId, timeoutMs) {
      const open = followed.find(intentId)
      // An open intent has no result; skip reading its record, which holds the whole transaction.
      const state = open !== undefined && isOpen(open) ? undefined : journal.find(intentId)?.state
      if (state?.kind === 'mined') return Promise.resolve(state.transaction)
      if (stopping.signal.aborted) return Promise.resolve(undefined)
      return waiters.wait(intentId, timeoutMs)
    },
    isFollowing: (intentId) => followed.find(intentId) !== undefined,
    wasTaken: (intentId) => followed.find(intentId)?.taken ?? false,
    openCount: () => followed.openCount(),
    followedCount: () => followed.all().length,
    reservedWei: () => followed.reservedWei(),
    frozen: () => tracking.frozen,
    acceptForeign: (hash) => acceptForeign(tracking, hash),
    isGasLow: () => tracking.gasLow,
    isVerified: () => tracking.verifiedMs !== undefined,
    chainSilentMs: () => nowMs() - tracking.answeredAtMs,
    async stop() {
      stopping.abort()
      waiters.wakeAll()
      await looking
    },
  }
}

function beginTracking(options: TrackerOptions): TrackerState {
  const { journal, nonces, nowMs } = options
  const followed = createFollowedTransactions()
  followed.replace(journal.unsettledTransactions(nonces.address))
  return {
    ...options,
    address: nonces.address,
    followed,
    waiters: createResultWaiters(),
    count: 0,
    mostUsed: 0,
    progressMs: nowMs(),
    lookedMs: nowMs(),
    highest: 0n,
    foreign: NO_DOUBT,
    missing: NO_DOUBT,
    frozen: options.frozen,
    gasLow: false,
    reachable: true,
    answeredAtMs: nowMs(),
  }
}

async function lookAlways(tracking: TrackerState, stopping: AbortSignal): Promise<void> {
  for (let pauses = 1; !stopping.aborted; pauses += 1) {
    await delay(tracking.policy.pollMs, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted || (isIdle(tracking) && pauses < IDLE_PAUSES)) continue
    await lookOnce(tracking)
    pauses = 0
  }
}

/** Pauses between two polls of an idle sender, so that it costs a node a request a second. */
const IDLE_PAUSES = 4

/** Nothing waits for the next block: what is mined may still be lost, and another process may use the key. */
const isIdle = ({ followed, reachable }: TrackerState): boolean =>
  reachable && followed.openCount() === 0

/** One poll. A node that does not answer is polled again; any other error is fatal. */
async function lookOnce(tracking: TrackerState): Promise<void> {
  try {
    await look(tracking)
    if (!tracking.reachable) tracking.facts.chainBack()
    tracking.reachable = true
    tracking.answeredAtMs = tracking.nowMs()
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
    if (tracking.reachable) tracking.facts.chainLost(error)
    tracking.reachable = false
    tracking.verifiedMs = undefined
  }
}

async function verify(tracking: TrackerState): Promise<void> {
  const { verifyChain, verifiedMs, policy } = tracking
  const nowMs = tracking.nowMs()
  if (verifiedMs !== undefined && nowMs - verifiedMs < policy.verifyEveryMs) return
  await verifyChain?.()
  tracking.verifiedMs = nowMs
}

/** Reads nothing while the newest block is the same, unless a contradiction is open. */
async function look(tracking: TrackerState): Promise<void> {
  await verify(tracking)
  const head = await tracking.chain.head()
  if (head.hash !== tracking.head?.hash || isToBeAskedAgain(tracking)) {
    const view = await lookAtChain(tracking, { head, nowMs: tracking.nowMs() })
    remember(tracking, view)
    await settleTransactions(tracking, view)
    await watchNonces(tracking, view)
    await watchGas(tracking)
    tracking.head = head
    await resendDropped(tracking)
  }
  await raiseStuck(tracking)
  await rebroadcastDue(tracking)
}

function remember(tracking: TrackerState, { nowMs, head, count }: ChainView): void {
  if (count > tracking.mostUsed) Object.assign(tracking, { mostUsed: count, progressMs: nowMs })
  if (head > tracking.highest) tracking.highest = head
  Object.assign(tracking, { count, lookedMs: nowMs })
}

/** Asks at half of `doubtEveryMs` while a contradiction is open. */
function isToBeAskedAgain(tracking: TrackerState): boolean {
  const { nowMs, lookedMs, policy } = tracking
  return (nowMs() - lookedMs) * 2 >= policy.doubtEveryMs && isUnsure(tracking)
}

function isUnsure({ followed, count, foreign, missing }: TrackerState): boolean {
  if (foreign.times + missing.times > 0) return true
  return followed
    .all()
    .some((it) => it.doubt.times > 0 || (isOpen(it) && it.transaction.evmNonce < count))
}

type Wake = (mined: MinedTransaction | undefined) => void

function createResultWaiters(): ResultWaiters {
  const waiting = new Map<string, Set<Wake>>()

  function wakeOne(intentId: string, mined: MinedTransaction | undefined): void {
    for (const wake of waiting.get(intentId) ?? []) wake(mined)
    waiting.delete(intentId)
  }

  function wait(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined> {
    return new Promise((resolve) => {
      const wakes = waiting.get(intentId) ?? new Set<Wake>()
      const wake: Wake = (mined) => {
        clearTimeout(timer)
        wakes.delete(wake)
        if (wakes.size === 0 && waiting.get(intentId) === wakes) waiting.delete(intentId)
        resolve(mined)
      }
      const timer = setTimeout(() => wake(undefined), timeoutMs)
      waiting.set(intentId, wakes.add(wake))
    })
  }

  return {
    wait,
    wake: wakeOne,
    wakeAll: () => {
      for (const intentId of [...waiting.keys()]) wakeOne(intentId, undefined)
    },
  }
}
