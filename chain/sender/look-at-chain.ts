import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import {
  type ChainView,
  type SenderPolicy,
  followTransaction,
  type FollowStep,
} from './follow-transaction.js'
import type { HeadBlock, SenderChain, MinedReceipt, ReceiptSpan } from './sender-chain.js'
import { isOpen, type FollowedTransaction } from './key-nonces.js'
import type { MinedIntent } from './observe-sender.js'
import type { IntentOutcome } from '../../core/transaction-journal.js'
import type { TrackerState, OutcomesOf } from './tracking.js'
import { reopen, findForeign, recordDisplaced } from './watch-nonces.js'

/**
 * How many of the newest and of the oldest blocks with transactions of ours are compared in one poll. There are more
 * only when finality is far behind. A block's hash covers the blocks before it, and the oldest become final first.
 */
const MAX_NEWEST_BLOCKS = 16
const MAX_OLDEST_BLOCKS = 16
/** The range of one call for events: a block may have hundreds. */
const MAX_NEWEST_BLOCKS_ASKED = 4n
/** Receipts read concurrently: those of full batches are long. */
const RECEIPTS_AT_ONCE = 16

/** What a poll needs to know before it reads. */
export type PollNeeds = Pick<TrackerState, 'chain' | 'policy' | 'followed' | 'highest' | 'head'>

/** Reads everything that decides about the followed transactions. Rejects with ChainUnreachable. */
export async function lookAtChain(
  tracking: PollNeeds,
  { head, nowMs }: { head: HeadBlock; nowMs: number },
): Promise<ChainView> {
  const { chain, policy, followed, highest } = tracking
  const all = followed.all()
  const [count, finalHeight] = await Promise.all([
    chain.countAt(head.hash),
    finalHeightOf(chain, policy, head),
  ])
  const receipts = await readReceipts(
    tracking,
    head,
    all.filter((it) => isOpen(it) && (it.transaction.evmNonce < count || it.consumer)),
  )
  const heights = new Set([
    ...[...receipts.values()].map(({ blockNumber }) => blockNumber),
    ...all.flatMap(({ consumer }) => (consumer === undefined ? [] : [consumer.blockNumber])),
    ...minedHeights(all),
  ])
  const blocks = await readBlocks(chain, head, heights)
  const behind = head.number < highest
  return { nowMs, head: head.number, behind, finalHeight, count, blocks, receipts }
}

/** Blocks up to this height are final. Rejects with ChainUnreachable. */
export async function finalHeightOf(
  chain: SenderChain,
  { finality }: SenderPolicy,
  head: HeadBlock,
): Promise<bigint> {
  return finality === 'finalized' ? chain.finalized() : head.number - finality.depth
}

async function readReceipts(
  { chain, head: before }: PollNeeds,
  head: HeadBlock,
  wanted: readonly FollowedTransaction[],
): Promise<Map<number, MinedReceipt>> {
  const found = new Map<number, MinedReceipt>()
  if (wanted.length === 0) return found
  const fromEvents = await chain.receiptsIn(
    newBlocks(before, head),
    wanted.map(({ transaction }) => transaction),
  )
  for (const [evmNonce, receipt] of fromEvents) found.set(evmNonce, receipt)
  const asked = wanted.filter(({ transaction }) => !fromEvents.has(transaction.evmNonce))
  for (let at = 0; at < asked.length; at += RECEIPTS_AT_ONCE) {
    const some = asked.slice(at, at + RECEIPTS_AT_ONCE)
    const receipts = await Promise.all(some.map(({ transaction }) => chain.receipt(transaction)))
    for (const [i, { transaction }] of some.entries()) {
      const receipt = receipts[i]
      if (receipt !== undefined) found.set(transaction.evmNonce, receipt)
    }
  }
  return found
}

/** The newest of the blocks since the last poll; at least one. */
function newBlocks(before: HeadBlock | undefined, { number: to }: HeadBlock): ReceiptSpan {
  const after = before === undefined || before.number >= to ? to : before.number + 1n
  const oldest = to - MAX_NEWEST_BLOCKS_ASKED + 1n
  return { from: after > oldest ? after : oldest, to }
}

function minedHeights(all: readonly FollowedTransaction[]): bigint[] {
  const heights = all.flatMap(({ mined }) => (mined === undefined ? [] : [mined.blockNumber]))
  const newestFirst = [...new Set(heights)].sort((a, b) => (a < b ? 1 : -1))
  if (newestFirst.length <= MAX_NEWEST_BLOCKS + MAX_OLDEST_BLOCKS) return newestFirst
  return [...newestFirst.slice(0, MAX_NEWEST_BLOCKS), ...newestFirst.slice(-MAX_OLDEST_BLOCKS)]
}

