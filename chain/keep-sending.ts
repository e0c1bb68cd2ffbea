import { crash } from '../core/crash-point.js'
import { highestCost, isOpen } from './followed-transactions.js'
import type { Followed } from './followed-transactions.js'
import { raiseFees } from './raise-fees.js'
import type { FeeCaps } from './raise-fees.js'
import type { GasFacts } from './read-gas.js'
import { requestOf } from './sign-transaction.js'
import type { Tracking } from './tracking.js'

/** Transactions broadcast again in one look, so that a long outage does not end in one burst. */
const MAX_REBROADCASTS_PER_LOOK = 64
/** Transactions whose fees are raised in one look. */
const MAX_RAISED_PER_LOOK = 16
/** Blocks that must have passed a transaction over before it counts as stuck. */
const BLOCKS_PASSED_OVER = 2n

/** Sends again what no node may have any more, in the order of nonces. */
export async function rebroadcastDue(tracking: Tracking): Promise<void> {
  const nowMs = tracking.nowMs()
  const due = unused(tracking).filter(
    ({ sentAtMs }) => sentAtMs === undefined || nowMs - sentAtMs >= tracking.policy.rebroadcastMs,
  )
  for (const followed of due.slice(0, MAX_REBROADCASTS_PER_LOOK)) {
    crash('lane.recovery_mid')
    await broadcast(tracking, followed)
  }
}

/**
 * Asks once a block for the first in line that was out before it: what a node took and dropped holds up all behind it, and
 * was hardly dropped alone.
 */
export async function resendDropped(tracking: Tracking): Promise<void> {
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

/** Sends the newest signed bytes; whatever the node says, only the chain decides. */
export async function broadcast(tracking: Tracking, followed: Followed): Promise<void> {
  const { transaction } = followed
  followed.sentAtMs = tracking.nowMs()
  followed.outSince ??= { ms: followed.sentAtMs, head: tracking.highest }
  const answer = await tracking.chain.send(transaction)
  crash('lane.after_broadcast_before_mark')
  if (answer.kind === 'taken') {
    followed.taken = true
    tracking.facts.broadcast(transaction)
  } else {
    tracking.facts.broadcastUnclear(transaction, answer.cause)
  }
}

/** Signs again, with higher fees, what blocks pass over; recorded before it is sent. */
export async function raiseStuck(tracking: Tracking): Promise<void> {
  const stuck = unused(tracking).filter((followed) => isStuck(tracking, followed))
  if (stuck.length === 0) return
  const gas = await tracking.chain.gas()
  let raised = 0
  for (const followed of stuck) {
    if (raised === MAX_RAISED_PER_LOOK) return
    if (!(await isUnderpriced(tracking, followed, gas))) continue
    raise(tracking, followed, gas)
    raised += 1
  }
}

function unused({ followed, count }: Tracking): Followed[] {
  return followed.all().filter((it) => isOpen(it) && it.transaction.evmNonce >= count)
}

/** Out for long while blocks came and none of them took any transaction of the key. */
function isStuck({ policy, nowMs, highest, progressMs }: Tracking, followed: Followed): boolean {
  const { outSince } = followed
  if (outSince === undefined) return false
  const sinceMs = outSince.ms > progressMs ? outSince.ms : progressMs
  return nowMs() - sinceMs >= policy.stuckMs && highest >= outSince.head + BLOCKS_PASSED_OVER
}

/**
 * The first in line is underpriced when a node holds it and blocks still pass it over; any other one, or one that no node
 * holds, only when its bid could not be taken by the next block.
 */
async function isUnderpriced(
  { chain, count }: Tracking,
  { transaction }: Followed,
  gas: GasFacts,
): Promise<boolean> {
  const newest = transaction.attempts.at(-1)
  if (newest === undefined) return false
  if (newest.maxFeePerGas < gas.baseFeePerGas + gas.maxPriorityFeePerGas) return true
  return transaction.evmNonce === count && chain.isHeld(newest.hash)
}

function raise(tracking: Tracking, followed: Followed, gas: GasFacts): void {
  const { nonces, facts, policy } = tracking
  const { transaction } = followed
  const caps = raiseFees(capsOf(followed), gas, policy.feeMultiple)
  if (caps === undefined || !isAffordable(tracking, followed, { caps, gas })) {
    if (!followed.exhausted) facts.feesExhausted(transaction)
    // Looked at again after as long a wait: what is suggested may have risen by then.
    const outSince = { ms: tracking.nowMs(), head: tracking.highest }
    Object.assign(followed, { exhausted: true, outSince })
    return
  }
  const attempt = nonces.raise(transaction, caps)
  crash('lane.after_bump_commit_before_send')
  tracking.followed.addAttempt(transaction.evmNonce, attempt)
  facts.replaced(followed.transaction, attempt)
}

function capsOf({ transaction }: Followed): FeeCaps {
  const newest = transaction.attempts.at(-1)
  return newest === undefined
    ? { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    : requestOf(newest.raw)
}

/** A transaction that the key cannot pay would take the place of one that it can. */
function isAffordable(
  { followed }: Tracking,
  { transaction }: Followed,
  { caps, gas }: { caps: FeeCaps; gas: GasFacts },
): boolean {
  const gasLimit = transaction.attempts.at(-1)?.gasLimit ?? 0n
  const others = followed.reservedWei() - highestCost(transaction)
  return others + gasLimit * caps.maxFeePerGas <= gas.balance
}
