import { decodeFunctionData, decodeFunctionResult, encodeFunctionData, parseEventLogs } from 'viem'
import type { Log } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { batchExecutorAbi } from './abi/batch-executor.js'
import { OUT_OF_GAS, revertName } from './revert-name.js'

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

/** The event that tells of one match; `key` is the fingerprint of its call to the matching contract. */
export interface TriedMatch {
  readonly key: Hex
  readonly outcome: BatchOutcome
}

/** As the contract numbers its outcomes. */
const SUCCESS = 0
const REVERTED = 1
const RAN_OUT = 2

/** Calldata of tryAll. */
export function encodeBatch(matches: readonly BatchItem[]): Hex {
  return encodeFunctionData({ abi: batchExecutorAbi, functionName: 'tryAll', args: [matches] })
}

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

/** What the logs of a mined transaction say about the matches of its batch, in their order. */
export function readBatchLogs(logs: readonly Log[], batchExecutor: Address): TriedMatch[] {
  const ours = logs.filter(({ address }) => address.toLowerCase() === batchExecutor)
  return parseEventLogs({ abi: batchExecutorAbi, eventName: 'MatchTried', logs: ours }).map(
    ({ args }) => ({ key: args.key, outcome: outcomeOf(args) }),
  )
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
