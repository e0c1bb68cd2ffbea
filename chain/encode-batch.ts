import { decodeFunctionData, getAbiItem, toEventSelector, toFunctionSelector } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { batchExecutorAbi } from './abi/batch-executor.js'
import { bytesAt, bytesWords, lengthAt, listWords, tuple, word, wordAt } from './abi-text.js'
import type { OutcomesOf } from './mining-outcomes.js'
import type { EventPerIntent } from './read-event-receipts.js'
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

const WORD = 32

/** As the contract numbers its outcomes. */
const SUCCESS = 0n
const REVERTED = 1n
const RAN_OUT = 2n

/** Calldata of tryAll. */
export function encodeBatch(matches: readonly BatchItem[]): Hex {
  const items = matches.map(({ gasLimit, call }) =>
    tuple([word(gasLimit), { tail: bytesWords(call) }]),
  )
  return `${TRY_ALL}${tuple([{ tail: listWords(items) }])}`
}

/** Whether calldata is that of a batch. */
export const isBatch = (data: Hex): boolean => data.startsWith(TRY_ALL)

/** The matches that calldata of tryAll names; throws when it is no such calldata. */
export function decodeBatch(data: Hex): readonly BatchItem[] {
  const { functionName, args } = decodeFunctionData({ abi: batchExecutorAbi, data })
  if (functionName !== 'tryAll') throw new Error(`${functionName} is not a batch of matches`)
  return args[0]
}

/** What a call of tryAll answered, by position; throws for anything but such an answer. */
export function decodeBatchAnswer(data: Hex): BatchOutcome[] {
  const list = placeAt(data, 0, 0)
  const count = lengthAt(data, list)
  const items = list + WORD
  const outcomes: BatchOutcome[] = []
  for (let i = 0; i < count; i += 1) {
    outcomes.push(outcomeAt(data, placeAt(data, items + i * WORD, items)))
  }
  return outcomes
}

/** What the logs of a mined batch say about its matches, in their order. */
export function readBatchLogs(logs: readonly ReceiptLog[], batchExecutor: Address): BatchOutcome[] {
  return logs.flatMap(({ address, topics, data }) => {
    if (address.toLowerCase() !== batchExecutor || topics[0] !== MATCH_TRIED) return []
    return [outcomeAt(data, 0)]
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

/** The event by which a batch tells of each of its matches. */
export const eventOfBatch = (batchExecutor: Address): EventPerIntent => {
  return { address: batchExecutor, topic: MATCH_TRIED }
}

function intentOutcome(outcome: BatchOutcome): IntentOutcome {
  if (outcome.kind === 'success') return { status: 'success' }
  return { status: 'reverted', revert: outcome.kind === 'untried' ? NOT_TRIED : outcome.revert }
}

/** Outcome, gas and revert data, as the answer and the event have them. */
function outcomeAt(data: Hex, at: number): BatchOutcome {
  const outcome = wordAt(data, at)
  if (outcome === SUCCESS) return { kind: 'success', gasUsed: wordAt(data, at + WORD) }
  if (outcome === RAN_OUT) return { kind: 'reverted', revert: OUT_OF_GAS }
  if (outcome !== REVERTED) return { kind: 'untried' }
  const revertAt = placeAt(data, at + 2 * WORD, at)
  const length = lengthAt(data, revertAt)
  return { kind: 'reverted', revert: revertName(bytesAt(data, revertAt + WORD, length)) }
}

/** Where something dynamic begins whose offset is the word at a byte, counted from `from`. */
const placeAt = (data: Hex, at: number, from: number): number => from + lengthAt(data, at)
