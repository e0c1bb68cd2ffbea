import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import { ChainUnreachable, orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import { countMined } from './count-mined.js'
import type { LaneFacts } from './lane-facts.js'
import { minedIntents, outcomesOfReceipt } from './mining-outcomes.js'
import type { OutcomesOf } from './mining-outcomes.js'
import { createOpenTransactions } from './open-transactions.js'
import type { Followed, OpenTransactions } from './open-transactions.js'
import { readReceipt } from './read-receipt.js'
import { createResultWaiters } from './result-waiters.js'
import type { ResultWaiters } from './result-waiters.js'
import { sendTransaction } from './send-transaction.js'
import type {
  MinedTransaction,
  OpenTransaction,
  TransactionJournal,
} from './transaction-journal.js'

export interface TransactionTrackerOptions {
  readonly address: Address
  readonly journal: TransactionJournal
  /** A `read` client. */
  readonly read: ChainClient
  /** A `submit` client. */
  readonly submit: ChainClient
  /** Pause between two looks at the chain. */
  readonly pollMs: number
  readonly facts: LaneFacts
  readonly outcomesOf?: OutcomesOf
  /** Called when the journal fails: nothing more can be promised then. */
  readonly onFatal: (error: unknown) => void
}

/** Sees every journalled transaction of one key through until the chain has mined it. */
export interface TransactionTracker {
  /** Takes up what the journal left open, broadcasts it again in the order of nonces, and begins to look for receipts. */
  start(): Promise<void>
  /** Broadcasts a transaction that the journal holds, and follows it. */
  add(transaction: OpenTransaction): void
  /** The result once there is a receipt; undefined when there is none within the time or the tracker stops. */
  waitFor(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  /** Whether a node said that it has the transaction. */
  wasTaken(intentId: string): boolean
  openCount(): number
  /** Gas money that the open transactions may still claim, in wei. */
  reservedWei(): bigint
  /** Milliseconds since the chain last answered a look. */
  readonly chainSilentMs: () => number
  stop(): Promise<void>
}

/** The same bytes go out again this long after the last time, as long as they are not mined. */
const REBROADCAST_MS = 10_000
/** Transactions broadcast again in one look, so that a long outage does not end in one burst. */
const MAX_REBROADCASTS_PER_LOOK = 64
/** Looks with the nonce used and no receipt of ours before the nonce counts as lost to a stranger. */
const LOOKS_BEFORE_LOST = 20

interface Tracking extends TransactionTrackerOptions {
  readonly open: OpenTransactions
  readonly waiters: ResultWaiters
  /** What the last look at receipts went by; they cannot have changed while both stand still. */
  lastSeen?: { readonly block: bigint; readonly count: number }
  /** One above the highest nonce that is known to be mined. */
  minedNonces: number
  reachable: boolean
  /** Of the process's monotonic clock. */
  answeredAtMs: number
}

/** One poller serves all open transactions, however many wait for their receipts at once. */
export function createTransactionTracker(options: TransactionTrackerOptions): TransactionTracker {
  const open = createOpenTransactions()
  const waiters = createResultWaiters()
  const tracking: Tracking = {
    ...{ ...options, open, waiters, minedNonces: 0 },
    ...{ reachable: true, answeredAtMs: performance.now() },
  }
  const stopping = new AbortController()
  let looking: Promise<void> = Promise.resolve()

  return {
    async start() {
      tracking.minedNonces = options.journal.nextNonce(options.address)
      open.replace(openIn(options))
      await lookOnce(tracking)
      looking = lookAlways(tracking, stopping.signal).catch(options.onFatal)
    },
    add(transaction) {
      assert(!open.has(transaction.evmNonce), `nonce ${transaction.evmNonce} is followed already`)
      broadcast(tracking, open.add(transaction)).catch(options.onFatal)
    },
    waitFor(intentId, timeoutMs) {
      const state = options.journal.find(intentId)?.state
      if (state?.kind === 'mined') return Promise.resolve(state.transaction)
      if (stopping.signal.aborted) return Promise.resolve(undefined)
      return waiters.wait(intentId, timeoutMs)
    },
    wasTaken: (intentId) => open.find(intentId)?.taken ?? false,
    openCount: () => open.size(),
    reservedWei: () => open.reservedWei(),
    chainSilentMs: () => performance.now() - tracking.answeredAtMs,
    async stop() {
      stopping.abort()
      waiters.wakeAll()
      await looking
    },
  }
}

async function lookAlways(tracking: Tracking, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await delay(tracking.pollMs, undefined, { signal: stopping }).catch(() => undefined)
    if (!stopping.aborted) await lookOnce(tracking)
  }
}

/** One look. A chain that gives no answer is asked again the next time; any other trouble is ours. */
async function lookOnce(tracking: Tracking): Promise<void> {
  try {
    await look(tracking)
    if (!tracking.reachable) tracking.facts.chainBack()
    tracking.reachable = true
    tracking.answeredAtMs = performance.now()
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
    if (tracking.reachable) tracking.facts.chainLost(error)
    tracking.reachable = false
  }
}

async function look(tracking: Tracking): Promise<void> {
  const { read, address, open } = tracking
  const [block, count] = await Promise.all([
    orUnreachable('block number', read.getBlockNumber()),
    countMined(read, address),
  ])
  if (count < tracking.minedNonces) reopenForgotten(tracking, count)
  // The two answers may be of different moments, so a count that comes late is news as well.
  if (block !== tracking.lastSeen?.block || count !== tracking.lastSeen.count) {
    await Promise.all(open.below(count).map((followed) => lookForReceipt(tracking, followed)))
    tracking.lastSeen = { block, count }
  }
  await rebroadcastDue(tracking, count)
}

/** What the chain forgot goes out again as the same bytes, so that results which were told come true again. */
function reopenForgotten(tracking: Tracking, count: number): void {
  const { journal, address, open, facts } = tracking
  const before = open.size()
  journal.reopen(address, journal.claimedFrom(address, count))
  tracking.minedNonces = count
  crash('lane.during_reorg_rollback')
  open.replace(openIn(tracking))
  if (open.size() > before) facts.reopened(open.size() - before)
}

function openIn({ journal, address }: TransactionTrackerOptions): OpenTransaction[] {
  const unsettled = journal.unsettledTransactions(address)
  return unsettled.flatMap(({ transaction, mined }) => (mined === undefined ? [transaction] : []))
}

async function lookForReceipt(tracking: Tracking, followed: Followed): Promise<void> {
  const { transaction } = followed
  const { journal, open, read, facts } = tracking
  const receipt = await readReceipt(read, transaction)
  if (receipt === undefined) {
    followed.vainLooks += 1
    if (followed.vainLooks === LOOKS_BEFORE_LOST) facts.nonceUnexplained(transaction.evmNonce)
    return
  }
  const { from, evmNonce, intentIds } = transaction
  const outcomes = await outcomesOfReceipt(
    { client: read, outcomesOf: tracking.outcomesOf },
    receipt,
    intentIds,
  )
  const { hash, blockNumber, blockHash } = receipt
  crash('lane.after_receipt_before_mark')
  const reversals = journal.recordMined(from, evmNonce, { hash, blockNumber, blockHash, outcomes })
  crash('lane.after_mark_before_answer')
  open.remove(evmNonce)
  tracking.minedNonces = Math.max(tracking.minedNonces, evmNonce + 1)
  const mined = minedIntents(receipt, intentIds, outcomes)
  facts.mined(transaction, mined)
  reversals.forEach(facts.reversed)
  for (const { intentId, result } of mined) tracking.waiters.wake(intentId, result)
}

async function rebroadcastDue(tracking: Tracking, count: number): Promise<void> {
  const nowMs = performance.now()
  const due = tracking.open
    .from(count)
    .filter(({ sentAtMs }) => sentAtMs === undefined || nowMs - sentAtMs >= REBROADCAST_MS)
  for (const followed of due.slice(0, MAX_REBROADCASTS_PER_LOOK)) {
    crash('lane.recovery_mid')
    await broadcast(tracking, followed)
  }
}

async function broadcast(tracking: Tracking, followed: Followed): Promise<void> {
  const { transaction } = followed
  followed.sentAtMs = performance.now()
  const answer = await sendTransaction(tracking.submit, transaction)
  crash('lane.after_broadcast_before_mark')
  if (answer.kind === 'taken') {
    followed.taken = true
    tracking.facts.broadcast(transaction)
  } else {
    tracking.facts.broadcastUnclear(transaction, answer.cause)
  }
}
