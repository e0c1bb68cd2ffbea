import { crash } from '../../core/crash-point.js'
import { SignerUnavailable } from '../../core/transaction-journal.js'
import { requestOf } from '../signing/keys.js'
import { highestCost, isOpen, type FollowedTransaction } from './key-nonces.js'
import { type FeeCaps, type GasFacts, raiseFees } from './gas.js'
import type { TrackerState } from './tracking.js'

/** Transactions broadcast again in one poll, so that a long outage does not end in one burst. */
const MAX_REBROADCASTS_PER_LOOK = 64
/** Transactions whose fees are raised in one poll. */
const MAX_RAISED_PER_LOOK = 16
/** A transaction counts as stuck after so many blocks without it. */
const BLOCKS_PASSED_OVER = 2n

/** Broadcasts transactions again that nodes may have dropped, in the order of nonces. */
export async function rebroadcastDue(tracking: TrackerState): Promise<void> {
  const nowMs = tracking.nowMs()
  const due = unused(tracking).filter(
    (followed) =>
      isPublished(tracking, followed) &&
      (followed.sentAtMs === undefined ||
        nowMs - followed.sentAtMs >= tracking.policy.rebroadcastMs),
  )
  for (const followed of due.slice(0, MAX_REBROADCASTS_PER_LOOK)) {
    crash('sender.recovery_mid')
    await broadcast(tracking, followed)
  }
}

/**
 * Checks once a block that the node still holds the transaction with the next nonce. One that the node accepted and
 * dropped holds up all after it, and those were probably dropped with it.
 */
export async function resendDropped(tracking: TrackerState): Promise<void> {
  const { chain, count, highest } = tracking
  const out = unused(tracking).filter(
    ({ outSince }) => outSince !== undefined && outSince.head < highest,
  )
  const newest = out[0]?.transaction.attempts.at(-1)
  if (newest === undefined || out[0]?.transaction.evmNonce !== count) return
  if (await chain.isHeld(newest.hash)) return
  for (const followed of out.slice(0, MAX_REBROADCASTS_PER_LOOK))
    await broadcast(tracking, followed)
}

/**
 * Sends the newest signed bytes, unless the journal on the bus lacks them: then another process may use their nonce. The
 * node's answer is reported; only the chain decides the outcome.
 */
export async function broadcast(
  tracking: TrackerState,
  followed: FollowedTransaction,
): Promise<void> {
  const { transaction } = followed
  if (!isPublished(tracking, followed)) return
  crash('sender.after_append_before_broadcast')
  followed.sentAtMs = tracking.nowMs()
  followed.outSince ??= { ms: followed.sentAtMs, head: tracking.highest }
  const answer = await tracking.chain.send(transaction)
  crash('sender.after_broadcast_before_mark')
  if (answer.kind === 'taken') {
    followed.taken = true
    tracking.facts.broadcast(transaction)
  } else {
    tracking.facts.broadcastUnclear(transaction, answer.cause)
  }
}

/** Signs stuck transactions again with higher fees; each is journaled before it is sent. */
export async function raiseStuck(tracking: TrackerState): Promise<void> {
  const stuck = unused(tracking).filter((followed) => isStuck(tracking, followed))
  if (stuck.length === 0) return
  const gas = await tracking.chain.gas()
  let raised = 0
  for (const followed of stuck) {
    if (raised === MAX_RAISED_PER_LOOK) return
    if (!(await isUnderpriced(tracking, followed, gas))) continue
    if (!orUnsigned(tracking, () => raise(tracking, followed, gas))) return
    raised += 1
  }
}

/** Whether the journal on the bus holds the newest signed bytes. */
export function isPublished(
  { journal }: TrackerState,
  { transaction }: FollowedTransaction,
): boolean {
  const newest = transaction.attempts.at(-1)
  return newest !== undefined && journal.isDurable(newest.hash)
}

function unused({ followed, count }: TrackerState): FollowedTransaction[] {
  return followed.all().filter((it) => isOpen(it) && it.transaction.evmNonce >= count)
}

/** Broadcast long ago, while no block has included any transaction of the key. */
function isStuck(
  { policy, nowMs, highest, progressMs }: TrackerState,
  followed: FollowedTransaction,
): boolean {
  const { outSince } = followed
  if (outSince === undefined) return false
  const sinceMs = outSince.ms > progressMs ? outSince.ms : progressMs
  return nowMs() - sinceMs >= policy.stuckMs && highest >= outSince.head + BLOCKS_PASSED_OVER
}

/**
 * The transaction with the next nonce is underpriced when a node holds it and blocks still leave it out. Any other one,
 * or one that no node holds, is underpriced only when its fees are too low for the next block.
 */
async function isUnderpriced(
  { chain, count }: TrackerState,
  { transaction }: FollowedTransaction,
  gas: GasFacts,
): Promise<boolean> {
  const newest = transaction.attempts.at(-1)
  if (newest === undefined) return false
  if (newest.maxFeePerGas < gas.baseFeePerGas + gas.maxPriorityFeePerGas) return true
  return transaction.evmNonce === count && chain.isHeld(newest.hash)
}

/** Does what needs a signature; false when there is none now, so that a later poll tries again. */
export function orUnsigned({ facts }: TrackerState, act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    if (!(error instanceof SignerUnavailable)) throw error
    facts.signerUnavailable(error)
    return false
  }
}

function raise(tracking: TrackerState, followed: FollowedTransaction, gas: GasFacts): void {
  const { nonces, facts, policy } = tracking
  const { transaction } = followed
  const caps = raiseFees(capsOf(followed), gas, policy.feeMultiple)
  if (caps === undefined || !isAffordable(tracking, followed, { caps, gas })) {
    if (!followed.exhausted) facts.feesExhausted(transaction)
    // Try again after the same wait: the suggested fees may have risen by then.
    const outSince = { ms: tracking.nowMs(), head: tracking.highest }
    Object.assign(followed, { exhausted: true, outSince })
    return
  }
  const attempt = nonces.raise(transaction, caps)
  crash('sender.after_bump_record_before_append')
  tracking.followed.addAttempt(transaction.evmNonce, attempt)
  facts.replaced(followed.transaction, attempt)
}

function capsOf({ transaction }: FollowedTransaction): FeeCaps {
  const newest = transaction.attempts.at(-1)
  return newest === undefined
    ? { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    : requestOf(newest.raw)
}

/** A transaction that the key cannot pay would take the place of one that it can. */
function isAffordable(
  { followed }: TrackerState,
  { transaction }: FollowedTransaction,
  { caps, gas }: { caps: FeeCaps; gas: GasFacts },
): boolean {
  const gasLimit = transaction.attempts.at(-1)?.gasLimit ?? 0n
  const others = followed.reservedWei() - highestCost(transaction)
  return others + gasLimit * caps.maxFeePerGas <= gas.balance
}
