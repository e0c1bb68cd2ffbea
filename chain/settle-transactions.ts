import { ChainUnreachable } from './chain-unreachable.js'
import { crash } from '../core/crash-point.js'
import type { ChainView, FollowStep } from './follow-transaction.js'
import { followTransaction } from './follow-transaction.js'
import type { Followed } from './followed-transactions.js'
import type { Frozen } from './lane-facts.js'
import { minedIntents, outcomesOfReceipt } from './mining-outcomes.js'
import type { Receipt } from './read-receipt.js'
import type { Tracking } from './tracking.js'
import type { Inclusion } from './transaction-journal.js'

/** Records what the look tells of each followed transaction, and finds out who used its nonce where it did not. */
export async function settleTransactions(tracking: Tracking, view: ChainView): Promise<void> {
  const verdicts = tracking.followed.all().map((followed) => {
    const { evmNonce } = followed.transaction
    const verdict = followTransaction({ ...followed, evmNonce }, view, tracking.policy)
    followed.doubt = verdict.doubt
    return { followed, step: verdict.step }
  })
  recordFinal(tracking, noncesOf(verdicts, 'final'))
  reopen(tracking, noncesOf(verdicts, 'reopen'))
  if (verdicts.some(({ step }) => step.kind === 'reopen' && step.late)) tracking.highest = view.head
  await Promise.all(verdicts.map((verdict) => carryOut(tracking, verdict, view)))
}

interface FollowedStep {
  readonly followed: Followed
  readonly step: FollowStep
}

function noncesOf(verdicts: readonly FollowedStep[], kind: FollowStep['kind']): number[] {
  const matching = verdicts.filter(({ step }) => step.kind === kind)
  return matching.map(({ followed }) => followed.transaction.evmNonce)
}

async function carryOut(
  tracking: Tracking,
  { followed, step }: FollowedStep,
  { head }: ChainView,
): Promise<void> {
  if (step.kind === 'mined') return recordMined(tracking, followed, step.receipt)
  if (step.kind === 'search') return findStranger(tracking, followed, head)
  if (step.kind === 'forget consumer') followed.consumer = undefined
  if (step.kind === 'displaced') recordDisplaced(tracking, followed, step.by)
}

function recordFinal({ journal, address, followed }: Tracking, evmNonces: readonly number[]): void {
  if (evmNonces.length === 0) return
  journal.recordFinal(address, evmNonces)
  evmNonces.forEach((evmNonce) => followed.remove(evmNonce))
}

/** What the chain forgot goes out again as the same bytes, so that results which were told come true again. */
export function reopen(tracking: Tracking, evmNonces: readonly number[]): void {
  if (evmNonces.length === 0) return
  const { journal, address, followed, facts } = tracking
  journal.reopen(address, evmNonces)
  crash('lane.during_reorg_rollback')
  followed.replace(journal.unsettledTransactions(address))
  for (const evmNonce of evmNonces) followed.markUnsent(evmNonce)
  facts.reopened(evmNonces.length)
}

async function recordMined(
  tracking: Tracking,
  followed: Followed,
  receipt: Receipt,
): Promise<void> {
  const { journal, facts, waiters } = tracking
  const { transaction } = followed
  const { from, evmNonce, intentIds } = transaction
  const outcomes = await outcomesOfReceipt(tracking, receipt, intentIds)
  const { hash, blockNumber, blockHash } = receipt
  const inclusion = { hash, blockNumber, blockHash }
  crash('lane.after_receipt_before_mark')
  const reversals = journal.recordMined(from, evmNonce, { ...inclusion, outcomes })
  crash('lane.after_mark_before_answer')
  Object.assign(followed, { mined: inclusion, consumer: undefined })
  const mined = minedIntents(receipt, intentIds, outcomes)
  facts.mined(transaction, mined)
  reversals.forEach(facts.reversed)
  for (const { intentId, result } of mined) waiters.wake(intentId, result)
}

/** That there is no receipt proves nothing; a transaction in a block does. */
async function findStranger(tracking: Tracking, followed: Followed, head: bigint): Promise<void> {
  const { evmNonce, attempts } = followed.transaction
  const by = await consumerOf(tracking, evmNonce, head)
  // One of ours: the receipt is merely not to be had yet.
  if (by !== undefined && attempts.some(({ hash }) => hash === by.hash)) return
  if (by === undefined) {
    if (!followed.unexplained) tracking.facts.nonceUnexplained(evmNonce)
    followed.unexplained = true
    return
  }
  followed.consumer = by
  freeze(tracking, { evmNonce, by })
}

/** Nothing is found as well where the node has no state so old; everything else goes on meanwhile. */
export async function consumerOf(
  { chain }: Tracking,
  evmNonce: number,
  head: bigint,
): Promise<Inclusion | undefined> {
  try {
    return await chain.consumerOf(evmNonce, head)
  } catch (error) {
    if (error instanceof ChainUnreachable) return undefined
    throw error
  }
}

/** For good: only a start of the process, by somebody who has looked, lets the lane go on. */
export function freeze(tracking: Tracking, frozen: Frozen): void {
  if (tracking.frozen !== undefined) return
  tracking.frozen = frozen
  tracking.facts.frozen(frozen)
}

function recordDisplaced(tracking: Tracking, { transaction }: Followed, by: Inclusion): void {
  const { journal, followed, facts } = tracking
  const reversals = journal.recordDisplaced(transaction.from, transaction.evmNonce, by)
  followed.remove(transaction.evmNonce)
  facts.displaced(transaction, by)
  reversals.forEach(facts.reversed)
}
