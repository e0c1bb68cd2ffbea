import {
  decodeAbiParameters,
  decodeFunctionResult,
  getAbiItem,
  numberToHex,
  parseAbiParameters,
  toEventSelector,
} from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { NOT_TRIED, OUT_OF_GAS } from '../../core/revert.js'
import { batchExecutorAbi } from '../abi/contracts.js'
import { revertName, revertOf, rpcErrorOf } from '../abi/errors.js'
import type { EventPerIntent, ReceiptLog } from '../sender/sender-chain.js'
import type { IntentOutcome } from '../../core/transaction-journal.js'
import type { OutcomesOf } from '../sender/tracking.js'
import { hexOf, OddAnswer, quantityOf } from '../reads/answer-form.js'
import { unreachable, type ChainClient } from '../reads/client.js'
import { PAID, PAYER } from '../reads/paid-call.js'
import type { StateOverrides } from '../reads/state-client.js'
import { encodeBatch } from './calldata.js'

export interface SimulatedCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  /** The block on whose state it runs; by default the newest. */
  readonly blockHash?: Hex
}

/** The result of a simulated call; a revert is a result, not an error. `gas` is the limit that the call needs. */
export type Simulation =
  | { readonly kind: 'passes'; readonly gas: bigint }
  | { readonly kind: 'reverts'; readonly revert: string }

type CallRequest = Pick<SimulatedCall, 'from' | 'to' | 'data'> & { readonly gas?: Hex }
type At = { readonly blockHash: Hex } | 'latest'

/** viem's types allow only a block number here. */
interface PaidSchema {
  readonly Parameters: [CallRequest, At] | [CallRequest & typeof PAID, At, StateOverrides]
  readonly ReturnType: Hex
}

/**
 * Runs the call as a transaction that pays for its gas, so that wallets are asked as in a block (chain/signing/ask-wallet.ts). A node
 * that refuses fees or state overrides is asked again without.
 */
async function runPaid(
  client: ChainClient,
  method: 'eth_call' | 'eth_estimateGas',
  call: CallRequest,
  at: At,
): Promise<Hex> {
  try {
    const paid: PaidSchema['Parameters'] = [{ ...call, ...PAID }, at, { [call.from]: PAYER }]
    return await client.request<PaidSchema>({ method, params: paid })
  } catch (error) {
    if (rpcErrorOf(error) === undefined || revertOf(error) !== undefined) throw error
    return client.request<PaidSchema>({ method, params: [call, at] })
  }
}

/** The largest gas limit that the target chain accepts (EIP-7825). */
export const TRANSACTION_GAS_CAP = 16_777_216n

/** Added to the gas of the simulation: other transactions may change the state before the call runs. */
const HEADROOM_PERCENT = 30n

/** The gas limit to sign for a call that needs `gas`; rounded down, which loses less than one unit. */
export function roomyGasLimit(gas: bigint): bigint {
  const roomy = (gas * (100n + HEADROOM_PERCENT)) / 100n
  return roomy < TRANSACTION_GAS_CAP ? roomy : TRANSACTION_GAS_CAP
}

/** Simulates a match; rejects with ChainUnreachable when the node does not answer. */
export function simulateMatch(client: ChainClient, call: SimulatedCall): Promise<Simulation> {
  return simulateCall(client, call, 'simulation of the match')
}

/**
 * Simulates the call on the state of a block, never on pending transactions, for which a node would execute its whole
 * pool. Rejects with a ChainUnreachable that names the `question` when the node does not answer.
 */
export async function simulateCall(
  client: ChainClient,
  { from, to, data, blockHash }: SimulatedCall,
  question: string,
): Promise<Simulation> {
  try {
    const at = blockHash === undefined ? 'latest' : { blockHash }
    const answer = await runPaid(client, 'eth_estimateGas', { from, to, data }, at)
    const gas = quantityOf(answer, 'the estimated gas')
    return gas > TRANSACTION_GAS_CAP
      ? { kind: 'reverts', revert: OUT_OF_GAS }
      : { kind: 'passes', gas }
  } catch (error) {
    const revert = revertOf(error)
    if (revert !== undefined) return { kind: 'reverts', revert: revert.name }
    throw unreachable(question, error)
  }
}

export interface SequencedCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  /** The limit; by default what the node gives. */
  readonly gas?: Hex
}

