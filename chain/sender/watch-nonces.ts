import { crash } from '../../core/crash-point.js'
import { ChainUnreachable } from '../reads/client.js'
import { type ChainView, NO_DOUBT, raiseDoubt } from './follow-transaction.js'
import { reserveWei } from './gas.js'
import { orUnsigned } from './keep-sending.js'
import type { Consumer } from './investigate.js'
import type { FollowedTransaction } from './key-nonces.js'
import type { Frozen } from './observe-sender.js'
import type { Inclusion } from '../../core/transaction-journal.js'
import type { TrackerState } from './tracking.js'

/** Gaps filled in one poll, so that a long one does not end in one burst. */
const MAX_FILLED_PER_LOOK = 16

/**
 * Checks the key's nonces as a whole: whether foreign transactions used some, whether the chain has lost final ones,
 * and whether there are gaps below ours.
 */
export async function watchNonces(tracking: TrackerState, view: ChainView): Promise<void> {
  await watchForeign(tracking, view)
  await watchMissing(tracking, view)
}

async function watchForeign(tracking: TrackerState, view: ChainView): Promise<void> {
  if (view.count <= tracking.nonces.next() || tracking.frozen !== undefined) {
    tracking.foreign = NO_DOUBT
    return
  }
  tracking.foreign = raiseDoubt(tracking.foreign, view.nowMs, tracking.policy)
  if (tracking.foreign.times < tracking.policy.contradictions) return
  const evmNonce = view.count - 1
  const consumer = await consumerOf(tracking, evmNonce, view.head)
  if (consumer !== undefined) freeze(tracking, { evmNonce, by: consumer.by })
  tracking.foreign = NO_DOUBT
}

async function watchMissing(tracking: TrackerState, view: ChainView): Promise<void> {
  const { lost, gaps } = missingFrom(tracking, view.count)
  if (lost.length + gaps.length === 0) {
    tracking.missing = NO_DOUBT
    return
  }
  const { policy, missing } = tracking
  tracking.missing = raiseDoubt(missing, view.nowMs, policy)
  const needed = view.behind ? policy.absences : policy.contradictions
  if (tracking.missing.times < needed) return
  tracking.missing = NO_DOUBT
  tracking.highest = view.head
  reopen(tracking, lost)
  await fill(tracking, gaps.slice(0, MAX_FILLED_PER_LOOK))
}

/** Nonces from `count` on without a followed transaction: final ones that the chain lost, and gaps. */
function missingFrom({ journal, address, followed, nonces }: TrackerState, count: number) {
  const next = nonces.next()
  const known = new Set(followed.all().map(({ transaction }) => transaction.evmNonce))
  const unknown: number[] = []
  for (let evmNonce = count; evmNonce < next; evmNonce += 1) {
    if (!known.has(evmNonce)) unknown.push(evmNonce)
  }
  if (unknown.length === 0) return { lost: [], gaps: [] }
  const claimed = new Set(journal.claimedFrom(address, count))
  return {
    lost: unknown.filter((evmNonce) => claimed.has(evmNonce)),
    gaps: unknown.filter((evmNonce) => !claimed.has(evmNonce)),
  }
}

async function fill(tracking: TrackerState, gaps: readonly number[]): Promise<void> {
  if (gaps.length === 0) return
  const { maxFeePerGas, maxPriorityFeePerGas } = await tracking.chain.gas()
  for (const evmNonce of gaps) {
    const caps = { maxFeePerGas, maxPriorityFeePerGas }
    const filled = orUnsigned(tracking, () => {
      const transaction = tracking.nonces.fill(evmNonce, caps)
      crash('sender.during_gap_fill')
      tracking.followed.add({ transaction })
      tracking.facts.gapFilled(transaction)
    })
    if (!filled) return
  }
}

/** Reports when the key's balance falls below its reserve, and when it recovers. */
export async function watchGas(tracking: TrackerState): Promise<void> {
  const { chain, reserve, facts } = tracking
  if ('wei' in reserve && reserve.wei === 0n) return
  const gas = await chain.gas()
  const needed = reserveWei(reserve, gas)
  const low = gas.balance < needed
  if (low && !tracking.gasLow) facts.gasLow(gas.balance, needed)
  if (!low && tracking.gasLow) facts.gasBack()
  tracking.gasLow = low
}

/**
 * Transactions that the chain lost are broadcast again as the same bytes, so that reported results become true again.
 */
export function reopen(tracking: TrackerState, evmNonces: readonly number[]): void {
  if (evmNonces.length === 0) return
  const { journal, address, followed, facts } = tracking
  journal.reopen(address, evmNonces)
  crash('sender.during_reorg_rollback')
  followed.replace(journal.unsettledTransactions(address))
  for (const evmNonce of evmNonces) followed.markUnsent(evmNonce)
  facts.reopened(evmNonces.length)
}

/** A missing receipt proves nothing; a foreign transaction in a block does. */
export async function findForeign(
  tracking: TrackerState,
  followed: FollowedTransaction,
  head: bigint,
): Promise<void> {
  const { evmNonce, attempts } = followed.transaction
  const by = (await consumerOf(tracking, evmNonce, head))?.by
  // It is ours: only the receipt is not available yet.
  if (by !== undefined && attempts.some(({ hash }) => hash === by.hash)) return
  if (by === undefined) {
    if (!followed.unexplained) tracking.facts.nonceUnexplained(evmNonce)
    followed.unexplained = true
    return
  }
  followed.consumer = by
  freeze(tracking, { evmNonce, by })
}

/** Undefined also when the node does not have a state so old; everything else continues meanwhile. */
export async function consumerOf(
  { chain }: Pick<TrackerState, 'chain'>,
  evmNonce: number,
  head: bigint,
): Promise<Consumer | undefined> {
  try {
    return await chain.consumerOf(evmNonce, head)
  } catch (error) {
    if (error instanceof ChainUnreachable) return undefined
    throw error
  }
}

/** Until an operator accepts the foreign transaction, after finding the cause (accept-foreign.ts). */
export function freeze(tracking: TrackerState, frozen: Frozen): void {
  if (tracking.frozen !== undefined) return
  tracking.frozen = frozen
  tracking.facts.frozen(frozen)
}

export function recordDisplaced(
  tracking: TrackerState,
  { transaction }: FollowedTransaction,
  by: Inclusion,
): void {
  const { journal, followed, facts } = tracking
  const reversals = journal.recordDisplaced(transaction.from, transaction.evmNonce, by)
  followed.remove(transaction.evmNonce)
  facts.displaced(transaction, by)
  reversals.forEach(facts.reversed)
}
