import {
  decodeEventLog,
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  getAbiItem,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import type { Address, Hex } from '../core/action.js'
import { batchExecutorAbi } from './abi/batch-executor.js'
import type { OutcomesOf } from './mining-outcomes.js'
import type { ReceiptLog } from './read-receipt.js'
import type { IntentOutcome } from './transaction-journal.js'
import { NOT_TRIED, OUT_OF_GAS, revertName } from './revert-name.js'

/** One match of a batch: calldata of verifyAndMatch, and the gas that it is given or else not tried. */
export interface BatchItem {
  readonly gasLimit: bigint
  readonly call: Hex
}

/** What the batch executor says about one match. `untried`: nothing was called, for want of gas. */
export type BatchOutcome =
  | { readonly kind: 'success'; readonly gasUsed: bigint }
  | { readonly kind: 'reverted'; readonly revert: string }
  | { readonly kind: 'untried' }

const MATCH_TRIED = toEventSelector(getAbiItem({ abi: batchExecutorAbi, name: 'MatchTried' }))
const TRY_ALL = toFunctionSelector(getAbiItem({ abi: batchExecutorAbi, name: 'tryAll' }))

/** As the contract numbers its outcomes. */
const SUCCESS = 0
const REVERTED = 1
const RAN_OUT = 2

/** Calldata of tryAll. */
export function encodeBatch(matches: readonly BatchItem[]): Hex {
  return encodeFunctionData({ abi: batchExecutorAbi, functionName: 'tryAll', args: [matches] })
}

/** Whether calldata is that of a batch. */
export const isBatch = (data: Hex): boolean => data.startsWith(TRY_ALL)

/** The matches that calldata of tryAll names; throws when it is no such calldata. */
export function decodeBatch(data: Hex): readonly BatchItem[] {
  const { functionName, args } = decodeFunctionData({ abi: batchExecutorAbi, data })
  if (functionName !== 'tryAll') throw new Error(`${functionName} is not a batch of matches`)
  return args[0]
}

/** What a call of tryAll answered, by position. */
export function decodeBatchAnswer(data: Hex): BatchOutcome[] {
  const results = decodeFunctionResult({ abi: batchExecutorAbi, functionName: 'tryAll', data })
  return results.map(outcomeOf)
}

/** What the logs of a mined batch say about its matches, in their order. */
export function readBatchLogs(logs: readonly ReceiptLog[], batchExecutor: Address): BatchOutcome[] {
  return logs.flatMap(({ address, topics, data }) => {
    if (address.toLowerCase() !== batchExecutor || topics[0] !== MATCH_TRIED) return []
    const [, ...indexed] = topics
    const log = { topics: [MATCH_TRIED, ...indexed] as [Hex, ...Hex[]], data }
    return [
      outcomeOf(decodeEventLog({ abi: batchExecutorAbi, eventName: 'MatchTried', ...log }).args),
    ]
  })
}

/**
 * What a batch did with its intents, which stand in the order of its matches. An intent that was not tried counts as
 * reverted, with a name of its own. A transaction to another contract carries out its only intent or reverts.
 */
export function outcomesOfBatch(batchExecutor: Address): OutcomesOf {
  return ({ to, logs }, intentIds) => {
    if (to?.toLowerCase() !== batchExecutor) return intentIds.map(() => ({ status: 'success' }))
    return readBatchLogs(logs, batchExecutor).map(intentOutcome)
  }
}

function intentOutcome(outcome: BatchOutcome): IntentOutcome {
  if (outcome.kind === 'success') return { status: 'success' }
  return { status: 'reverted', revert: outcome.kind === 'untried' ? NOT_TRIED : outcome.revert }
}

interface Told {
  readonly outcome: number
  readonly gasUsed: bigint
  readonly revertData: Hex
}

function outcomeOf({ outcome, gasUsed, revertData }: Told): BatchOutcome {
  if (outcome === SUCCESS) return { kind: 'success', gasUsed }
  if (outcome === REVERTED) return { kind: 'reverted', revert: revertName(revertData) }
  if (outcome === RAN_OUT) return { kind: 'reverted', revert: OUT_OF_GAS }
  return { kind: 'untried' }
}