/** What one of several calls came to; `answer` is what it returned. */
export type SequencedResult =
  | { readonly kind: 'passes'; readonly answer: Hex }
  | { readonly kind: 'reverts'; readonly revert: string }

/**
 * The result of calls that run one after the other, each on the state that the one before left. `unsupported`: the node
 * lacks the method, and nothing is known.
 */
export type SequenceSimulation =
  | { readonly kind: 'passes' }
  /** The position of the first call that reverts. */
  | { readonly kind: 'reverts'; readonly position: number; readonly revert: string }
  | { readonly kind: 'unsupported' }

/** The state on which calls run: of the newest block by default, with nothing else than that block has. */
export interface SimulatedState {
  readonly blockNumber?: bigint
  readonly overrides?: StateOverrides
}

interface SimulatedCallResult {
  readonly status: Hex
  readonly returnData?: Hex
  readonly error?: { readonly data?: Hex }
}

interface StateCalls {
  readonly stateOverrides?: StateOverrides
  readonly calls: readonly SequencedCall[]
}

/** viem's types lack the method. */
interface SimulateSchema {
  readonly Parameters: [{ readonly blockStateCalls: readonly StateCalls[] }, Hex | 'latest']
  readonly ReturnType: unknown
}

/** Throws OddAnswer for anything but blocks of calls. */
function callsOf(answer: unknown): readonly SimulatedCallResult[] {
  const isOf = (value: unknown): boolean => typeof value === 'object' && value !== null
  const blocks = Array.isArray(answer) ? (answer as readonly unknown[]) : []
  const calls = blocks.flatMap((block) =>
    isOf(block) ? (block as { calls?: unknown }).calls : block,
  )
  if (!Array.isArray(answer) || !calls.every(isOf)) throw new OddAnswer('no blocks of calls')
  return calls as readonly SimulatedCallResult[]
}

function resultOf({ status, returnData = '0x', error }: SimulatedCallResult): SequencedResult {
  if (status === '0x1') return { kind: 'passes', answer: hexOf(returnData, 'a simulated call') }
  return { kind: 'reverts', revert: revertName(error?.data ?? returnData) }
}

/**
 * Runs calls one after the other, whether one before reverts or not; a result for each, in their order. Undefined from a
 * node that lacks the method or refuses the overrides. Rejects with ChainUnreachable.
 */
export async function simulateCalls(
  client: ChainClient,
  calls: readonly SequencedCall[],
  { blockNumber, overrides }: SimulatedState = {},
): Promise<readonly SequencedResult[] | undefined> {
  try {
    const at = blockNumber === undefined ? 'latest' : numberToHex(blockNumber)
    const state = { ...(overrides && { stateOverrides: overrides }), calls }
    const blocks = await client.request<SimulateSchema>({
      method: 'eth_simulateV1',
      params: [{ blockStateCalls: [state] }, at],
    })
    return callsOf(blocks).map(resultOf)
  } catch (error) {
    // The node answered that it cannot do this, so it is reachable.
    if (rpcErrorOf(error) !== undefined) return undefined
    throw unreachable('simulation of calls in a row', error)
  }
}

/** Simulates calls one after the other on the newest block; rejects with ChainUnreachable. */
export async function simulateSequence(
  client: ChainClient,
  calls: readonly SequencedCall[],
): Promise<SequenceSimulation> {
  const results = await simulateCalls(client, calls)
  if (results === undefined) return { kind: 'unsupported' }
  const position = results.findIndex(({ kind }) => kind === 'reverts')
  const failed = results[position]
  if (failed?.kind !== 'reverts') return { kind: 'passes' }
  return { kind: 'reverts', position, revert: failed.revert }
}

/** What the batch executor says about one match. `untried`: too little gas was left to call it. */
export type BatchOutcome =
  | { readonly kind: 'success'; readonly gasUsed: bigint }
  | { readonly kind: 'reverted'; readonly revert: string }
  | { readonly kind: 'untried' }

const MATCH_TRIED = toEventSelector(getAbiItem({ abi: batchExecutorAbi, name: 'MatchTried' }))
const MATCH_TRIED_DATA = parseAbiParameters('uint8 outcome, uint256 gasUsed, bytes revertData')

/** As the contract numbers its outcomes. */
const SUCCESS = 0
const REVERTED = 1
const RAN_OUT = 2

