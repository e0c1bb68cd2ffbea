import { setTimeout as delay } from 'node:timers/promises'
import { assert } from '../core/assert.js'
import { ChainUnreachable } from './chain-unreachable.js'
import { NO_DOUBT } from './follow-transaction.js'
import type { ChainView } from './follow-transaction.js'
import { createFollowedTransactions, isOpen } from './followed-transactions.js'
import { broadcast, raiseStuck, rebroadcastDue, resendDropped } from './keep-sending.js'
import { watchGas } from './gas-reserve.js'
import type { Frozen } from './lane-facts.js'
import { lookAtChain } from './look-at-chain.js'
import { createResultWaiters } from './result-waiters.js'
import { settleTransactions } from './settle-transactions.js'
import type { TrackerOptions, Tracking } from './tracking.js'
import type { MinedTransaction, OpenTransaction } from './transaction-journal.js'
import { watchNonces } from './watch-nonces.js'

/** Sees every journalled transaction of one key through until the chain cannot lose it any more. */
export interface TransactionTracker {
  /** Takes up what the journal left open, broadcasts it again in the order of nonces, and begins to look for receipts. */
  start(): Promise<void>
  /** One look at the chain and what follows from it; for whoever does not `start`. */
  look(): Promise<void>
  /** Broadcasts a transaction that the journal holds, and follows it. */
  add(transaction: OpenTransaction): void
  /** The result once there is a receipt; undefined when there is none within the time or the tracker stops. */
  waitFor(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  /** Whether a node said that it has the transaction. */
  wasTaken(intentId: string): boolean
  /** Transactions that are not mined. */
  openCount(): number
  /** Transactions that are not final. */
  followedCount(): number
  /** Gas money that the open transactions may still claim, in wei. */
  reservedWei(): bigint
  frozen(): Frozen | undefined
  /** Whether the key held less than its reserve when it was last looked at. */
  isGasLow(): boolean
  /** Whether the chain was seen to be the right one since it was last silent. */
  isVerified(): boolean
  /** Milliseconds since the chain last answered a look. */
  readonly chainSilentMs: () => number
  stop(): Promise<void>
}

/** One poller serves all open transactions, however many wait for their receipts at once. */
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
      broadcast(tracking, followed.add({ transaction })).catch(onFatal)
    },
    waitFor(intentId, timeoutMs) {
      const open = followed.find(intentId)
      // What is open has no result, and its record is as long as its whole transaction.
      const state = open !== undefined && isOpen(open) ? undefined : journal.find(intentId)?.state
      if (state?.kind === 'mined') return Promise.resolve(state.transaction)
      if (stopping.signal.aborted) return Promise.resolve(undefined)
      return waiters.wait(intentId, timeoutMs)
    },
    wasTaken: (intentId) => followed.find(intentId)?.taken ?? false,
    openCount: () => followed.openCount(),
    followedCount: () => followed.all().length,
    reservedWei: () => followed.reservedWei(),
    frozen: () => tracking.frozen,
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

function beginTracking(options: TrackerOptions): Tracking {
  const { journal, nonces, nowMs } = options
  const followed = createFollowedTransactions()
  followed.replace(journal.unsettledTransactions(nonces.address))
  return {
    ...options,
    ...{ address: nonces.address, followed, waiters: createResultWaiters() },
    ...{ count: 0, mostUsed: 0, progressMs: nowMs(), lookedMs: nowMs(), highest: 0n },
    ...{ strangers: NO_DOUBT, missing: NO_DOUBT },
    ...{ gasLow: false, reachable: true, answeredAtMs: nowMs() },
  }
}

async function lookAlways(tracking: Tracking, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await delay(tracking.policy.pollMs, undefined, { signal: stopping }).catch(() => undefined)
    if (!stopping.aborted) await lookOnce(tracking)
  }
}

/** One look. A chain that gives no answer is asked again the next time; any other trouble is ours. */
async function lookOnce(tracking: Tracking): Promise<void> {
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

async function verify(tracking: Tracking): Promise<void> {
  const { verifyChain, verifiedMs, policy } = tracking
  const nowMs = tracking.nowMs()
  if (verifiedMs !== undefined && nowMs - verifiedMs < policy.verifyEveryMs) return
  await verifyChain?.()
  tracking.verifiedMs = nowMs
}

/** Nothing can have changed while the newest block is the same, unless something is doubtful. */
async function look(tracking: Tracking): Promise<void> {
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

function remember(tracking: Tracking, { nowMs, head, count }: ChainView): void {
  if (count > tracking.mostUsed) Object.assign(tracking, { mostUsed: count, progressMs: nowMs })
  if (head > tracking.highest) tracking.highest = head
  Object.assign(tracking, { count, lookedMs: nowMs })
}

/** Twice for each answer that counts as separate. */
function isToBeAskedAgain(tracking: Tracking): boolean {
  const { nowMs, lookedMs, policy } = tracking
  return (nowMs() - lookedMs) * 2 >= policy.doubtEveryMs && isUnsure(tracking)
}

function isUnsure({ followed, count, strangers, missing }: Tracking): boolean {
  if (strangers.times + missing.times > 0) return true
  return followed
    .all()
    .some((it) => it.doubt.times > 0 || (isOpen(it) && it.transaction.evmNonce < count))
}
