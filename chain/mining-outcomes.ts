import { assert } from '../core/assert.js'
import type { LaneChain } from './lane-chain.js'
import type { MinedIntent } from './lane-facts.js'
import type { Receipt } from './read-receipt.js'
import type { IntentOutcome } from './transaction-journal.js'

/**
 * What a transaction that went through did with each of its intents, one outcome for each, by position. Not asked about
 * a transaction that reverted: that undid all of them. Must answer the same for the same receipt.
 */
export type OutcomesOf = (
  receipt: Receipt,
  intentIds: readonly string[],
) => readonly IntentOutcome[]

export interface OutcomeDeps {
  readonly chain: Pick<LaneChain, 'revertOf'>
  /** Without it every intent shares the fate of its transaction. */
  readonly outcomesOf?: OutcomesOf | undefined
}

/** Outcomes of a mined transaction, by position of its intents; never rejects for want of an answer of the chain. */
export async function outcomesOfReceipt(
  { chain, outcomesOf }: OutcomeDeps,
  receipt: Receipt,
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

/** The outcomes with their intents, as they are told. */
export function minedIntents(
  { hash, blockNumber, blockHash }: Receipt,
  intentIds: readonly string[],
  outcomes: readonly IntentOutcome[],
): MinedIntent[] {
  return intentIds.map((intentId, position) => {
    const outcome = outcomes[position]
    assert(outcome !== undefined, `intent ${intentId} has no outcome`)
    return { intentId, result: { hash, blockNumber, blockHash, ...outcome } }
  })
}