/** One call for each height; none for heights above the head. */
async function readBlocks(
  chain: SenderChain,
  head: HeadBlock,
  heights: ReadonlySet<bigint>,
): Promise<Map<bigint, Hex | undefined>> {
  const hashAt = async (height: bigint): Promise<Hex | undefined> => {
    if (height === head.number) return head.hash
    return height > head.number ? undefined : chain.blockHash(height)
  }
  const read = [...heights].map(async (height) => [height, await hashAt(height)] as const)
  return new Map(await Promise.all(read))
}

/** Journals what a poll shows of each followed transaction, and finds foreign transactions at their nonces. */
export async function settleTransactions(tracking: TrackerState, view: ChainView): Promise<void> {
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
  readonly followed: FollowedTransaction
  readonly step: FollowStep
}

function noncesOf(verdicts: readonly FollowedStep[], kind: FollowStep['kind']): number[] {
  const matching = verdicts.filter(({ step }) => step.kind === kind)
  return matching.map(({ followed }) => followed.transaction.evmNonce)
}

async function carryOut(
  tracking: TrackerState,
  { followed, step }: FollowedStep,
  { head }: ChainView,
): Promise<void> {
  if (step.kind === 'mined') return recordMined(tracking, followed, step.receipt)
  if (step.kind === 'search') return findForeign(tracking, followed, head)
  if (step.kind === 'forget consumer') followed.consumer = undefined
  if (step.kind === 'displaced') recordDisplaced(tracking, followed, step.by)
}

function recordFinal(
  { journal, address, followed }: TrackerState,
  evmNonces: readonly number[],
): void {
  if (evmNonces.length === 0) return
  journal.recordFinal(address, evmNonces)
  evmNonces.forEach((evmNonce) => followed.remove(evmNonce))
}

async function recordMined(
  tracking: TrackerState,
  followed: FollowedTransaction,
  receipt: MinedReceipt,
): Promise<void> {
  const { journal, facts, waiters } = tracking
  const { transaction } = followed
  const { from, evmNonce, intentIds } = transaction
  const outcomes = await outcomesOfReceipt(tracking, receipt, intentIds)
  const { hash, blockNumber, blockHash } = receipt
  const inclusion = { hash, blockNumber, blockHash }
  crash('sender.after_receipt_before_mark')
  const reversals = journal.recordMined(from, evmNonce, { ...inclusion, outcomes })
  crash('sender.after_mark_before_answer')
  Object.assign(followed, { mined: inclusion, consumer: undefined })
  const mined = minedIntents(receipt, intentIds, outcomes)
  facts.mined(transaction, mined)
  reversals.forEach(facts.reversed)
  for (const { intentId, result } of mined) waiters.wake(intentId, result)
}

interface OutcomeDeps {
  readonly chain: Pick<SenderChain, 'revertOf'>
  /** By default every intent has the outcome of its transaction. */
  readonly outcomesOf?: OutcomesOf | undefined
}

/**
 * The outcomes of a mined transaction by position of its intents. Without an answer of the chain a revert has no name; rejects with
 * ChainUnreachable once the sender is hung up.
 */
async function outcomesOfReceipt(
  { chain, outcomesOf }: OutcomeDeps,
  receipt: MinedReceipt,
  intentIds: readonly string[],
): Promise<readonly IntentOutcome[]> {
  const { status, hash } = receipt
  if (status === 'reverted') {
    const revert = await chain.revertOf(receipt)
    return intentIds.map(() => ({ status, revert }))
  }
  const outcomes = outcomesOf?.(receipt, intentIds) ?? intentIds.map(() => ({ status }))
  assert(outcomes.length === intentIds.length, `${hash} needs ${intentIds.length} outcomes`)
  return outcomes
}

/** The outcomes with their intents. */
function minedIntents(
  { hash, blockNumber, blockHash }: MinedReceipt,
  intentIds: readonly string[],
  outcomes: readonly IntentOutcome[],
): MinedIntent[] {
  return intentIds.map((intentId, position) => {
    const outcome = outcomes[position]
    assert(outcome !== undefined, `intent ${intentId} has no outcome`)
    return { intentId, result: { hash, blockNumber, blockHash, ...outcome } }
  })
}
