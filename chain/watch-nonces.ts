import { crash } from '../core/crash-point.js'
import type { ChainView } from './follow-transaction.js'
import { NO_DOUBT, raiseDoubt } from './follow-transaction.js'
import { consumerOf, freeze, reopen } from './settle-transactions.js'
import type { Tracking } from './tracking.js'

/** Gaps closed in one look, so that a long one does not end in one burst. */
const MAX_FILLED_PER_LOOK = 16

/**
 * Looks at the key's nonces as a whole: whether more are used than were ever claimed, whether the chain has lost some that
 * were final, and whether some below ours are held by nothing.
 */
export async function watchNonces(tracking: Tracking, view: ChainView): Promise<void> {
  await watchStrangers(tracking, view)
  await watchMissing(tracking, view)
}

async function watchStrangers(tracking: Tracking, view: ChainView): Promise<void> {
  if (view.count <= tracking.nonces.next() || tracking.frozen !== undefined) {
    tracking.strangers = NO_DOUBT
    return
  }
  tracking.strangers = raiseDoubt(tracking.strangers, view.nowMs, tracking.policy)
  if (tracking.strangers.times < tracking.policy.contradictions) return
  const evmNonce = view.count - 1
  const by = await consumerOf(tracking, evmNonce, view.head)
  if (by !== undefined) freeze(tracking, { evmNonce, by })
  tracking.strangers = NO_DOUBT
}

async function watchMissing(tracking: Tracking, view: ChainView): Promise<void> {
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

/** Nonces from `count` on that nothing followed stands for: final ones that the chain lost, and those nobody holds. */
function missingFrom({ journal, address, followed, nonces }: Tracking, count: number) {
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

async function fill(tracking: Tracking, gaps: readonly number[]): Promise<void> {
  if (gaps.length === 0) return
  const { maxFeePerGas, maxPriorityFeePerGas } = await tracking.chain.gas()
  for (const evmNonce of gaps) {
    const caps = { maxFeePerGas, maxPriorityFeePerGas }
    const transaction = tracking.nonces.fill(evmNonce, caps)
    crash('lane.during_gap_fill')
    tracking.followed.add({ transaction })
    tracking.facts.gapFilled(transaction)
  }
}
