import { numberToHex } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { unreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import { decodeBatchAnswer, encodeBatch } from './encode-batch.js'
import type { BatchOutcome } from './encode-batch.js'
import { revertOf } from './revert-name.js'

export interface SimulatedBatch {
  readonly from: Address
  readonly batchExecutor: Address
  /** The state it runs on. */
  readonly blockHash: Hex
  /** Calls of verifyAndMatch, in their order. */
  readonly calls: readonly Hex[]
}

/** What nodes commonly allow a call; whatever finds no room in it is answered as not tried. */
const CALL_GAS = 50_000_000n
/** More than a match may take that has a transaction to itself. */
const GAS_EACH = 16_000_000n

/**
 * Tries the calls one after the other on the state of the block, each on what those before it left; one outcome for
 * each. Rejects with ChainUnreachable when there was no answer, or when the contract refuses the batch as a whole, which
 * says nothing about its matches.
 */
export async function simulateBatch(
  client: ChainClient,
  { from, batchExecutor, blockHash, calls }: SimulatedBatch,
): Promise<BatchOutcome[]> {
  const data = encodeBatch(calls.map((call) => ({ call, gasLimit: GAS_EACH })))
  try {
    const call = { from, to: batchExecutor, data, gas: numberToHex(CALL_GAS) }
    const answer = await client.request({ method: 'eth_call', params: [call, { blockHash }] })
    return decodeBatchAnswer(answer)
  } catch (error) {
    const revert = revertOf(error)
    const question = 'simulation of a batch'
    throw unreachable(revert === undefined ? question : `${question}: ${revert.name}`, error)
  }
}