function outcomeOf(outcome: number, gasUsed: bigint, revertData: Hex): BatchOutcome {
  if (outcome === SUCCESS) return { kind: 'success', gasUsed }
  if (outcome === RAN_OUT) return { kind: 'reverted', revert: OUT_OF_GAS }
  if (outcome !== REVERTED) return { kind: 'untried' }
  return { kind: 'reverted', revert: revertName(revertData) }
}

/** The return value of tryAll, by position; throws for any other data. */
export function decodeBatchAnswer(data: Hex): BatchOutcome[] {
  const results = decodeFunctionResult({ abi: batchExecutorAbi, functionName: 'tryAll', data })
  return results.map(({ outcome, gasUsed, revertData }) => outcomeOf(outcome, gasUsed, revertData))
}

/** The outcomes in the logs of a mined batch, in the order of its matches. */
export function readBatchLogs(logs: readonly ReceiptLog[], batchExecutor: Address): BatchOutcome[] {
  return logs.flatMap(({ address, topics, data }) => {
    if (address.toLowerCase() !== batchExecutor || topics[0] !== MATCH_TRIED) return []
    return [outcomeOf(...decodeAbiParameters(MATCH_TRIED_DATA, data))]
  })
}

/** What a match of a mined batch used; `key` is the fingerprint of its call. */
export interface MatchGas {
  readonly key: Hex
  readonly gasUsed: bigint
}

/** What each match used, by the logs of a mined batch, in the order of its matches; 0 for one that was not tried. */
export function gasOfBatch(logs: readonly ReceiptLog[], batchExecutor: Address): MatchGas[] {
  return logs.flatMap(({ address, topics: [topic, key], data }) => {
    if (address.toLowerCase() !== batchExecutor || topic !== MATCH_TRIED) return []
    const [, gasUsed] = decodeAbiParameters(MATCH_TRIED_DATA, data)
    return key === undefined ? [] : [{ key, gasUsed }]
  })
}

/**
 * The outcomes of a batch's intents, which are in the order of its matches. An intent that was not tried counts as
 * reverted, with a name of its own. A transaction to another contract has one intent, which succeeds unless the
 * transaction reverts.
 */
export function outcomesOfBatch(batchExecutor: Address): OutcomesOf {
  return ({ to, logs }, intentIds) => {
    if (to?.toLowerCase() !== batchExecutor) return intentIds.map(() => ({ status: 'success' }))
    return readBatchLogs(logs, batchExecutor).map(intentOutcome)
  }
}

/** The event that a batch emits for each of its matches. */
export const eventOfBatch = (batchExecutor: Address): EventPerIntent => {
  return { address: batchExecutor, topic: MATCH_TRIED }
}

function intentOutcome(outcome: BatchOutcome): IntentOutcome {
  if (outcome.kind === 'success') return { status: 'success' }
  return { status: 'reverted', revert: outcome.kind === 'untried' ? NOT_TRIED : outcome.revert }
}

export interface SimulatedBatch {
  readonly from: Address
  readonly batchExecutor: Address
  /** The block on whose state it runs. */
  readonly blockHash: Hex
  /** Calls of verifyAndMatch, in their order. */
  readonly calls: readonly Hex[]
}

/** The gas that nodes commonly allow a call. The contract reports matches beyond it as not tried. */
const CALL_GAS = 50_000_000n
/** More than a match may use in a transaction of its own. */
const GAS_EACH = 16_000_000n

/**
 * Simulates the calls on the state of the block, each on what the calls before it leave; one outcome for each. Rejects
 * with ChainUnreachable when the node does not answer, or when the batch as a whole reverts, which says nothing about
 * its matches.
 */
export async function simulateBatch(
  client: ChainClient,
  { from, batchExecutor, blockHash, calls }: SimulatedBatch,
): Promise<BatchOutcome[]> {
  const data = encodeBatch(calls.map((call) => ({ call, gasLimit: GAS_EACH })))
  try {
    const call = { from, to: batchExecutor, data, gas: numberToHex(CALL_GAS) }
    const answer = await runPaid(client, 'eth_call', call, { blockHash })
    return decodeBatchAnswer(hexOf(answer, 'the answer of a batch'))
  } catch (error) {
    const revert = revertOf(error)
    const question = 'simulation of a batch'
    throw unreachable(revert === undefined ? question : `${question}: ${revert.name}`, error)
  }
}
